/** The default state in memory is bounded by bytes, whatever is kept in it. */

import { afterEach, describe, expect, it } from 'vitest'
import {
  Agent,
  createHandler,
  type HandlerOptions,
  type MemoryStateOptions,
  memoryState,
  platform,
} from '../../src/index.ts'
import { appendSession, readSession } from '../../src/runs/sessions/session-memory.ts'
import { SESSIONS } from '../../src/runs/sessions/session-record.ts'
import type { MemoryStore } from '../../src/stores/memory.ts'
import { jsonRequest, messagesOf } from '../contracts/http/client.ts'
import { eventually } from '../eventually.ts'
import { connect, settled } from '../protocols/event-socket/gateway/wire.ts'

const MIB = 1024 * 1024

/** Opens the gate of all that wait. */
let open = () => {}
let gate = Promise.resolve()
const shut = () => {
  gate = new Promise(resolve => {
    open = resolve
  })
}

const echo = new Agent({
  name: 'echo',
  register: false,
  async *run(input) {
    yield String(input)
  },
})

const waits = new Agent({
  name: 'waits',
  register: false,
  async *run() {
    yield 'begun '
    await gate
    yield 'done'
  },
})

/** Says so many pieces of 10,000 characters, a turn of the event loop apart. */
const talks = new Agent({
  name: 'talks',
  register: false,
  async *run(input) {
    for (let left = Number(input); left > 0; left--) {
      yield 'x'.repeat(10_000)
      await settled()
    }
  },
})

/** Ends with a result that is as large as the input says, in one piece. */
const makes = new Agent({
  name: 'makes',
  register: false,
  async *run(input) {
    yield ''
    return { structured: { text: 'x'.repeat(Number(input)) } }
  },
})

const asks = new Agent({
  name: 'asks',
  register: false,
  async *run() {
    yield 'What?'
    return { finishReason: 'input_required' as const }
  },
})

function make(options: HandlerOptions = {}, memory: MemoryStateOptions = { maxBytes: MIB }) {
  const state = memoryState(memory)
  const store = state.store as MemoryStore
  const handler = createHandler({
    registry: false,
    production: false,
    logger: false,
    agents: { echo, waits, talks, makes, asks },
    a2a: { default: 'echo' },
    gateway: true,
    state,
    runs: { store: 'asked' },
    ...options,
  })
  const ask = async (path: string, body?: unknown, headers: Record<string, string> = {}) => {
    const init = body === undefined ? {} : jsonRequest(body, headers)
    const response = await handler(new Request(`http://127.0.0.1${path}`, init))
    expect(store.usedBytes).toBeLessThanOrEqual(store.maxBytes)
    return response
  }
  const start = (agent: string, input: string, headers = {}) =>
    ask(`/api/agents/${agent}/run`, { input }, { prefer: 'respond-async', ...headers })
  const idOf = async (response: Response) => String((await response.json()).id)
  /** The record of a run once it has ended. */
  const ending = async (id: string) => {
    await eventually(async () => {
      expect((await (await ask(`/api/runs/${id}`)).json()).status).not.toBe('running')
    })
    return (await ask(`/api/runs/${id}`)).json()
  }
  const isKept = async (id: string) => (await ask(`/api/runs/${id}`)).status === 200
  const keptOf = async (ids: readonly string[]) => {
    const kept: string[] = []
    for (const id of ids) if (await isKept(id)) kept.push(id)
    return kept
  }
  const rpc = async (method: string, params: object) =>
    (await ask('/', { jsonrpc: '2.0', id: 1, method, params })).json()
  const send = (text: string, more: { agent?: string; taskId?: string; blocking?: boolean } = {}) =>
    rpc('message/send', {
      message: {
        kind: 'message',
        messageId: crypto.randomUUID(),
        role: 'user',
        parts: [{ kind: 'text', text }],
        ...(more.taskId !== undefined && { taskId: more.taskId }),
      },
      metadata: { agentName: more.agent },
      configuration: { blocking: more.blocking },
    })
  return { handler, store, ask, start, idOf, ending, isKept, keptOf, rpc, send }
}

afterEach(() => open())

const refusal = async (response: Response) => [
  response.status,
  (await response.json()).code,
  response.headers.get('retry-after'),
]
const REFUSED = [429, 'state_full', '1']
const ROOMLESS = {
  status: 'failed',
  error: { code: 'run_too_large', message: expect.stringContaining('too full') },
}

