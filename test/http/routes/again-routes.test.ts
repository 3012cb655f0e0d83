import { describe, expect, it } from 'vitest'
import type { RunEventPage } from '../../../src/client/index.ts'
import type { HandlerOptions, RunRecord } from '../../../src/index.ts'
import { doing, restarting } from '../../contracts/fixture/restarting.ts'
import { messagesOf } from '../../contracts/http/client.ts'
import { identify } from '../../contracts/identify.ts'
import { type JournalAct, journalledOf } from '../../contracts/run-host/journalled.ts'
import { countOf, openGate } from '../../contracts/run-host/scripted.ts'
import { eventually } from '../../eventually.ts'

const KEY = { 'x-api-key': 'a-key-of-the-client' }
const ADA = { 'x-test-user': 'ada' }
const BOB = { 'x-test-user': 'bob' }

type Fields = Readonly<Record<string, string>>

/** A service, and how its clients ask it. */
function open(keepInput = true, { runs = {}, ...more }: HandlerOptions = {}) {
  const { fetch, restart } = restarting({ middleware: [identify], runs: { keepInput, ...runs }, ...more })
  const ask = (method: string, path: string, headers: Fields = {}, body?: unknown, signal?: AbortSignal) =>
    fetch(
      new Request(`http://127.0.0.1/api/${path}`, {
        method,
        headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
        body: body === undefined ? null : JSON.stringify(body),
        signal: signal ?? null,
      }),
    )
  const post = (path: string, headers?: Fields, body?: unknown, signal?: AbortSignal) =>
    ask('POST', path, headers, body, signal)
  const record = async (id: string, headers: Fields = ADA): Promise<RunRecord> =>
    (await ask('GET', `runs/${id}`, headers)).json()
  const ended = async (id: string) => {
    await eventually(async () => expect((await record(id)).status).not.toBe('running'))
    return record(id)
  }
  const begin = async (headers: Fields, ...acts: JournalAct[]) => {
    const started = await post(
      'workflows/journalled/run',
      { prefer: 'respond-async', ...headers },
      doing(...acts),
    )
    expect(started.status).toBe(202)
    return ((await started.json()) as RunRecord).id
  }
  /** Starts a run that is cut off in its second step. */
  const cut = async (headers: Fields = { ...ADA, ...KEY }, ...more: JournalAct[]) => {
    const [done, at] = [crypto.randomUUID(), crypto.randomUUID()]
    const id = await begin(
      headers,
      { step: 'one', count: done, say: 'A' },
      { step: 'two', count: at, gate: at, say: 'B' },
      ...more,
    )
    await eventually(() => expect(countOf(at)).toBe(1))
    restart()
    openGate(at)
    return { id, done, at }
  }
  return { ask, post, record, ended, begin, cut, restart }
}

/** Status and code of a problem. */
async function problem(response: Response): Promise<readonly [number, string]> {
  return [response.status, (await response.json()).code]
}

