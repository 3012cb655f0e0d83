/** Agents of the Claude Agent SDK, with a `query` of the test. `test/wide` has the package with its binary. */
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { toAgent } from '../../../src/adapters/frameworks/index.ts'
import { createHandler, memoryState, type RunOptions, type State } from '../../../src/index.ts'
import { drain } from '../../support.ts'
import { requestsIn, work } from '../model-agent/kit.ts'

interface Given {
  readonly prompt: AsyncIterable<{ readonly message: { readonly content: readonly object[] } }>
  // biome-ignore lint/suspicious/noExplicitAny: the options of another package
  readonly options: any
}

type Script = (given: Given, ended: Promise<never>) => AsyncGenerator<object>

/** A `query` that plays scripts, one after the other. */
function scripted(...scripts: Script[]) {
  const calls: Given[] = []
  const told = { interrupts: 0, open: 0 }
  const query = (given: Given) => {
    const script = scripts[calls.push(given) - 1] ?? says('Done.')
    const { promise, reject } = Promise.withResolvers<never>()
    promise.catch(() => {})
    const end = () => reject(new Error('Operation aborted'))
    given.options.abortController.signal.addEventListener('abort', end)
    async function* play() {
      told.open++
      try {
        yield* script(given, promise)
      } finally {
        told.open--
      }
    }
    const interrupt = async () => {
      told.interrupts++
      end()
    }
    return Object.assign(play(), { interrupt, close: end })
  }
  return {
    query,
    calls,
    told,
    agent: toAgent({ name: 'coder', query, processes: 1, options: { cwd: '/a' } }),
  }
}

const stream = (event: object) => ({ type: 'stream_event', parent_tool_use_id: null, event })
const delta = (index: number, piece: object) => stream({ type: 'content_block_delta', index, delta: piece })
const start = stream({ type: 'message_start', message: { model: 'claude-x', usage: { input_tokens: 2 } } })
const stop = [
  stream({ type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 1 } }),
  stream({ type: 'message_stop' }),
]
const result = (more: object = {}) => ({
  type: 'result',
  subtype: 'success',
  stop_reason: 'end_turn',
  ...more,
})

/** A call of a tool, as the SDK streams it. */
function* call(index: number, id: string, name: string, json: string) {
  yield stream({
    type: 'content_block_start',
    index,
    content_block: { type: 'tool_use', id, name, input: {} },
  })
  yield delta(index, { partial_json: json })
  yield stream({ type: 'content_block_stop', index })
}

const isDone = (id: string, content: unknown, failed = false) => ({
  type: 'user',
  message: { content: [{ type: 'tool_result', tool_use_id: id, content, is_error: failed }] },
})

/** Writes entries into the store of a run, after those that its session has. */
async function write({ options }: Given, ...entries: object[]): Promise<void> {
  await options.sessionStore.append({ projectKey: 'p', sessionId: options.resume ?? 'of the SDK' }, entries)
}

const contentIn = async ({ prompt }: Given) => {
  for await (const { message } of prompt) return message.content
  return undefined
}

function says(text: string): Script {
  return async function* (given) {
    const content = given.options.resume === undefined ? await contentIn(given) : []
    await write(given, { type: 'user', uuid: `u ${text}`, parentUuid: null, message: { content } })
    await write(given, { type: 'assistant', uuid: text, parentUuid: `u ${text}`, message: { content: [] } })
    yield start
    yield delta(0, { text })
    yield* stop
    yield result()
  }
}

/** Asks whether it may pay, and does what it is told. */
const asks: Script = async function* (given, ended) {
  yield start
  yield* call(0, 't1', 'Pay', '{"to":"Ann"}')
  yield* call(1, 't2', 'Look', '{}')
  await write(
    given,
    { type: 'user', uuid: 'u1', parentUuid: null, message: { content: 'Pay' } },
    { type: 'attachment', uuid: 'x1', parentUuid: 'u1' },
    {
      type: 'assistant',
      uuid: 'a1',
      parentUuid: 'x1',
      message: { content: [{ type: 'tool_use', id: 't1' }] },
    },
  )
  const asked = given.options.canUseTool('Pay', { to: 'Ann' }, { toolUseID: 't1' })
  yield* stop
  await Promise.race([asked, ended])
}

/** Goes on with the call that waited. */
const goesOn: Script = async function* (given) {
  const entries = await given.options.sessionStore.load({ sessionId: given.options.resume })
  const { toolUseID, toolName, toolInput } = entries.at(-1).attachment
  const permission = await given.options.canUseTool(toolName, toolInput, { toolUseID })
  yield isDone(
    toolUseID,
    permission.message ?? JSON.stringify(permission.updatedInput),
    permission.behavior === 'deny',
  )
  yield* says('Paid.')(given, new Promise(() => {}))
}

