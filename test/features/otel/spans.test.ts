import { SpanKind, SpanStatusCode } from '@opentelemetry/api'
import { describe, expect, it } from 'vitest'
import { Agent, ServableError, sequence, Team, textOf, tool, Workflow } from '../../../src/index.ts'
import { CLIENT, TRACEPARENT, traced } from './kit.ts'

const model = { provider: 'openai.responses', id: 'gpt-9' }
const echo = new Agent({ name: 'echo', register: false, model, run: input => textOf(input) })
const seen: (string | undefined)[] = []
const search = tool({
  name: 'search',
  execute: (_: unknown, context) => {
    seen.push(context.traceparent)
    return { found: 3 }
  },
})
const finder = new Agent({
  name: 'finder',
  register: false,
  tools: [search],
  async *run(_, { callTool, traceparent }) {
    seen.push(traceparent)
    yield* callTool(search, { q: 'tea' })
    yield {
      type: 'model_call',
      model: 'anthropic/claude-9',
      usage: { promptTokens: 5, completionTokens: 7, totalTokens: 12 },
      finishReason: 'stop',
      durationMs: 3,
    }
    yield 'found'
    return { usage: { promptTokens: 5, completionTokens: 7, totalTokens: 12 } }
  },
})

describe('the span of a run', () => {
  it('has the attributes of the conventions', async () => {
    const { run, span } = traced([echo])
    const { runId } = await run('agents/echo', { input: 'hi', sessionId: 's-1' })
    const { attributes, kind, status, parentSpanContext } = span('invoke_agent echo')
    expect(attributes).toEqual({
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.agent.name': 'echo',
      'gen_ai.request.model': 'gpt-9',
      'gen_ai.conversation.id': 's-1',
      'gen_ai.response.finish_reasons': ['stop'],
      'servable.run.id': runId,
      'servable.kind': 'agent',
    })
    expect({ kind, status, parentSpanContext }).toEqual({
      kind: SpanKind.INTERNAL,
      status: { code: SpanStatusCode.UNSET },
      parentSpanContext: undefined,
    })
  })

  it('is inside of the span of the client', async () => {
    const { run, span } = traced([echo])
    await run('agents/echo', { input: 'hi' }, { traceparent: TRACEPARENT })
    expect(span('invoke_agent echo').parentSpanContext).toMatchObject({ ...CLIENT, isRemote: true })
  })

  it('tells the code of what failed, and no text', async () => {
    const broken = new Agent({
      name: 'broken',
      register: false,
      run() {
        throw new ServableError('provider_failed', 'secret words')
      },
    })
    const { run, span, series } = traced([broken])
    await run('agents/broken', { input: 'hi' })
    const { attributes, status } = span('invoke_agent broken')
    expect(attributes).toMatchObject({
      'error.type': 'provider_failed',
      'gen_ai.response.finish_reasons': ['error'],
    })
    expect(status).toEqual({ code: SpanStatusCode.ERROR })
    expect(await series()).toMatchObject([
      { name: 'gen_ai.invocation.duration', attributes: { 'error.type': 'provider_failed' }, count: 1 },
    ])
  })

  it('ends when its client leaves', async () => {
    const waiting = new Agent({
      name: 'waiting',
      register: false,
      async *run(_, { signal }) {
        yield 'a'
        await new Promise((_, reject) => signal.addEventListener('abort', reject))
      },
    })
    const { handler, span } = traced([waiting])
    const body = JSON.stringify({ input: 'hi' })
    const headers = { 'content-type': 'application/json' }
    const response = await handler(
      new Request('http://localhost/api/agents/waiting/stream', { method: 'POST', headers, body }),
    )
    const reader = response.body!.getReader()
    await reader.read()
    await reader.cancel()
    await expect
      .poll(() => span('invoke_agent waiting').attributes['gen_ai.response.finish_reasons'])
      .toEqual(['cancelled'])
  })
})