describe('POST /runs/:id/resume', () => {
  it('lets a run go on that used a key of its client, where that is given again', async () => {
    const { post, record, cut } = open()
    const { id, done, at } = await cut()
    expect(await record(id)).toMatchObject({
      ...{ status: 'failed', error: { code: 'interrupted' }, resumable: true },
    })
    expect(await problem(await post(`runs/${id}/resume`, ADA))).toEqual([400, 'key_required'])
    const answer = await post(`runs/${id}/resume`, { ...ADA, ...KEY })
    expect(answer.status).toBe(200)
    const { runId, text } = await answer.json()
    expect(text).toBe('AB')
    expect(runId).not.toBe(id)
    expect([countOf(done), countOf(at)]).toEqual([1, 2])
    expect(await record(id)).toMatchObject({ status: 'failed', continuedBy: runId })
    expect(await record(runId)).toMatchObject({ status: 'completed', continuedFrom: id })
  })

  it('takes the key in its body, and finds the same run when it is asked again, in each form', async () => {
    const { post, ended, cut } = open()
    const { id, at } = await cut()
    const path = `runs/${id}/resume`
    const begun = await post(path, { ...ADA, prefer: 'respond-async' }, { apiKey: KEY['x-api-key'] })
    expect(begun.status).toBe(202)
    const { id: next } = (await begun.json()) as RunRecord
    expect(begun.headers.get('location')).toContain(next)
    expect(await ended(next)).toMatchObject({ status: 'completed', result: { text: 'AB' } })
    const events = []
    const stream = await post(path, { ...ADA, ...KEY, accept: 'text/event-stream' })
    expect(stream.headers.get('x-run-id')).toBe(next)
    for await (const { event } of messagesOf(stream)) events.push(event.type)
    expect(events.at(-1)).toBe('finish')
    expect(await (await post(path, { ...ADA, ...KEY })).json()).toMatchObject({ runId: next, text: 'AB' })
    expect(countOf(at)).toBe(2)
  })

  it('goes on though whoever asked for it leaves', async () => {
    const { post, record, cut, ended } = open()
    const [at, gate] = [crypto.randomUUID(), crypto.randomUUID()]
    const { id } = await cut({ ...ADA, ...KEY }, { step: 'three', count: at, gate })
    const leaving = new AbortController()
    const asked = post(`runs/${id}/resume`, { ...ADA, ...KEY }, undefined, leaving.signal)
    await eventually(() => expect(countOf(at)).toBe(1))
    leaving.abort()
    await asked.catch(() => {})
    openGate(gate)
    const { continuedBy = '' } = await record(id)
    expect(await ended(continuedBy)).toMatchObject({ status: 'completed', result: { text: 'AB' } })
  })

  it('is for nobody else, and for no run that ended by itself', async () => {
    const { post, begin, ended, cut } = open()
    const { id } = await cut()
    for (const headers of [KEY, { ...BOB, ...KEY }])
      expect(await problem(await post(`runs/${id}/resume`, headers))).toEqual([404, 'run_not_found'])
    const other = await begin(ADA, { say: 'a' })
    await ended(other)
    expect(await problem(await post(`runs/${other}/resume`, ADA))).toEqual([409, 'not_resumable'])
  })
})

describe('POST /runs/:id/retry', () => {
  it('runs the input again, as JSON, as a stream and in the background', async () => {
    const { post, begin, ended } = open()
    const count = crypto.randomUUID()
    const id = await begin(ADA, { step: 'one', count, say: 'A' })
    await ended(id)
    const path = `runs/${id}/retry`
    const result = await (await post(path, ADA)).json()
    expect(result).toMatchObject({ text: 'A' })
    expect(result.runId).not.toBe(id)
    const stream = await post(path, { ...ADA, accept: 'text/event-stream' })
    const types = []
    for await (const { event } of messagesOf(stream)) types.push(event.type)
    expect(types).toContain('text')
    const begun = await post(path, { ...ADA, prefer: 'respond-async' })
    expect(begun.status).toBe(202)
    const { id: third } = (await begun.json()) as RunRecord
    expect(await ended(third)).toMatchObject({ status: 'completed', result: { text: 'A' } })
    expect(countOf(count)).toBe(4)
  })

  it('runs once for one key, and not without the key of its client', async () => {
    const { post, cut, begin, ended } = open()
    const id = await begin(ADA, { say: 'a' })
    await ended(id)
    const retry = async () => (await post(`runs/${id}/retry`, { ...ADA, 'idempotency-key': 'k' })).json()
    expect((await retry()).runId).toBe((await retry()).runId)
    const other = await cut()
    expect(await problem(await post(`runs/${other.id}/retry`, ADA))).toEqual([400, 'key_required'])
  })

  it('runs one again that was cut off, from the beginning', async () => {
    const { post, cut } = open()
    const { id, done } = await cut()
    expect(await (await post(`runs/${id}/retry`, { ...ADA, ...KEY })).json()).toMatchObject({ text: 'AB' })
    expect(countOf(done)).toBe(2)
  })

  it('is for nobody else, and needs an input that is kept', async () => {
    const kept = open()
    const id = await kept.begin(ADA, { say: 'a' })
    await kept.ended(id)
    expect(await problem(await kept.post(`runs/${id}/retry`, BOB))).toEqual([404, 'run_not_found'])
    const { post, begin, ended } = open(false)
    const other = await begin(ADA, { say: 'a' })
    await ended(other)
    expect(await problem(await post(`runs/${other}/retry`, ADA))).toEqual([409, 'input_not_kept'])
    expect(await problem(await post(`runs/${other}/retry`, BOB))).toEqual([404, 'run_not_found'])
  })
})