describe('runs in memory', () => {
  it('leave in the order in which they ended, once there is no room for all', async () => {
    const { start, idOf, keptOf, ending } = make()
    const ids: string[] = []
    for (let i = 0; i < 60; i++) {
      const response = await start('echo', `${i}`.padEnd(20_000, '.'))
      expect(response.status).toBe(202)
      ids.push(await idOf(response))
      await settled()
    }
    const kept = await keptOf(ids)
    expect(kept.length).toBeGreaterThan(5)
    expect(kept).toEqual(ids.slice(-kept.length))
    expect(await ending(kept.at(-1)!)).toMatchObject({
      status: 'completed',
      result: { text: expect.stringMatching(/^59\./) },
    })
  })

  it('that are at work stay with their inputs, and leave no room for others until they end', async () => {
    shut()
    const { start, idOf, ask, ending, keptOf } = make()
    const ids: string[] = []
    let response = await start('waits', '.'.repeat(100_000))
    while (response.status === 202) {
      ids.push(await idOf(response))
      response = await start('waits', '.'.repeat(100_000))
    }
    expect(await refusal(response)).toEqual(REFUSED)
    expect(ids).toHaveLength(5)
    expect(await keptOf(ids)).toEqual(ids)
    expect((await ask('/api/health')).status).toBe(200)
    open()
    for (const id of ids) expect(await ending(id)).toMatchObject({ result: { text: 'begun done' } })
    expect((await start('waits', '.'.repeat(100_000))).status).toBe(202)
  })

  it('leave last where they have an idempotency key, which leaves with them', async () => {
    const { start, idOf, isKept, keptOf } = make()
    const keyed = async (key: string, input = key) => {
      const id = await idOf(await start('echo', input.padEnd(20_000, '.'), { 'idempotency-key': key }))
      await settled()
      return id
    }
    const plain = async () => {
      const id = await idOf(await start('echo', '.'.repeat(20_000)))
      await settled()
      return id
    }
    const first = [await keyed('a'), await keyed('b')]
    const others: string[] = []
    for (let i = 0; i < 30; i++) others.push(await plain())
    expect(await keptOf(first)).toEqual(first)
    expect(await isKept(others[0]!)).toBe(false)
    expect(await keyed('a')).toBe(first[0])
    // So many with a key that nothing else is left.
    const all = [...first]
    for (let i = 0; i < 40; i++) all.push(await keyed(`k${i}`))
    expect(await keptOf(others)).toEqual([])
    const kept = await keptOf(all)
    expect(kept).toEqual(all.slice(-kept.length))
    expect(await keyed('a', 'another body')).not.toBe(first[0])
  })

  it('fail where what they say outgrows all, and whoever follows hears of it', async () => {
    const { ask, start, idOf, ending } = make()
    const response = await ask('/api/agents/talks/stream', { input: '200', background: true })
    const id = response.headers.get('x-run-id') ?? ''
    const events: { type: string }[] = []
    for await (const { event } of messagesOf(response)) events.push(event as { type: string })
    expect(events.length).toBeGreaterThan(10)
    expect(events.at(-1)).toMatchObject({ type: 'error', code: 'run_too_large' })
    expect(await ending(id)).toMatchObject(ROOMLESS)
    const next = await idOf(await start('echo', 'x'))
    expect(await ending(next)).toMatchObject({ result: { text: 'x' } })
  })

  it('fail where their result is too large, and leave all others where they are', async () => {
    const { ask, start, idOf, ending, isKept } = make()
    const earlier = await idOf(await start('echo', 'x'))
    await settled()
    const answer = await ask(
      '/api/agents/makes/run',
      { input: '600000' },
      { 'idempotency-key': 'large', prefer: 'wait=1' },
    )
    expect([answer.status, (await answer.json()).code]).toEqual([500, 'run_too_large'])
    const large = await idOf(await start('makes', '600000'))
    expect(await ending(large)).toMatchObject(ROOMLESS)
    expect(await isKept(earlier)).toBe(true)
  })

  it('answer whoever waits for them, though there is hardly any room', async () => {
    const { ask } = make({}, { maxBytes: 65_536 })
    const answers = await Promise.all(
      Array.from({ length: 60 }, (_, i) =>
        ask(
          '/api/agents/echo/run',
          { input: `${i}`.padEnd(2000, '.') },
          { 'idempotency-key': `k${i}`, prefer: 'wait=1' },
        ),
      ),
    )
    const told = await Promise.all(answers.map(async answer => [answer.status, (await answer.json()).code]))
    const seen = new Set(told.map(String))
    expect(seen).toContain('200,')
    expect([...seen].filter(one => one !== '200,' && one !== '429,state_full')).toEqual([])
  })

  it('end the stream of one who has not read all of a run that leaves', async () => {
    const { ask, start } = make()
    const response = await ask('/api/agents/talks/stream', { input: '10', background: true })
    const id = response.headers.get('x-run-id') ?? ''
    const reader = response.body!.getReader()
    await reader.read()
    await eventually(async () =>
      expect((await (await ask(`/api/runs/${id}`)).json()).status).toBe('completed'),
    )
    while ((await ask(`/api/runs/${id}`)).status === 200) {
      await start('echo', '.'.repeat(50_000))
      await settled()
    }
    let chunks = 0
    while (!(await reader.read()).done) chunks++
    expect(chunks).toBeLessThan(100)
  })
})

