/** Runs that wait for a place. */
import { expect, it } from 'vitest'
import type { RunRecord } from '../../../src/index.ts'
import { eventually } from '../../eventually.ts'
import { messagesOf } from '../http/client.ts'
import {
  accept,
  as,
  ask,
  cancel,
  type Fields,
  get,
  isNoted,
  list,
  noted,
  openGate,
  own,
  post,
  type Server,
  streamRequest,
} from '../runs/client.ts'

/** A run with the gate that it waits at. */
interface Gated {
  readonly id: string
  readonly gate: string
  readonly record: RunRecord
  readonly owner: Fields
}

async function gated(server: Server, owner: Fields, more: object = {}): Promise<Gated> {
  const gate = own('gate')
  const record = await accept(server, 'agents/gated', { input: gate, ...more }, owner)
  return { id: record.id, gate, record, owner }
}

async function finish(server: Server, runs: readonly Gated[]): Promise<void> {
  for (const { gate } of runs) await openGate(server, gate)
  for (const { id, owner } of runs) {
    await eventually(async () => expect((await get(server, id, owner)).status).not.toMatch(/queued|running/))
  }
}

const statusOf = async (server: Server, { id, owner }: Gated) => (await get(server, id, owner)).status

export function waitingCases(server: Server): void {
  it('let runs wait past the bound of a client, and starts them in their order', async () => {
    const owner = as(own('owner'))
    const runs: Gated[] = []
    for (let count = 0; count < 4; count++) runs.push(await gated(server, owner))
    expect(runs.map(({ record }) => [record.status, record.position])).toEqual([
      ['running', undefined],
      ['running', undefined],
      ['queued', 1],
      ['queued', 2],
    ])
    const [first, , third, fourth] = runs
    await finish(server, [first!])
    await noted(server, `${third!.gate} started`)
    await eventually(async () => expect(await get(server, fourth!.id, owner)).toMatchObject({ position: 1 }))
    expect(await isNoted(server, `${fourth!.gate} started`)).toBe(false)
    await finish(server, runs)
    for (const run of runs) expect(await statusOf(server, run)).toBe('completed')
  })

  it('let clients take turns', async () => {
    const [one, other] = [as(own('owner')), as(own('owner'))]
    const busy: Gated[] = []
    for (const owner of [one, one, other, other]) busy.push(await gated(server, owner))
    const first = [await gated(server, one), await gated(server, one), await gated(server, one)]
    const second = await gated(server, other)
    // The first of each client is of one turn.
    expect(second.record.position).toBe(2)
    expect(await get(server, first[1]!.id, one)).toMatchObject({ status: 'queued', position: 3 })
    await finish(server, [...busy, ...first, second])
  })

  it('start those of a higher priority first', async () => {
    const [owner, urgent] = [as(own('owner')), as(own('urgent'))]
    const busy: Gated[] = []
    for (const who of [owner, owner, urgent, urgent]) busy.push(await gated(server, who))
    const waiting = await gated(server, owner)
    const first = await gated(server, urgent)
    expect(first.record).toMatchObject({ status: 'queued', position: 1 })
    expect(await get(server, waiting.id, owner)).toMatchObject({ position: 2 })
    await finish(server, [...busy, waiting, first])
  })

  it('are followed and waited for before they begin', async () => {
    const owner = as(own('owner'))
    const busy = [await gated(server, owner), await gated(server, owner)]
    const waiting = await gated(server, owner)
    const response = await streamRequest(server, waiting.id, owner)
    expect(response.status).toBe(200)
    const types: string[] = []
    const read = (async () => {
      for await (const { event } of messagesOf(response)) types.push(event.type)
    })()
    const page = JSON.parse((await ask(server, `/api/runs/${waiting.id}/events`, { headers: owner })).text)
    expect(page).toEqual({ events: [], next: 0, ended: false })
    await finish(server, [...busy, waiting])
    await read
    expect(types.at(-1)).toBe('finish')
    expect(types).toContain('text')
  })

  it('are listed', async () => {
    const owner = as(own('owner'))
    const busy = [await gated(server, owner), await gated(server, owner)]
    const waiting = await gated(server, owner, { sessionId: 's' })
    const all = await list(server, '', owner)
    expect(all.runs.map(({ status }) => status)).toEqual(['queued', 'running', 'running'])
    const queued = await list(server, '?status=queued', owner)
    expect(queued).toMatchObject({ runs: [{ id: waiting.id, sessionId: 's' }], nextCursor: null })
    expect((await list(server, '?status=queued&sessionId=t', owner)).runs).toEqual([])
    expect((await list(server, '?status=running', owner)).runs).toHaveLength(2)
    expect((await list(server, '?limit=1', owner)).runs).toHaveLength(1)
    expect((await list(server, '?status=queued', as(own('owner')))).runs).toEqual([])
    await finish(server, [...busy, waiting])
  })

  it('can be cancelled, and never begin', async () => {
    const owner = as(own('owner'))
    const busy = [await gated(server, owner), await gated(server, owner)]
    const [waiting, next] = [await gated(server, owner), await gated(server, owner)]
    expect(await cancel(server, waiting.id, as(own('owner')))).toMatchObject({ status: 404 })
    expect(await cancel(server, waiting.id, owner)).toMatchObject({ status: 200 })
    expect(await get(server, waiting.id, owner)).toMatchObject({ status: 'cancelled' })
    expect(await get(server, next.id, owner)).toMatchObject({ status: 'queued', position: 1 })
    expect(await cancel(server, waiting.id, owner)).toMatchObject({ status: 200 })
    await finish(server, [...busy, next])
    expect(await isNoted(server, `${waiting.gate} started`)).toBe(false)
  })

  it('are nobody else’s', async () => {
    const [owner, other] = [as(own('owner')), as(own('owner'))]
    const busy = [await gated(server, owner), await gated(server, owner)]
    const waiting = await gated(server, owner)
    for (const path of ['', '/stream', '/events'])
      expect((await ask(server, `/api/runs/${waiting.id}${path}`, { headers: other })).status).toBe(404)
    await finish(server, [...busy, waiting])
  })

  it('are found by their idempotency key, while they wait and after', async () => {
    const owner = as(own('owner'))
    const busy = [await gated(server, owner), await gated(server, owner)]
    const keyed = { ...owner, 'idempotency-key': own('key') }
    const gate = own('gate')
    const first = await accept(server, 'agents/gated', { input: gate }, keyed)
    expect(first.status).toBe('queued')
    expect(await accept(server, 'agents/gated', { input: gate }, keyed)).toMatchObject({ id: first.id })
    const prefer = { prefer: 'respond-async', ...keyed }
    expect((await post(server, '/api/agents/gated/run', { input: 'x' }, prefer)).status).toBe(422)
    await finish(server, [...busy, { id: first.id, gate, record: first, owner }])
    expect(await accept(server, 'agents/gated', { input: gate }, keyed)).toMatchObject({
      id: first.id,
      status: 'completed',
    })
  })

  it('do not begin again for the key of a run that has begun, while others wait', async () => {
    const owner = as(own('owner'))
    const keyed = { ...owner, 'idempotency-key': own('key') }
    const gate = own('gate')
    const record = await accept(server, 'agents/gated', { input: gate }, keyed)
    const begun: Gated = { id: record.id, gate, record, owner }
    const others = [await gated(server, owner), await gated(server, owner)]
    expect([record.status, others[1]?.record.status]).toEqual(['running', 'queued'])
    expect(await accept(server, 'agents/gated', { input: gate }, keyed)).toMatchObject({ id: begun.id })
    await finish(server, [begun, ...others])
    expect(await accept(server, 'agents/gated', { input: gate }, keyed)).toMatchObject({
      id: begun.id,
      status: 'completed',
    })
  })

  it('are refused past the bound of those that wait, and with a key of a model provider', async () => {
    const owner = as(own('owner'))
    const runs = []
    for (let count = 0; count < 7; count++) runs.push(await gated(server, owner))
    const prefer = { prefer: 'respond-async', ...owner }
    const start = (headers: Fields) => post(server, '/api/agents/gated/run', { input: 'x' }, headers)
    expect(await start(prefer)).toMatchObject({ status: 429, text: expect.stringContaining('too_many_runs') })
    const withKey = await start({ ...prefer, 'x-api-key': 'sk-secret-12345678' })
    expect(withKey).toMatchObject({ status: 429, text: expect.stringContaining('too_many_runs') })
    await finish(server, runs)
  })

  it('are deleted with their session, if they may be cancelled', async () => {
    const owner = as(own('owner'))
    const sessionId = own('session')
    await finish(server, [await gated(server, owner, { sessionId })])
    const busy = [await gated(server, owner), await gated(server, owner)]
    const waiting = await gated(server, owner, { sessionId })
    expect(waiting.record.status).toBe('queued')
    const path = `/api/agents/gated/sessions/${sessionId}`
    const remove = (query: string) => ask(server, `${path}${query}`, { method: 'DELETE', headers: owner })
    expect(await remove('')).toMatchObject({ status: 409, text: expect.stringContaining('session_busy') })
    expect(await remove('?running=cancel')).toMatchObject({ status: 204 })
    expect((await ask(server, `/api/runs/${waiting.id}`, { headers: owner })).status).toBe(404)
    await finish(server, busy)
    expect(await isNoted(server, `${waiting.gate} started`)).toBe(false)
  })

  it('leave their idempotency key to others once they are deleted, whether they have begun or not', async () => {
    const [owner, sessionId] = [as(own('owner')), own('session')]
    const keys = [own('key'), own('key')]
    const keyed = (at: number) => ({ ...owner, 'idempotency-key': keys[at] ?? '' })
    const start = (at: number, gate: string) =>
      accept(server, 'agents/gated', { input: gate, sessionId }, keyed(at))
    const gates = [own('gate'), own('gate')]
    const begun = await start(0, gates[0]!)
    const run = { id: begun.id, gate: gates[0]!, record: begun, owner }
    await finish(server, [run])
    expect(await start(0, gates[0]!)).toMatchObject({ id: begun.id })
    const busy = [await gated(server, owner), await gated(server, owner)]
    const waiting = await start(1, gates[1]!)
    expect(waiting.status).toBe('queued')
    const path = `/api/agents/gated/sessions/${sessionId}?running=cancel`
    expect((await ask(server, path, { method: 'DELETE', headers: owner })).status).toBe(204)
    await finish(server, busy)
    // The same body, and another one.
    const again = await start(0, gates[0]!)
    const other = await start(1, own('gate'))
    expect(again.id).not.toBe(begun.id)
    expect(other.id).not.toBe(waiting.id)
    expect((await ask(server, path, { method: 'DELETE', headers: owner })).status).toBe(204)
  })
}