describe('an agent of the Claude Agent SDK', () => {
  it('tells text, thinking, tools, model calls and tokens', async () => {
    const { agent } = scripted(async function* () {
      yield start
      yield delta(0, { thinking: 'Hm.' })
      yield* call(1, 't1', 'Bash', '{"command":"ls"}')
      yield* stop
      yield { ...isDone('t1', 'of a subagent'), parent_tool_use_id: 't0' }
      yield isDone('t1', [{ type: 'text', text: 'a.ts' }])
      yield start
      yield delta(0, { text: 'One file.' })
      yield* stop
      yield result({
        usage: { input_tokens: 3, cache_read_input_tokens: 1, output_tokens: 2 },
        structured_output: { n: 1 },
      })
    })
    const events = await drain(agent.stream!('Look'))
    expect(events.filter(({ type }) => type === 'model_call')).toHaveLength(2)
    expect(events.filter(({ type }) => type !== 'model_call')).toMatchObject([
      { type: 'thinking', text: 'Hm.' },
      { type: 'tool_call_start', toolCall: { id: 't1', name: 'Bash' } },
      { type: 'tool_call_delta', toolCallId: 't1' },
      { type: 'tool_call_ready', toolCallId: 't1', args: { command: 'ls' } },
      { type: 'tool_call_end', toolCallId: 't1', result: 'a.ts' },
      { type: 'text', text: 'One file.' },
      { type: 'finish', usage: { promptTokens: 4, completionTokens: 2 }, structured: { n: 1 } },
    ])
  })

  it.each([
    [{ subtype: 'error_during_execution', is_error: true, errors: ['broke'] }, 'agent_failed'],
    [{ is_error: true, result: 'API Error: 529' }, 'provider_failed'],
  ])('fails with the code of %j', async (end, code) => {
    const { agent, told } = scripted(async function* () {
      yield result(end)
    })
    await expect(drain(agent.stream!('Go'))).rejects.toMatchObject({ code })
    expect(told.open).toBe(0)
  })

  it.each(['error_max_turns', 'error_max_budget_usd'])('ends at a limit: %s', async subtype => {
    const { agent } = scripted(async function* () {
      yield result({ subtype, is_error: true })
    })
    expect((await drain(agent.stream!('Go'))).at(-1)).toMatchObject({ finishReason: 'length' })
  })

  it('interrupts the SDK at an abort, and has no process then', async () => {
    const client = new AbortController()
    const { agent, told } = scripted(async function* (_, ended) {
      yield start
      yield delta(0, { text: 'Half' })
      await ended
    })
    const reading = async () => {
      for await (const { type } of agent.stream!('Go', { signal: client.signal })) {
        if (type !== 'text') continue
        await expect(drain(agent.stream!('Go'))).rejects.toMatchObject({ code: 'too_many_runs' })
        client.abort()
      }
    }
    await reading().catch(() => {})
    expect(told).toEqual({ interrupts: 1, open: 0 })
    expect((await drain(agent.stream!('Go'))).at(-1)).toMatchObject({ finishReason: 'stop' })
  })
})

describe('a permission request', () => {
  const play = (agent: ReturnType<typeof toAgent>, options: RunOptions) =>
    drain(agent.stream!('Pay', { runId: 'r1', ...options }))

  it.each([
    ['approve', { result: '{"to":"Ann"}' }],
    ['deny', { error: 'Too much' }],
  ] as const)('ends the process, and another one goes on: %s', async (decision, end) => {
    const { agent, calls, told } = scripted(asks, goesOn)
    const state = work()
    const before = await play(agent, { work: state })
    expect(told.open).toBe(0)
    expect(before).toContainEqual(expect.objectContaining({ type: 'tool_call_end', toolCallId: 't2' }))
    expect(before.at(-1)).toMatchObject({ finishReason: 'input_required', usage: { totalTokens: 3 } })
    const [request] = requestsIn(before)
    expect(request).toMatchObject({
      kind: 'approval',
      toolCallId: 't1',
      toolName: 'Pay',
      args: { to: 'Ann' },
    })
    const answers = [{ id: request?.id ?? '', decision, reason: 'Too much' }]
    const after = await play(agent, { runId: 'r2', work: state, answers })
    expect(after).toContainEqual({ type: 'tool_call_end', toolCallId: 't1', ...end })
    expect(after).toContainEqual({ type: 'text', text: 'Paid.' })
    const [first, second] = await calls[1]!.options.sessionStore.load({})
    expect([first, second]).toMatchObject([{ uuid: 'u1' }, { uuid: 'a1', parentUuid: 'u1' }])
    expect(calls[1]!.options.resume).toBe('of the SDK')
  })

  it('fails if the SDK does not write the call', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    const { agent, told } = scripted(async function* ({ options }, ended) {
      yield start
      yield* call(0, 't1', 'Pay', '{}')
      yield* stop
      await Promise.race([options.canUseTool('Pay', {}, { toolUseID: 't1' }), ended])
    })
    const running = expect(play(agent, { work: work() })).rejects.toMatchObject({ code: 'not_resumable' })
    await vi.waitFor(() => expect(vi.getTimerCount()).toBe(1))
    await vi.advanceTimersByTimeAsync(5000)
    await running
    expect(told.open).toBe(0)
  })

  it('is denied for a subagent, and left to a function of the agent', async () => {
    const answers: unknown[] = []
    const script: Script = async function* ({ options }) {
      answers.push(await options.canUseTool('Pay', {}, { toolUseID: 't1', agentID: 'sub' }))
      yield result()
    }
    await drain(scripted(script).agent.stream!('Go'))
    const canUseTool = async () => 'mine'
    const { query } = scripted(script)
    await drain(toAgent({ name: 'coder', query, options: { canUseTool } }).stream!('Go'))
    expect(answers).toMatchObject([{ behavior: 'deny' }, 'mine'])
  })
})

