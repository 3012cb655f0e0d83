/** Clients that send what no client sends, much of it, and what is of others. */
import { describe, expect, it } from 'vitest'
import { Agent, bearerAuth, memoryState } from '../../../src/index.ts'
import { mcpTasks } from '../../../src/protocols/mcp/plugin.ts'
import { isHandle } from '../../../src/protocols/mcp/seal.ts'
import { speaker } from '../../support.ts'
import { type Json, messagesIn, SHOWS_FORMS, serve, TAKES_TASKS } from './calling.ts'

const echo = speaker('echo', 'hi')
const asks = new Agent({
  ...{ name: 'asks', register: false },
  async *run(_, { ask }) {
    yield `said ${yield* ask('q')}`
  },
})
const agents = { echo, asks }
const both = { ...SHOWS_FORMS, ...TAKES_TASKS }

describe('a client', () => {
  const served = serve(
    { tools: true, tasks: mcpTasks() },
    { agents, state: memoryState(), runs: { maxRunningPerOwner: 900 } },
  )

  it('that uses one id for many calls at once has an answer to each', async () => {
    const headers = { 'mcp-session-id': 'one' }
    const answers = await Promise.all(
      Array.from({ length: 200 }, () =>
        served.askLegacy('tools/call', { name: 'echo', arguments: { input: 'x' } }, { id: 1, headers }),
      ),
    )
    for (const { message } of answers)
      expect(message).toMatchObject({ id: 1, result: { content: [{ text: 'hi' }] } })
    const runs = answers.map(({ result }) => result._meta['servable/runId'])
    expect(new Set(runs).size).toBe(200)
  })

  it('that cancels thousands of calls that nobody made changes nothing', async () => {
    const cancel = (requestId: unknown) =>
      served.post(
        JSON.stringify({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId } }),
        {
          headers: { 'mcp-session-id': `s${requestId}` },
        },
      )
    const statuses = await Promise.all(
      Array.from({ length: 10_000 }, async (_, at) => (await cancel(at)).status),
    )
    expect(new Set(statuses)).toEqual(new Set([202]))
    expect((await served.call('echo')).result.content[0].text).toBe('hi')
  })

  it('that answers thousands of things that nobody asked is asked again', async () => {
    const inputResponses = Object.fromEntries(
      Array.from({ length: 10_000 }, (_, at) => [
        `key-${at}`,
        { action: 'accept', content: { answer: 'x' } },
      ]),
    )
    const asked = { capabilities: SHOWS_FORMS, params: { inputResponses } }
    const { result } = await served.call('asks', { input: 'x' }, asked)
    expect(Object.keys(result.inputRequests)).toEqual(['q'])
    const { requestState } = result
    const again = await served.call(
      'asks',
      { input: 'x' },
      { ...asked, params: { inputResponses, requestState } },
    )
    expect(Object.keys(again.result.inputRequests)).toEqual(['q'])
  })

  it('that answers on no stream is told nothing', async () => {
    const handle = `${crypto.randomUUID()}.${'0'.repeat(64)}`
    expect(isHandle(handle)).toBe(true)
    for (const id of [
      '',
      '/',
      'x/q',
      `${handle}/q`,
      `${handle}/__proto__`,
      `${handle}`,
      0,
      -1,
      '/'.repeat(1000),
    ]) {
      for (const result of [{ action: 'accept' }, null, [], 'x', undefined]) {
        const { status, text } = await served.post(JSON.stringify({ jsonrpc: '2.0', id, result }))
        expect([status, text]).toEqual([202, ''])
      }
    }
  })

  it('that gives sessions, states and names of absurd length is refused', async () => {
    const long = 'x'.repeat(900_000)
    const session = await served.call('echo', { input: 'x', sessionId: long })
    expect([session.status, session.result.isError, session.text.length < 1000]).toEqual([200, true, true])
    const state = await served.call('asks', { input: 'x' }, { params: { requestState: long } })
    expect([state.status, state.error.code, state.text.length < 1000]).toEqual([400, -32602, true])
    const { error, text } = await served.askLegacy('tools/call', { name: long, arguments: {} })
    expect([error.code, text.length < 1000]).toEqual([-32602, true])
    const method = await served.askLegacy(long)
    expect([method.error.code, method.text.length < 1000]).toEqual([-32601, true])
  })

  it('may have headers of absurd length', async () => {
    const long = 'x'.repeat(8192)
    for (const name of ['mcp-session-id', 'last-event-id', 'x-session-id', 'user-agent']) {
      const params = { name: 'echo', arguments: { input: 'x' } }
      const { status, result } = await served.askLegacy('tools/call', params, { headers: { [name]: long } })
      expect([status, result.content[0].text]).toEqual([200, 'hi'])
    }
    for (const name of ['mcp-protocol-version', 'mcp-method', 'mcp-name']) {
      const { status, text } = await served.call('echo', { input: 'x' }, { headers: { [name]: long } })
      expect([status, text.length < 1000]).toEqual([400, true])
    }
    const encoded = `=?base64?${'A'.repeat(8192)}?=`
    expect((await served.call('echo', { input: 'x' }, { headers: { 'mcp-name': encoded } })).error.code).toBe(
      -32020,
    )
  })

  it.each(
    [{ a: 1 }, ['x'], null, true, 1.5, 'x'.repeat(1001), '__proto__'.repeat(200)].map(token => ({ token })),
  )('whose token of progress is none is told no progress', async ({ token }) => {
    const { text, result } = await served.call('echo', { input: 'x' }, { meta: { progressToken: token } })
    expect(result.content[0].text).toBe('hi')
    expect(text).not.toContain('notifications/progress')
    expect(text.length).toBeLessThan(1000)
  })

  it.each([[], 'x', 7, true, [['input', 'x']]].map(args => ({ args })))(
    'whose arguments are no object is refused',
    async ({ args }) => {
      const { status, error } = await served.call('echo', args as never)
      expect([status, error.code]).toEqual([200, -32602])
    },
  )

  it.each([
    {},
    { input: '' },
    { input: 7 },
    { input: null },
    { input: ['x'] },
    { INPUT: 'x' },
    { sessionId: 'x' },
  ])('whose arguments do not fit is told so, as the result: %j', async args => {
    const { status, result } = await served.call('echo', args)
    expect([status, result.isError]).toEqual([200, true])
    expect(result.content[0].text).toContain('`input`')
  })

  it('that opens streams and never reads takes no more than its streams', async () => {
    const { log } = served
    const before = log.length
    const meta = { progressToken: 1 }
    const streams = await Promise.all(
      Array.from({ length: 100 }, () => served.open('echo', { input: 'x' }, { meta })),
    )
    expect(streams.every(({ status }) => status === 200)).toBe(true)
    expect((await served.call('echo')).result.content[0].text).toBe('hi')
    for (const { body } of streams) await body?.cancel()
    expect(log.slice(before).filter(({ level }) => level === 'error')).toEqual([])
  })

  it('that stops in the middle of its body is answered', async () => {
    const body = new ReadableStream({
      start(controller) {
        controller.enqueue(new TextEncoder().encode('{"jsonrpc":"2.0","id":1,'))
        controller.error(new Error('gone'))
      },
    })
    const headers = { 'content-type': 'application/json' }
    const init = { method: 'POST', body, headers, duplex: 'half' } as RequestInit
    const response = await served.handler(new Request('http://127.0.0.1/mcp', init))
    expect(response.status).toBe(400)
    expect((await response.json()).error.code).toBe(-32700)
  })
})