describe('tasks in memory', () => {
  it('leave in the order in which they ended, once there is no room for all', async () => {
    const { send, rpc } = make()
    const ids: string[] = []
    for (let i = 0; i < 30; i++) {
      const { result } = await send(`${i}`.padEnd(40_000, '.'))
      expect(result.status.state).toBe('completed')
      ids.push(result.id)
    }
    const kept: string[] = []
    for (const id of ids) if ((await rpc('tasks/get', { id })).result !== undefined) kept.push(id)
    expect(kept.length).toBeGreaterThan(2)
    expect(kept).toEqual(ids.slice(-kept.length))
    expect((await rpc('tasks/get', { id: ids[0] })).error.code).toBe(-32001)
  })

  it('leave last where they wait for their client, and never for good keep out whoever comes', async () => {
    const { rpc, send } = make()
    const stateOf = async (id: string) => (await rpc('tasks/get', { id })).result?.status.state
    const waiting: string[] = []
    for (let i = 0; i < 4; i++) waiting.push((await send('.'.repeat(40_000), { agent: 'asks' })).result.id)
    for (let i = 0; i < 30; i++) expect((await send('.'.repeat(40_000))).error).toBeUndefined()
    for (const id of waiting) expect(await stateOf(id)).toBe('input-required')
    // Nothing else is left.
    const stranger: string[] = []
    for (let i = 0; i < 60; i++) stranger.push((await send('.'.repeat(40_000), { agent: 'asks' })).result.id)
    for (const id of waiting) expect(await stateOf(id)).toBeUndefined()
    expect(await stateOf(stranger.at(-1) ?? '')).toBe('input-required')
    expect((await send('.'.repeat(40_000))).result.status.state).toBe('completed')
  })

  it('that are at work stay, and a message for which there is no room is refused', async () => {
    shut()
    const { rpc, ask, send } = make({ a2a: { default: 'waits' } })
    const begin = () => send('.'.repeat(40_000), { blocking: false })
    const ids: string[] = []
    let answer = await begin()
    while (answer.error === undefined) {
      ids.push(answer.result.id)
      answer = await begin()
    }
    expect(answer.error).toMatchObject({ code: -32000, message: expect.stringContaining('is full') })
    expect(ids.length).toBeGreaterThan(5)
    for (const id of ids) expect((await rpc('tasks/get', { id })).result.status.state).toBe('working')
    const rest = await ask('/message:send', {
      message: { messageId: 'm', role: 'ROLE_USER', parts: [{ text: '.'.repeat(40_000) }] },
    })
    expect([rest.status, rest.headers.get('retry-after')]).toEqual([429, '1'])
    expect((await rest.json()).error.status).toBe('RESOURCE_EXHAUSTED')
    await rpc('tasks/cancel', { id: ids[0] })
    expect((await send('.'.repeat(10_000), { blocking: false })).error).toBeUndefined()
  })

  it('fail where what their agent says outgrows all', async () => {
    const { send } = make({ a2a: { default: 'talks' } })
    const { result } = await send('200')
    expect(result.status).toMatchObject({
      state: 'failed',
      message: { parts: [{ text: expect.stringContaining('too full') }] },
    })
  })

  it('end as well where the name of their context is as long as it may be', async () => {
    const { rpc } = make({ a2a: { default: 'talks' } })
    const message = {
      kind: 'message',
      messageId: 'm',
      role: 'user',
      // As JSON each of these is six characters.
      contextId: '\u0001'.repeat(1000),
      parts: [{ kind: 'text', text: '200' }],
    }
    const { result } = await rpc('message/send', { message })
    expect(result.status.state).toBe('failed')
  })
})