describe('POST /runs/:id/retry with changes', () => {
  it('runs another input, in the same session, in another one or in none', async () => {
    const { post, begin, ended } = open()
    const id = await begin({ ...ADA, 'x-session': 's' }, { say: 'a' })
    await ended(id)
    const again = async (body: object) => {
      const { runId } = await (await post(`runs/${id}/retry`, ADA, body)).json()
      return ended(runId)
    }
    const first = await again({ ...doing({ say: 'b' }), sessionId: 'one' })
    expect(first).toMatchObject({ retryOf: id, sessionId: 'one', result: { text: 'b' } })
    const second = await (await post(`runs/${first.id}/retry`, ADA, {})).json()
    expect(await ended(second.runId)).toMatchObject({ retryOf: first.id, sessionId: 'one' })
    const third = await (await post(`runs/${first.id}/retry`, ADA, { sessionId: null })).json()
    expect(await ended(third.runId)).not.toHaveProperty('sessionId')
    expect(await again({})).toMatchObject({ result: { text: 'a' } })
  })

  it('is another request of the same key', async () => {
    const { post, begin, ended } = open()
    const id = await begin(ADA, { say: 'a' })
    await ended(id)
    const retry = (body: object) => post(`runs/${id}/retry`, { ...ADA, 'idempotency-key': 'k' }, body)
    expect((await retry({ sessionId: null })).status).toBe(200)
    expect(await problem(await retry({ sessionId: 's' }))).toEqual([422, 'idempotency_mismatch'])
    expect(await problem(await retry(doing({ say: 'b' })))).toEqual([422, 'idempotency_mismatch'])
  })
})

