import { describe, expect, it } from 'vitest'
import { untimedText } from '../../support.ts'
import { ask, post, run, type Server, stream } from './client.ts'

const ids = (count: number) => Array.from({ length: count }, (_, index) => String(index + 1))

const result = (text: string) => ({
  text,
  toolCalls: [],
  usage: { promptTokens: 0, completionTokens: 0, totalTokens: 0 },
  structured: null,
  durationMs: expect.any(Number),
  finishReason: 'stop',
  runId: expect.stringMatching(/^[\da-f-]{36}$/),
})

export function runCases(server: Server): void {
  describe('POST /agents/:name/run', () => agentRunCases(server))
  describe('POST /agents/:name/stream', () => agentStreamCases(server))
  describe('POST /teams/:name/run and /stream', () => teamCases(server))
  describe('POST /workflows/:name/run and /stream', () => workflowCases(server))
}

function agentRunCases(server: Server): void {
  it('answers with the whole result', async () => {
    const answer = await post(server, '/api/agents/echo/run', { input: 'one two' })
    expect(answer.status).toBe(200)
    expect(answer.headers.get('content-type')).toBe('application/json')
    expect(JSON.parse(answer.text)).toEqual(result('one two'))
  })

  it('names its run in a header', async () => {
    const answer = await post(server, '/api/agents/echo/run', { input: 'one' })
    expect(answer.headers.get('x-run-id')).toBe(JSON.parse(answer.text).runId)
  })

  it('runs an agent that has only `run`', async () => {
    expect((await run(server, '/api/agents/only-run/run')).text).toBe('ran one two')
  })

  it('runs an agent that has only `stream`', async () => {
    expect((await run(server, '/api/agents/only-stream/run')).text).toBe('streamed one two')
  })

  it('tells usage, structured output, artifacts and the reason of the end', async () => {
    expect(await run(server, '/api/agents/detailed/run')).toMatchObject({
      text: 'found',
      structured: { city: 'Oslo' },
      usage: { promptTokens: 3, completionTokens: 2, totalTokens: 5 },
      finishReason: 'length',
      artifacts: [{ artifactId: 'a1', name: 'notes', parts: [{ type: 'text', text: 'one' }] }],
    })
  })

  it('tells tool calls', async () => {
    const { text, toolCalls } = await run(server, '/api/agents/tooled/run')
    expect(text).toBe('sum 3')
    const call = { toolCallId: expect.any(String), toolName: 'add', args: { a: 1, b: 2 }, result: 3 }
    expect(toolCalls).toEqual([call])
  })

  it('tells that a tool failed, and not why', async () => {
    const { text, toolCalls } = await run(server, '/api/agents/clumsy/run')
    expect(text).toBe('went on')
    expect(toolCalls).toMatchObject([{ toolName: 'fails', error: 'The tool failed' }])
  })

  it('takes an array of content parts', async () => {
    const input = [
      { type: 'text', text: 'look' },
      { type: 'image', data: 'aGk=', mimeType: 'image/png' },
      { type: 'audio', data: 'https://cdn.example/a.mp3', mimeType: 'audio/mpeg' },
      { type: 'file', data: 'aGk=', mimeType: 'text/plain', filename: 'a.txt' },
    ]
    const { text } = await run(server, '/api/agents/parts/run', { input })
    expect(text).toBe('look, image image/png, audio audio/mpeg, file text/plain')
  })

  it('gives the agent the session, the user, the run id and a signal', async () => {
    const { structured, runId } = await run(server, '/api/agents/told/run', {
      input: 'x',
      sessionId: 's1',
      userId: 'u1',
    })
    expect(structured).toEqual({ sessionId: 's1', userId: 'u1', runId, hasSignal: true })
  })

  it('keeps text as it is, of any script and with any character', async () => {
    const input = 'grüße 日本 🙂 "quoted" back\\slash\ttab\nline\u2028sep \u0000nul'
    expect((await run(server, '/api/agents/parts/run', { input })).text).toBe(input)
  })

  it('gives each of many runs at once its own answer', async () => {
    const inputs = Array.from({ length: 30 }, (_, index) => `word ${index}`)
    const results = await Promise.all(inputs.map(input => run(server, '/api/agents/echo/run', { input })))
    expect(results.map(({ text }) => text)).toEqual(inputs)
    expect(new Set(results.map(({ runId }) => runId)).size).toBe(inputs.length)
  })

  it('ignores fields that it does not know, and the query', async () => {
    const body = { input: 'one', temperature: 1, messages: [] }
    expect((await run(server, '/api/agents/echo/run?debug=1&x=%zz', body)).text).toBe('one')
  })

  it('ignores slashes at the end of the path', async () => {
    expect((await run(server, '/api/agents/echo/run/')).text).toBe('one two')
  })
}