describe('what is of others', () => {
  const middleware = [bearerAuth({ tokens: { 'token-of-ann': 'ann', 'token-of-bob': 'bob' } })]
  const served = serve(
    { tools: ['asks', { of: 'echo', taskSupport: 'required' }], tasks: mcpTasks() },
    { agents, state: memoryState(), middleware },
  )
  const as = (who: string) => ({ headers: { authorization: `Bearer token-of-${who}` }, capabilities: both })

  async function taskOfAnn(): Promise<string> {
    const { result } = await served.call('echo', { input: 'x' }, as('ann'))
    expect(result.resultType).toBe('task')
    return result.taskId
  }

  it.each(['tasks/get', 'tasks/update', 'tasks/cancel'])('is not found by %s', async method => {
    const taskId = await taskOfAnn()
    const ask = (id: unknown, who: string) => served.ask(method, { taskId: id, inputResponses: {} }, as(who))
    const foreign = await ask(taskId, 'bob')
    const unknown = await ask(crypto.randomUUID(), 'bob')
    expect([foreign.status, foreign.error.code]).toEqual([200, -32602])
    // Nobody learns which tasks there are.
    expect(foreign.error).toEqual(unknown.error)
    for (const id of ['', '__proto__', '../runs', 'x'.repeat(9999)]) {
      const { status, error } = await ask(id, 'ann')
      expect([status, error.code]).toEqual([200, -32602])
    }
    for (const id of [7, null, {}, [taskId], undefined]) {
      const { status, error } = await ask(id, 'ann')
      expect([status, error.code]).toEqual([400, -32020])
    }
    expect((await ask(taskId, 'ann')).error?.code ?? 0).toBe(0)
  })

  it('is not answered on a stream either', async () => {
    const begun = await served.askLegacy(
      'initialize',
      { protocolVersion: '2025-11-25', capabilities: { elicitation: {} } },
      as('ann'),
    )
    const session = { 'mcp-session-id': begun.headers.get('mcp-session-id') ?? '' }
    const params = { name: 'asks', arguments: { input: 'x' }, _meta: { progressToken: 1 } }
    const stream = await served.send(
      JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }),
      {
        headers: { accept: 'text/event-stream', ...as('ann').headers, ...session },
      },
    )
    let text = ''
    let asked: Json
    for await (const chunk of stream.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      text += chunk
      if (asked) continue
      asked = messagesIn(text).find(({ method }) => method === 'elicitation/create')
      if (asked === undefined) continue
      for (const [who, answer] of [
        ['bob', 'of bob'],
        ['ann', 'of ann'],
      ] as const) {
        const result = { action: 'accept', content: { answer } }
        const body = JSON.stringify({ jsonrpc: '2.0', id: asked.id, result })
        expect((await served.post(body, { headers: { ...as(who).headers, ...session } })).status).toBe(202)
      }
    }
    expect(messagesIn(text).at(-1).result.content[0].text).toBe('said of ann')
  })
})