describe('what came before', () => {
  function askerOf(agent: ReturnType<typeof toAgent>, state: State) {
    const handler = createHandler({ serve: [agent], state })
    return async (body: object) => {
      const init = {
        method: 'POST',
        body: JSON.stringify(body),
        headers: { 'content-type': 'application/json' },
      }
      return (await handler(new Request('http://127.0.0.1/api/agents/coder/run', init))).json()
    }
  }

  it('is the transcript of the session, in whatever process', async () => {
    const state = memoryState()
    const ask = (fake: ReturnType<typeof scripted>, sessionId: string) =>
      askerOf(fake.agent, state)({ input: 'Hello', sessionId })
    await ask(scripted(says('One.')), 's1')
    const elsewhere = scripted(says('Two.'))
    await ask(elsewhere, 's1')
    expect(elsewhere.calls[0]?.options.resume).toBe('of the SDK')
    const third = scripted()
    await ask(third, 's1')
    const entries = await third.calls[0]?.options.sessionStore.load({})
    expect(entries.map(({ uuid }: { uuid: string }) => uuid).slice(0, 4)).toEqual([
      'u One.',
      'One.',
      'u Two.',
      'Two.',
    ])
    const other = scripted()
    await ask(other, 's2')
    expect(other.calls[0]?.options.resume).toBeUndefined()
  })

  it('is told as text after a turn that is too long, and from the history of a client', async () => {
    const state = memoryState()
    const contents: unknown[] = []
    const reads: Script = async function* (given) {
      contents.push(await contentIn(given))
      yield result()
    }
    const fake = scripted(
      async function* (given) {
        await write(given, { type: 'user', uuid: 'u1', message: { content: 'x'.repeat(70_000) } })
        yield* says('Long.')(given, new Promise(() => {}))
      },
      reads,
      reads,
    )
    const ask = askerOf(fake.agent, state)
    await ask({ input: 'Hello', sessionId: 's1' })
    await ask({ input: 'Again', sessionId: 's1' })
    await ask({ input: 'Who?', history: [{ role: 'user', content: 'I am Ann' }] })
    expect(contents).toEqual([
      [
        { type: 'text', text: expect.stringContaining('"content":"Long."') },
        { type: 'text', text: 'Again' },
      ],
      [
        { type: 'text', text: expect.stringContaining('I am Ann') },
        { type: 'text', text: 'Who?' },
      ],
    ])
  })

  it('takes images, documents and data, and refuses sound', async () => {
    const contents: unknown[] = []
    const reads: Script = async function* (given) {
      contents.push(await contentIn(given))
      yield result()
    }
    const { agent } = scripted(reads, reads)
    await drain(
      agent.stream!([
        { type: 'data', data: { n: 1 } },
        { type: 'image', data: 'iVBORw0KGgo=' },
        { type: 'image', data: 'https://a.test/b.png', mimeType: 'image/png' },
        { type: 'file', data: 'JVBERg==', mimeType: 'application/pdf', filename: 'a.pdf' },
        {
          type: 'file',
          data: btoa(String.fromCharCode(...new TextEncoder().encode('Grüße'))),
          mimeType: 'text/plain',
        },
      ]),
    )
    expect(contents[0]).toEqual([
      { type: 'text', text: '{"n":1}' },
      { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' } },
      { type: 'image', source: { type: 'url', url: 'https://a.test/b.png' } },
      {
        type: 'document',
        title: 'a.pdf',
        source: { type: 'base64', media_type: 'application/pdf', data: 'JVBERg==' },
      },
      { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'Grüße' } },
    ])
    const sound = [{ type: 'audio', data: 'AAAA', mimeType: 'audio/wav' }] as const
    await expect(drain(agent.stream!(sound))).rejects.toMatchObject({ code: 'invalid_input' })
  })
})
