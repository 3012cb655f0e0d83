/** Threads at their limits: long conversations, ids of any kind, and what a client is told once its run is stored. */
import { describe, expect, it } from 'vitest'
import { sessions } from '../../../src/features/sessions/plugin.ts'
import { Agent, createHandler, type HandlerOptions, memoryState, textOf } from '../../../src/index.ts'
import { langGraph } from '../../../src/protocols/langgraph-api/plugin.ts'
import { identify } from '../../contracts/identify.ts'
import { framesIn } from '../../contracts/langgraph-api.ts'

let runs = 0
const counts = new Agent({ name: 'counts', register: false, run: input => `${++runs}: ${textOf(input)}` })
/** Calls its tool by the same id each time. */
const calls = new Agent({
  name: 'calls',
  register: false,
  *run() {
    yield { type: 'tool_call_start', toolCall: { id: 'call', name: 'look' } }
    yield { type: 'tool_call_end', toolCallId: 'call', result: 'seen' }
    yield 'done'
  },
})

function serving(more: HandlerOptions = {}) {
  const handler = createHandler({
    ...{ serve: [counts, calls], state: memoryState(), middleware: [identify] },
    ...{ plugins: [sessions(), langGraph()], logger: false, ...more },
  })
  return async (method: string, path: string, body?: unknown, user = 'ann') => {
    const headers = { 'content-type': 'application/json', 'x-test-user': user }
    const init = { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) }
    const response = await handler(new Request(`http://langgraph.test/langgraph${path}`, init))
    const text = await response.text()
    // biome-ignore lint/suspicious/noExplicitAny: each test knows what it has asked for
    const json: any = response.headers.get('content-type')?.includes('json') ? JSON.parse(text) : undefined
    return { status: response.status, text, json }
  }
}

const thread = () => crypto.randomUUID()