describe('POST /runs/:id/retry from a step', () => {
  const journalling = { runs: { keepJournal: true } }
  const three = () => {
    const counts = [crypto.randomUUID(), crypto.randomUUID(), crypto.randomUUID()]
    const [one, two, last] = counts as [string, string, string]
    const acts: JournalAct[] = [
      { say: '1' },
      { step: 'one', count: one, say: 'A' },
      { step: 'two', count: two, say: 'B' },
      { say: '2' },
      { step: 'three', count: last, say: 'C' },
    ]
    return { acts, times: () => counts.map(countOf) }
  }

  it('has what was done until its end, says it again, and does the rest', async () => {
    const { post, begin, ended } = open(true, journalling)
    const { acts, times } = three()
    const id = await begin(ADA, ...acts)
    expect(await ended(id)).toMatchObject({ result: { text: '1AB2C' } })
    const { runId, text } = await (await post(`runs/${id}/retry`, ADA, { from: 'two' })).json()
    expect(text).toBe('1AB2C')
    expect(times()).toEqual([1, 1, 2])
    const record = await ended(runId)
    expect(record).toMatchObject({ status: 'completed', retryOf: id })
    expect(record).not.toHaveProperty('continuedFrom')
    expect(await (await post(`runs/${id}/retry`, ADA, { from: 'one' })).json()).toMatchObject({ text })
    expect(times()).toEqual([1, 2, 3])
    // Such a run has its own record of what it did, after what it took over.
    await post(`runs/${runId}/retry`, ADA, { from: 'three' })
    expect(times()).toEqual([1, 2, 3])
    expect(await problem(await post(`runs/${runId}/retry`, ADA, { from: 'one' }))).toEqual([
      400,
      'invalid_body',
    ])
  })

  it('goes on before the step that failed', async () => {
    const { post, begin, ended } = open(true, journalling)
    const [done, fails] = [crypto.randomUUID(), crypto.randomUUID()]
    const acts: JournalAct[] = [
      { step: 'one', count: done, say: 'A' },
      { step: 'two', fails: { times: 1, count: fails }, say: 'B' },
    ]
    const id = await begin(ADA, ...acts)
    expect(await ended(id)).toMatchObject({ status: 'failed' })
    expect(await problem(await post(`runs/${id}/retry`, ADA, { from: 'two' }))).toEqual([400, 'invalid_body'])
    expect(await (await post(`runs/${id}/retry`, ADA, { from: 'one' })).json()).toMatchObject({ text: 'AB' })
    expect(countOf(done)).toBe(1)
  })

  it('goes on inside of an agent that was called', async () => {
    const { ask, post, begin, ended } = open(true, journalling)
    const { acts, times } = three()
    const id = await begin(ADA, { say: 'x' }, { call: acts })
    await ended(id)
    const { events }: RunEventPage = await (await ask('GET', `runs/${id}/events`, ADA)).json()
    const [two] = events.flatMap(({ event }) =>
      event.type === 'step' && event.name === 'two' ? [event.id] : [],
    )
    expect(await (await post(`runs/${id}/retry`, ADA, { from: two })).json()).toMatchObject({
      text: 'x1AB2C<1AB2C>',
    })
    expect(times()).toEqual([1, 1, 2])
  })

  it('goes on again if its process dies', async () => {
    const { post, begin, ended, restart } = open(true, journalling)
    const [done, at, gate] = [crypto.randomUUID(), crypto.randomUUID(), crypto.randomUUID()]
    const id = await begin(
      ADA,
      { step: 'one', count: done, say: 'A' },
      { step: 'two', say: 'B' },
      { step: 'three', count: at, gate, say: 'C' },
    )
    openGate(gate)
    await ended(id)
    const begun = await post(`runs/${id}/retry`, { ...ADA, prefer: 'respond-async' }, { from: 'one' })
    const next = ((await begun.json()) as RunRecord).id
    await eventually(() => expect(countOf(at)).toBe(2))
    restart()
    expect(await ended(next)).toMatchObject({ status: 'completed', result: { text: 'ABC' } })
    expect(countOf(done)).toBe(1)
  })

  it('is refused for what is not recorded, not kept, of another owner or of other code', async () => {
    const { post, begin, ended, restart } = open(true, journalling)
    const id = await begin(ADA, { step: 'one', say: 'A' })
    await ended(id)
    const refused = async (body: object, headers: Fields = ADA) =>
      problem(await post(`runs/${id}/retry`, headers, body))
    for (const from of ['two', 'on', '', 'x'.repeat(2001), 1, null, ['one']])
      expect(await refused({ from })).toEqual([400, 'invalid_body'])
    expect(await refused({ from: 'one', ...doing({ say: 'b' }) })).toEqual([400, 'invalid_body'])
    expect(await refused({ from: 'one' }, BOB)).toEqual([404, 'run_not_found'])
    restart({ workflows: { journalled: journalledOf({ version: '2' }) } })
    expect(await refused({ from: 'one' })).toEqual([409, 'not_resumable'])
    const other = open()
    const unkept = await other.begin(ADA, { step: 'one', say: 'A' })
    await other.ended(unkept)
    expect(await problem(await other.post(`runs/${unkept}/retry`, ADA, { from: 'one' }))).toEqual([
      409,
      'not_resumable',
    ])
  })
})

describe.each(['resume', 'retry'])('the body of %s', verb => {
  it.each([
    [400, 'invalid_body', []],
    [400, 'invalid_body', 'text'],
    [400, 'invalid_body', { apiKey: 1 }],
    [400, 'invalid_body', { background: 'yes' }],
  ])('is refused with %s %s: %j', async (status, code, body) => {
    const { post } = open()
    const answer = await post(`runs/${crypto.randomUUID()}/${verb}`, {}, body)
    expect(await problem(answer)).toEqual([status, code])
  })

  it('must be JSON', async () => {
    const { post } = open()
    const answer = await post(`runs/${crypto.randomUUID()}/${verb}`, { 'content-type': 'text/plain' }, {})
    expect(await problem(answer)).toEqual([415, 'unsupported_media_type'])
  })
})