function agentStreamCases(server: Server): void {
  it('streams text and a finish, with ids from 1', async () => {
    const { messages } = await stream(server, '/api/agents/echo/stream')
    expect(messages).toEqual([
      { id: '1', event: { type: 'text', text: 'one' } },
      { id: '2', event: { type: 'text', text: ' two' } },
      { id: '3', event: { type: 'finish', finishReason: 'stop' } },
    ])
  })

  it('says in its headers that it is neither cached, changed nor buffered', async () => {
    const { headers } = await stream(server, '/api/agents/echo/stream')
    expect(headers.get('content-type')).toBe('text/event-stream')
    expect(headers.get('cache-control')).toBe('no-cache, no-transform')
    expect(headers.get('x-accel-buffering')).toBe('no')
    expect(headers.get('content-encoding')).toBeNull()
    expect(headers.get('x-run-id')).toMatch(/^[\da-f-]{36}$/)
  })

  it('ends with the connection and sends no end mark of its own', async () => {
    const answer = await post(server, '/api/agents/echo/stream', { input: 'one' })
    expect(answer.text).toMatch(/"at":\d+\}\n\n$/)
    expect(untimedText(answer.text)).toBe(
      'id: 1\ndata: {"type":"text","text":"one"}\n\nid: 2\ndata: {"type":"finish","finishReason":"stop"}\n\n',
    )
  })

  it('streams an agent that has only `run`', async () => {
    const { events } = await stream(server, '/api/agents/only-run/stream')
    expect(events).toEqual([
      { type: 'text', text: 'ran one two' },
      { type: 'finish', finishReason: 'stop' },
    ])
  })

  it('streams thinking, artifacts, and usage and structured output with the finish', async () => {
    const { events } = await stream(server, '/api/agents/detailed/stream')
    expect(events.map(({ type }) => type)).toEqual(['thinking', 'text', 'artifact', 'finish'])
    expect(events.at(-1)).toEqual({
      type: 'finish',
      finishReason: 'length',
      structured: { city: 'Oslo' },
      usage: { promptTokens: 3, completionTokens: 2, totalTokens: 5 },
    })
  })

  it('streams a tool call from start to end', async () => {
    const { events } = await stream(server, '/api/agents/tooled/stream')
    const toolCallId = expect.any(String)
    expect(events).toEqual([
      { type: 'tool_call_start', toolCall: { id: toolCallId, name: 'add' } },
      { type: 'tool_call_delta', toolCallId, argumentsDelta: '{"a":1,"b":2}' },
      { type: 'tool_call_ready', toolCallId, args: { a: 1, b: 2 } },
      { type: 'tool_call_end', toolCallId, result: 3 },
      { type: 'text', text: 'sum 3' },
      { type: 'finish', finishReason: 'stop' },
    ])
  })

  it('streams that a tool failed, and not why', async () => {
    const { events } = await stream(server, '/api/agents/clumsy/stream')
    expect(events.find(({ type }) => type === 'tool_call_end')).toMatchObject({ error: 'The tool failed' })
    expect(events.at(-1)).toEqual({ type: 'finish', finishReason: 'stop' })
  })

  it('keeps line breaks inside one message', async () => {
    const { events } = await stream(server, '/api/agents/parts/stream', { input: 'a\nb\r\nc\rd\n\ndata: e' })
    expect(events[0]).toEqual({ type: 'text', text: 'a\nb\r\nc\rd\n\ndata: e' })
  })

  it('numbers thousands of events without a gap', async () => {
    const input = Array.from({ length: 3000 }, (_, index) => index).join(' ')
    const { messages, events } = await stream(server, '/api/agents/echo/stream', { input })
    expect(messages.map(({ id }) => id)).toEqual(ids(3001))
    expect(events.map(event => (event.type === 'text' ? event.text : '')).join('')).toBe(input)
  })

  it('gives each of many streams at once its own events', async () => {
    const inputs = Array.from({ length: 20 }, (_, index) => `word ${index}`)
    const streams = await Promise.all(
      inputs.map(input => stream(server, '/api/agents/echo/stream', { input })),
    )
    for (const [index, { messages }] of streams.entries()) {
      expect(messages.map(({ id }) => id)).toEqual(ids(3))
      expect(messages[1]?.event).toEqual({ type: 'text', text: ` ${index}` })
    }
  })

  it('refuses a bad body with a problem, not with a stream', async () => {
    const answer = await post(server, '/api/agents/echo/stream', {})
    expect(answer.status).toBe(400)
    expect(answer.headers.get('content-type')).toBe('application/problem+json')
  })
}