describe('what else is kept in memory', () => {
  it('tells a client of the event socket that there is no room', async () => {
    shut()
    const { handler, start } = make()
    while ((await start('waits', '.'.repeat(100_000))).status === 202);
    const wire = await connect(handler)
    wire.says(JSON.stringify({ event: 'connect', data: {} }))
    await eventually(() => expect(wire.got.join()).toContain('sid'))
    const data = { name: 'waits', input: '.'.repeat(100_000), background: true }
    wire.says(JSON.stringify({ event: 'agent.run', data }))
    await eventually(() => expect(wire.got.join()).toContain('state_full'))
    wire.close()
  })

  it('is sessions, of which those leave that were written longest ago', async () => {
    const { store } = make()
    const settings = {
      maxSessions: 1000,
      maxSessionMessages: 200,
      maxSessionLength: 65_536,
      sessionRetentionMs: 1_000_000,
      maxTurns: 1000,
      maxLength: 65_536,
      concurrency: 'queue' as const,
      compacts: false,
    }
    const keyOf = (n: number) => ({ owner: `o${n}`, place: ['p'], sessionId: 's' })
    const write = (n: number) =>
      store.transact(tx => appendSession(tx, keyOf(n), { messages: ['.'.repeat(50_000)] }, settings))
    const read = (n: number) => store.transact(tx => readSession(tx, keyOf(n), {}, settings).messages.length)
    for (let n = 0; n < 30; n++) write(n)
    const kept = store.transact(tx => tx.count(SESSIONS))
    expect(kept).toBeGreaterThan(5)
    expect(kept).toBeLessThan(30)
    write(30 - kept)
    for (let n = 30; n < 29 + kept; n++) write(n)
    expect(read(30 - kept)).toBeGreaterThan(0)
    expect(read(31 - kept)).toBe(0)
  })

  it('is windows of clients, of which there may be as many as come', async () => {
    const { handler, store } = make({ rateLimit: { shared: true, max: 5 } }, { maxBytes: 65_536 })
    for (let client = 0; client < 500; client++) {
      const ip = `10.0.${client >> 8}.${client & 255}`
      const { status } = await handler(new Request('http://127.0.0.1/none'), platform({ ip }))
      expect(status).toBe(404)
    }
    expect(store.usedBytes).toBeLessThanOrEqual(65_536)
  })
})

describe('memoryState', () => {
  it('has 256 MiB, and 48 where requests are served by isolates', async () => {
    const { handler, store } = make({}, {})
    expect(store.maxBytes).toBe(256 * MIB)
    await handler(new Request('http://127.0.0.1/api/health'), platform({ isIsolated: true }))
    expect(store.maxBytes).toBe(48 * MIB)
  })

  it('keeps to what it was told', async () => {
    const { handler, store } = make({}, { maxBytes: 64 * MIB })
    await handler(new Request('http://127.0.0.1/api/health'), platform({ isIsolated: true }))
    expect(store.maxBytes).toBe(64 * MIB)
  })

  it.each([
    [{ maxBytes: 0 }, '`maxBytes` must be a whole number, 65536 or more'],
    [{ maxBytes: 1e6 + 0.5 }, '`maxBytes` must be'],
    [{ maxBytes: '1 GB' }, '`maxBytes` must be'],
    [{ maxRuns: Number.NaN }, '`maxRuns` must be a number, 0 or more'],
    [{ maxRuns: '100' }, '`maxRuns` must be'],
    [{ maxAgeMs: -1 }, '`maxAgeMs` must be'],
    [{ maxByte: 1_000_000 }, '`maxByte` is not an option: use `maxRuns`, `maxAgeMs` and `maxBytes`'],
  ])('says what is wrong with its options: %j', (options, says) => {
    expect(() => memoryState(options as never)).toThrow(
      expect.objectContaining({ code: 'invalid_options', message: expect.stringContaining(says) }),
    )
  })
})
