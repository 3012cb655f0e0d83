import { describe, expect, it } from 'vitest'
import { createClient } from '../../src/client/index.ts'
import { doing, restarting } from '../contracts/fixture/restarting.ts'
import { countOf, openGate } from '../contracts/run-host/scripted.ts'
import { eventually } from '../eventually.ts'
import { clientOf, cutting, failure } from './kit.ts'

const journalled = { kind: 'workflow', name: 'journalled' } as const
const apiKey = 'a-key-of-the-client'

/** A run that was cut off, and clients of the service that came after. */
async function cut(lost: Parameters<typeof cutting>[1] = () => 'never') {
  const { fetch, restart } = restarting({ runs: { keepInput: true } })
  const client = clientOf(cutting(request => fetch(request), lost))
  const at = crypto.randomUUID()
  const { input } = doing({ say: 'A' }, { step: 'one', count: at, gate: at, say: 'B' })
  const { id } = await createClient({ baseUrl: 'http://127.0.0.1/api', fetch }).runs.start(
    journalled,
    input,
    {
      apiKey,
    },
  )
  await eventually(() => expect(countOf(at)).toBe(1))
  restart()
  openGate(at)
  return { client, id, at }
}

describe('a run that was cut off', () => {
  it('goes on with a key', async () => {
    const { client, id, at } = await cut()
    expect(await client.runs.get(id)).toMatchObject({ status: 'failed', resumable: true })
    await expect(failure(client.runs.resume(id))).resolves.toMatchObject({ code: 'key_required' })
    const next = await client.runs.resume(id, { apiKey })
    expect(await next.result()).toMatchObject({ runId: next.id, text: 'AB' })
    const types = []
    for await (const { type } of next.stream()) types.push(type)
    expect(types.at(-1)).toBe('finish')
    expect(countOf(at)).toBe(2)
  })

  it('goes on once, though the answer was lost', async () => {
    let lost = 0
    const { client, id, at } = await cut(({ url }) =>
      url.endsWith('/resume') && lost++ < 2 ? 'answer' : 'never',
    )
    const { result } = await client.runs.resume(id, { apiKey })
    expect((await result()).text).toBe('AB')
    expect(lost).toBeGreaterThan(2)
    expect(countOf(at)).toBe(2)
  })

  it('runs again from the beginning, each time it is asked', async () => {
    const { client, id, at } = await cut()
    expect(await client.runs.get(id)).not.toHaveProperty('input')
    expect((await client.runs.get(id, { include: 'input' })).input).toEqual(expect.any(String))
    const [one, other] = [await client.runs.retry(id, { apiKey }), await client.runs.retry(id, { apiKey })]
    expect((await one.result()).text).toBe('AB')
    expect((await other.result()).text).toBe('AB')
    expect(one.id).not.toBe(other.id)
    expect(countOf(at)).toBe(3)
  })

  it('runs again once, though the answer was lost', async () => {
    let lost = 0
    const { client, id, at } = await cut(({ url }) =>
      url.endsWith('/retry') && lost++ < 2 ? 'answer' : 'never',
    )
    const { result } = await client.runs.retry(id, { apiKey })
    expect((await result()).text).toBe('AB')
    expect(lost).toBeGreaterThan(2)
    expect(countOf(at)).toBe(2)
  })
})