describe('a thread', () => {
  it('grows by what is new, however many messages are sent again', async () => {
    const ask = serving()
    const id = thread()
    const old = Array.from({ length: 1000 }, (_, at) => ({
      role: at % 2 ? 'assistant' : 'user',
      content: `${at}`,
    }))
    let messages: object[] = [...old, { role: 'user', content: 'new', id: 'n0' }]
    const lengths: number[] = []
    for (let turn = 1; turn <= 5; turn++) {
      const run = { assistant_id: 'counts', if_not_exists: 'create', input: { messages } }
      const { json } = await ask('POST', `/threads/${id}/runs/wait`, run)
      lengths.push(json.messages.length)
      messages = [...json.messages, { role: 'user', content: 'new', id: `n${turn}` }]
    }
    const [first = 0] = lengths
    // The newest hundred turns of the conversation from elsewhere, and two messages for each run.
    expect(lengths).toEqual([202, 204, 206, 208, 210].map(length => length - 202 + first))
    expect(first).toBe(202)
  })

  it('has all calls, though those of each turn have the same ids', async () => {
    const ask = serving()
    const id = thread()
    for (const turn of [1, 2]) {
      const run = { assistant_id: 'calls', if_not_exists: 'create', input: { messages: `${turn}` } }
      const { json } = await ask('POST', `/threads/${id}/runs/wait`, run)
      expect(json.messages).toHaveLength(4 * turn)
      const { json: state } = await ask('GET', `/threads/${id}/state`)
      expect(state.values.messages).toEqual(json.messages)
    }
  })

  it('with many turns answers with a part of its history', async () => {
    const ask = serving()
    const id = thread()
    await ask('POST', '/threads', { thread_id: id, metadata: { graph_id: 'counts' } })
    const said = Array.from({ length: 400 }, (_, at) => ({ role: at % 2 ? 'ai' : 'human', content: `${at}` }))
    expect((await ask('POST', `/threads/${id}/state`, { values: { messages: said } })).status).toBe(200)
    const seen: string[] = []
    for (let before: string | undefined; ; ) {
      const { json } = await ask('POST', `/threads/${id}/history`, { limit: 1000, before })
      if (json.length === 0) break
      const sent = json.reduce(
        (sum: number, state: { values: { messages: object[] } }) => sum + state.values.messages.length,
        0,
      )
      expect(sent).toBeLessThan(21_000)
      seen.push(
        ...json.map((state: { checkpoint: { checkpoint_id: string } }) => state.checkpoint.checkpoint_id),
      )
      before = seen.at(-1)
    }
    expect(new Set(seen).size).toBe(401)
    expect(seen).toHaveLength(401)
  })

  it.each([
    'x',
    '00000000-0000-0000-0000-00000000000',
    '{00000000-0000-4000-8000-000000000000}',
    'urn:uuid:00000000-0000-4000-8000-000000000000',
    '..',
    '%2e%2e%2fadmin',
    '__proto__',
    'ｆ0000000-0000-4000-8000-000000000000',
    'x'.repeat(500),
    '%00',
  ])('has no id such as %s', async id => {
    const ask = serving()
    for (const path of ['', '/state', `/runs/${id}`, '/runs/x/stream']) {
      const { status } = await ask('GET', `/threads/${encodeURIComponent(id)}${path}`)
      expect([400, 404]).toContain(status)
    }
    expect((await ask('POST', '/threads', { thread_id: id })).status).toBe(400)
    const run = {
      assistant_id: 'counts',
      input: { messages: 'x' },
      checkpoint_id: id,
      if_not_exists: 'create',
    }
    expect((await ask('POST', `/threads/${thread()}/runs/wait`, run)).status).toBe(404)
    expect((await ask('POST', '/runs/wait', { ...run, assistant_id: id })).status).toBe(404)
  })

  it('has one id, in whatever case it is written', async () => {
    const ask = serving()
    const id = thread()
    await ask('POST', '/threads', { thread_id: id.toUpperCase() })
    expect((await ask('GET', `/threads/${id.toUpperCase()}`)).json.thread_id).toBe(id)
  })

  it('leaves nothing behind with its session, and with its owner', async () => {
    const state = memoryState()
    const handler = createHandler({
      ...{ serve: [counts], state, middleware: [identify], logger: false },
      plugins: [sessions(), langGraph()],
    })
    const send = (method: string, path: string, body?: object) =>
      handler(
        new Request(`http://langgraph.test${path}`, {
          ...{ method, headers: { 'content-type': 'application/json', 'x-test-user': 'ann' } },
          ...(body && { body: JSON.stringify(body) }),
        }),
      )
    const [one, other] = [thread(), thread()]
    for (const id of [one, other]) {
      const run = { assistant_id: 'counts', if_not_exists: 'create', input: { messages: 'x' } }
      await (await send('POST', `/langgraph/threads/${id}/runs/wait`, run)).text()
    }
    expect((await send('DELETE', `/api/agents/counts/sessions/${one}`)).status).toBe(204)
    expect((await send('GET', `/langgraph/threads/${one}`)).status).toBe(404)
    expect((await send('GET', `/langgraph/threads/${other}`)).status).toBe(200)
    expect((await send('DELETE', '/api/users/me')).status).toBe(204)
    expect((await send('GET', `/langgraph/threads/${other}`)).status).toBe(404)
  })
})

it('a run that nobody more can follow is told in a frame, and not as an error that clients try again', async () => {
  const gate = Promise.withResolvers<void>()
  const slow = new Agent({
    name: 'slow',
    register: false,
    async *run() {
      yield 'one'
      await gate.promise
    },
  })
  const ask = serving({ serve: [slow], runs: { maxFollowers: 1 } })
  const id = thread()
  const run = { assistant_id: 'slow', if_not_exists: 'create', input: { messages: 'x' } }
  const { json } = await ask('POST', `/threads/${id}/runs`, run)
  const first = ask('GET', `/threads/${id}/runs/${json.run_id}/stream`)
  const second = await ask('GET', `/threads/${id}/runs/${json.run_id}/stream`)
  expect(second.status).toBe(200)
  expect(framesIn(second.text).at(-1)).toMatchObject({
    event: 'error',
    data: { error: 'too_many_followers' },
  })
  gate.resolve()
  expect(framesIn((await first).text).at(-1)?.event).toBe('values')
})
