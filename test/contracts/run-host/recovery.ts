import { expect, it } from 'vitest'
import { begin, ending, eventsIn, type Hosted, newKey, read, unique } from './kit.ts'

export function recoveryCases(hosted: Hosted): void {
  it('fails a run whose worker has died, and keeps the events that it had', async () => {
    const { host, restart } = hosted()
    const [owner, key] = [unique('owner'), newKey()]
    const acts = [{ say: 'one' }, { say: 'two' }, { gate: unique('never') }]
    const { id } = await begin(host, acts, { owner, key })
    const before = await host.follow(id, owner, 0)
    let seen = 0
    while (seen < 2) seen += (await before.next())?.length ?? 2
    const restarted = await restart(id)
    const record = await restarted.get(id, owner)
    expect(record).toMatchObject({ status: 'failed', error: { code: 'interrupted' } })
    expect(record).not.toHaveProperty('result')
    expect(eventsIn(await read(restarted, id, 0, owner))).toMatchObject([
      { type: 'text', text: 'one' },
      { type: 'text', text: 'two' },
      { type: 'error', code: 'interrupted' },
    ])
    expect((await restarted.list(owner, { limit: 10 })).runs).toMatchObject([{ id, status: 'failed' }])
    await expect(restarted.cancel(id, owner)).rejects.toMatchObject({ code: 'run_ended' })
    expect(await begin(restarted, acts, { owner, key })).toMatchObject({ id, status: 'failed' })
    before.leave()
  })

  it('is the first thing that a follower or one who waits sees', async () => {
    const { host, restart } = hosted()
    for (const look of ['follow', 'wait'] as const) {
      const { id } = await begin(host, [{ say: 'one' }, { gate: unique('never') }])
      const first = await host.follow(id, null, 0)
      await first.next()
      const restarted = await restart(id)
      if (look === 'wait') expect((await ending(restarted, id)).error?.code).toBe('interrupted')
      else expect(eventsIn(await read(restarted, id)).at(-1)).toMatchObject({ code: 'interrupted' })
      first.leave()
    }
  })

  it('leaves a run that has ended as it is', async () => {
    const { host, restart } = hosted()
    const { id } = await begin(host, [{ say: 'whole' }])
    const record = await ending(host, id)
    const log = await read(host, id)
    const restarted = await restart(id)
    expect(await restarted.get(id, null)).toEqual(record)
    expect(await read(restarted, id)).toEqual(log)
  })

  it('takes a dead run from those that count as running', async () => {
    const { host, restart } = hosted()
    const owner = unique('owner')
    const { id } = await begin(host, [{ gate: unique('never') }], { owner })
    const restarted = await restart(id)
    await restarted.get(id, owner)
    expect((await restarted.list(owner, { status: 'running', limit: 10 })).runs).toEqual([])
  })
}