describe('what happens in a run', () => {
  it('has spans inside of that of the run: tools and model calls', async () => {
    const { run, tree, span } = traced([finder])
    await run('agents/finder', { input: 'hi' })
    expect(tree()).toEqual({ 'invoke_agent finder': { 'chat claude-9': {}, 'execute_tool search': {} } })
    expect(span('execute_tool search').attributes).toEqual({
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': 'search',
      'gen_ai.tool.type': 'function',
      'gen_ai.tool.call.id': expect.any(String),
    })
    const chat = span('chat claude-9')
    expect(chat.kind).toBe(SpanKind.CLIENT)
    expect(chat.attributes).toEqual({
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'anthropic',
      'gen_ai.request.model': 'claude-9',
      'gen_ai.usage.input_tokens': 5,
      'gen_ai.usage.output_tokens': 7,
      'gen_ai.response.finish_reasons': ['stop'],
    })
    expect(span('invoke_agent finder').attributes).toMatchObject({
      'gen_ai.usage.input_tokens': 5,
      'gen_ai.usage.output_tokens': 7,
    })
  })

  it('is told its place: the agent that of the run, a tool that of its call', async () => {
    seen.length = 0
    const { run, span } = traced([finder])
    await run('agents/finder', { input: 'hi' }, { traceparent: TRACEPARENT })
    const placeOf = (name: string) => `00-${CLIENT.traceId}-${span(name).spanContext().spanId}-01`
    expect(seen).toEqual([placeOf('invoke_agent finder'), placeOf('execute_tool search')])
  })

  it('has a span for each member of a team, with what it did', async () => {
    seen.length = 0
    const team = new Team({ name: 'crew', register: false, members: [finder, echo], strategy: sequence })
    const { run, tree, span } = traced([team])
    await run('teams/crew', { input: 'hi' })
    expect(tree()).toEqual({
      'invoke_agent crew': {
        'invoke_agent finder': { 'chat claude-9': {}, 'execute_tool search': {} },
        'invoke_agent echo': {},
      },
    })
    expect(seen[0]).toContain(span('invoke_agent finder').spanContext().spanId)
    expect(span('invoke_agent finder').attributes).toMatchObject({ 'gen_ai.usage.input_tokens': 5 })
    expect(span('invoke_agent crew').attributes).toMatchObject({
      'servable.kind': 'team',
      'gen_ai.usage.output_tokens': 7,
    })
  })

  it('has a span for each step of a workflow, and for the agents in it', async () => {
    const workflow = new Workflow({
      name: 'brew',
      register: false,
      async *run(_, context) {
        yield* context.step('look', async function* (inner) {
          yield* inner.call(finder, 'x')
        })
        yield* context.call(echo, 'y')
      },
    })
    seen.length = 0
    const { run, tree, span } = traced([workflow])
    await run('workflows/brew', { input: 'hi' })
    expect(seen[0]).toContain(span('step look').spanContext().spanId)
    expect(tree()).toEqual({
      'invoke_workflow brew': {
        'step look': { 'invoke_agent finder': { 'chat claude-9': {}, 'execute_tool search': {} } },
        'invoke_agent echo': {},
      },
    })
    expect(span('invoke_workflow brew').attributes).toMatchObject({
      'gen_ai.operation.name': 'invoke_workflow',
      'gen_ai.agent.name': 'brew',
      'servable.kind': 'workflow',
    })
  })

  it('tells tools that fail', async () => {
    const failing = tool({
      name: 'failing',
      execute() {
        throw new ServableError('tool_failed', 'secret words')
      },
    })
    const agent = new Agent({
      name: 'tries',
      register: false,
      tools: [failing],
      async *run(_, { callTool }) {
        yield* callTool(failing, {})
      },
    })
    const { run, span } = traced([agent])
    await run('agents/tries', { input: 'hi' })
    expect(span('execute_tool failing').attributes['error.type']).toBe('tool_failed')
    expect(span('execute_tool failing').status).toEqual({ code: SpanStatusCode.ERROR })
  })
})