function teamCases(server: Server): void {
  it('runs members in turn, each with the answer of the one before', async () => {
    const { text, steps } = await run(server, '/api/teams/line/run')
    expect(text).toBe('ONE TWO')
    expect(steps).toMatchObject([
      { name: 'echo', status: 'completed', durationMs: expect.any(Number) },
      { name: 'shout', status: 'completed', durationMs: expect.any(Number) },
    ])
  })

  it('runs members at once and keeps their answers apart', async () => {
    expect((await run(server, '/api/teams/choir/run')).text).toBe('one two\n\nONE TWO')
  })

  it('runs the one member that a route names', async () => {
    const { text, steps } = await run(server, '/api/teams/desk/run')
    expect(text).toBe('ONE TWO')
    expect(steps).toMatchObject([{ name: 'shout', status: 'completed' }])
  })

  it('streams steps and text', async () => {
    const { events } = await stream(server, '/api/teams/line/stream')
    expect(events).toMatchObject([
      { type: 'step', name: 'echo', status: 'started', index: 0 },
      { type: 'step', name: 'echo', status: 'progress', text: 'one' },
      { type: 'step', name: 'echo', status: 'progress', text: ' two' },
      { type: 'step', name: 'echo', status: 'completed' },
      { type: 'step', name: 'shout', status: 'started', index: 1 },
      { type: 'text', text: 'ONE TWO' },
      { type: 'step', name: 'shout', status: 'completed' },
      { type: 'finish', finishReason: 'stop' },
    ])
  })

  it('fails when a member fails', async () => {
    const { events } = await stream(server, '/api/teams/doomed/stream')
    expect(events.filter(({ type }) => type === 'error' || type === 'finish')).toEqual([
      { type: 'error', error: 'Internal server error', code: 'agent_failed' },
    ])
  })
}

function workflowCases(server: Server): void {
  it('runs named steps', async () => {
    const { text, steps } = await run(server, '/api/workflows/count/run')
    expect(text).toBe('2 words')
    expect(steps?.map(({ name }) => name)).toEqual(['split', 'count'])
  })

  it('streams its steps', async () => {
    const { events } = await stream(server, '/api/workflows/count/stream')
    expect(events).toMatchObject([
      { type: 'step', name: 'split', status: 'started' },
      { type: 'step', name: 'split', status: 'completed' },
      { type: 'step', name: 'count', status: 'started' },
      { type: 'step', name: 'count', status: 'completed' },
      { type: 'text', text: '2 words' },
      { type: 'finish' },
    ])
  })

  it('tells which step failed, and not why', async () => {
    const { events } = await stream(server, '/api/workflows/broken/stream')
    expect(events.slice(-2)).toMatchObject([
      { type: 'step', name: 'break', status: 'failed' },
      { type: 'error', error: 'Internal server error', code: 'agent_failed' },
    ])
  })

  it('keeps the three kinds apart: a name of one is unknown to the others', async () => {
    const paths = ['/api/workflows/echo/run', '/api/teams/count/run', '/api/agents/line/run']
    const answers = await Promise.all(paths.map(path => post(server, path, { input: 'x' })))
    const codes = answers.map(({ text }) => JSON.parse(text).code)
    expect(codes).toEqual(['workflow_not_found', 'team_not_found', 'agent_not_found'])
    expect((await ask(server, '/api/workflows')).status).toBe(200)
  })
}
