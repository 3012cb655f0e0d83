/** Keys of several processes that share a store. */
import { expect, it, onTestFinished } from 'vitest'
import { eventually } from '../../eventually.ts'
import type { Runtime } from '../../runtimes/harness.ts'
import { change, issue, managed, revoke, rotate, run, short } from './client.ts'

const REFUSED = '401 unauthorized'

/** `open` starts one more process on a store, or on a new one. */
export function processCases(open: () => Promise<(settings: string) => Promise<Runtime>>): void {
  const neighbours = async () => {
    const start = await open()
    return async (settings = 'forgetful') => {
      const runtime = await start(settings)
      onTestFinished(async () => void (await runtime.stop()))
      return { server: () => ({ ...runtime, folder: undefined }), kill: runtime.kill }
    }
  }

  it('refuse what one of them has revoked or rotated, once they have forgotten it', async () => {
    const moveIn = await neighbours()
    const [one, two] = [await moveIn(), await moveIn()]
    const [first, second] = [await issue(one.server), await issue(two.server)]
    for (const { key } of [first, second]) {
      expect(short(await run(one.server, key))).toBe('200')
      expect(short(await run(two.server, key))).toBe('200')
    }
    await revoke(one.server, first)
    const rotated = await rotate(one.server, second)
    await eventually(async () => expect(short(await run(two.server, first.key))).toBe(REFUSED))
    await eventually(async () => expect(short(await run(two.server, second.key))).toBe(REFUSED))
    expect(short(await run(two.server, rotated.key))).toBe('200')
    await change(two.server, rotated, { scopes: ['read'] })
    await eventually(async () =>
      expect(short(await run(one.server, rotated.key))).toBe('403 insufficient_scope'),
    )
  })

  it('count rates together where they are to', async () => {
    const moveIn = await neighbours()
    const [one, two] = [await moveIn('shared'), await moveIn('shared')]
    const { key } = await issue(one.server, { rate: { max: 3, windowMs: 3_600_000 } })
    expect(short(await run(one.server, key))).toBe('200')
    const seen = new Set<string>()
    for (let count = 0; count < 4; count++) seen.add(short(await run(two.server, key)))
    expect(seen).toEqual(new Set(['200', '429 rate_limited']))
    await eventually(async () => expect(short(await run(one.server, key))).toBe('429 rate_limited'))
  })

  it('keep each key that was answered, or none of it, when they are killed', async () => {
    const moveIn = await neighbours()
    const doomed = await moveIn()
    const revoked = await issue(doomed.server)
    await revoke(doomed.server, revoked)
    const owner = revoked.owner
    const issued: string[] = []
    const begin = async () => {
      for (;;) issued.push((await issue(doomed.server, { owner })).key)
    }
    const busy = Promise.allSettled(Array.from({ length: 4 }, begin))
    await eventually(() => expect(issued.length).toBeGreaterThan(20))
    await doomed.kill()
    await busy
    const { server } = await moveIn()
    for (const key of issued) expect(short(await run(server, key))).toBe('200')
    expect(short(await run(server, revoked.key))).toBe(REFUSED)
    const { keys } = await managed<{ keys: object[] }>(server, 'GET', `?owner=${owner}&limit=100`)
    for (const key of keys) expect(key).toMatchObject({ owner, name: 'test', scopes: ['run'] })
  })
}
