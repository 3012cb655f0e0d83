import { describe, expect, it } from 'vitest'
import { toAgent } from '../../../src/adapters/frameworks/index.ts'
import { Agent, createHandler, defaultRegistry, type RunEvent, ServableError } from '../../../src/index.ts'
import { drain, turn, untyped } from '../../support.ts'
import { aiAgent, graph, mastraAgent, openaiAgent, streaming, voltAgent } from './fakes.ts'

const codeOf = (work: () => unknown) => {
  try {
    work()
  } catch (error) {
    return error instanceof ServableError ? `${error.code}: ${error.message}` : error
  }
}

const runOpenai = async () => streaming([])

describe('toAgent', () => {
  it('gives what is servable already back as it is', () => {
    const agent = new Agent({ name: 'mine', run: () => 'hi', register: false })
    expect(toAgent(agent)).toBe(agent)
    const team = { kind: 'team', name: 'ours', run: async () => ({}) }
    expect(toAgent(untyped<Agent>(team))).toBe(team)
    expect(codeOf(() => toAgent(untyped<object>(team), { name: 'other' }))).toMatch(
      /^invalid_options: .*`ours`/,
    )
  })

  it('takes a function by its name, sync, async and generating', async () => {
    function shout(input: unknown) {
      return String(input).toUpperCase()
    }
    const later = toAgent(async () => ({ text: 'later', finishReason: 'length' as const }), {
      name: 'later',
    })
    const spelled = toAgent(
      async function* spell(input) {
        yield* String(input)
        return { usage: { promptTokens: 1, completionTokens: 2, totalTokens: 3 } }
      },
      { description: 'Letter by letter' },
    )
    expect(await toAgent(shout).run('hey')).toMatchObject({ text: 'HEY' })
    expect(toAgent(shout)).toMatchObject({ kind: 'agent', name: 'shout' })
    expect(await later.run('')).toMatchObject({ text: 'later', finishReason: 'length' })
    expect(spelled).toMatchObject({ name: 'spell', description: 'Letter by letter' })
    expect(await spelled.run('abc')).toMatchObject({ text: 'abc', usage: { totalTokens: 3 } })
  })

  it('takes what a function yields, at once or later', async () => {
    const one = toAgent(
      function* () {
        yield 'a'
        yield { type: 'thinking', text: 'hm' }
        return { finishReason: 'length' as const }
      },
      { name: 'one' },
    )
    expect(await one.run('')).toMatchObject({ text: 'a', finishReason: 'length' })
    const textFrom = async (run: Parameters<typeof toAgent>[0]) =>
      (await toAgent(untyped<() => string>(run), { name: 'some' }).run('')).text
    expect(await textFrom(() => new Set(['a', 'b']))).toBe('ab')
    expect(await textFrom(() => ['a', 'b'].values())).toBe('ab')
    expect(await textFrom(async () => ['a', 'b'].values())).toBe('ab')
    expect(await textFrom(async () => streaming(['a', 'b']))).toBe('ab')
    await expect(textFrom(() => ['a'])).rejects.toMatchObject({ code: 'invalid_event' })
  })

  it('ends what yields at once with its reader', async () => {
    let isOver = false
    const endless = function* () {
      try {
        while (true) yield 'a'
      } finally {
        isOver = true
      }
    }
    for await (const event of toAgent(endless).stream!('')) if (event.type === 'text') break
    await turn()
    expect(isOver).toBe(true)
  })

  it('asks for `new` where it is given a class', () => {
    class Helper {}
    expect(codeOf(() => toAgent(untyped<object>(Helper)))).toMatch(/^invalid_options: .*`new Helper\(…\)`/)
    expect(codeOf(() => toAgent(untyped<object>(class {}), { name: 'x' }))).toMatch(/`new Agent\(…\)`/)
    function classy() {
      return 'class'
    }
    expect(toAgent(classy).name).toBe('classy')
  })

  it('gives a function what the run knows', async () => {
    const agent = toAgent((_input, { sessionId, apiKey }) => `${sessionId} ${apiKey}`, { name: 'teller' })
    expect((await agent.run('', { sessionId: 's', apiKey: 'k' })).text).toBe('s k')
  })

  it('registers nothing', () => {
    toAgent(() => 'hi', { name: 'stays out of the registry' })
    expect(defaultRegistry().get('agent', 'stays out of the registry')).toBeUndefined()
  })

  it.each([
    ['AI SDK', aiAgent({ id: 'helper' }), {}],
    ['LangGraph', graph({ name: 'helper' }), {}],
    ['OpenAI Agents', openaiAgent({ name: 'helper' }), { run: runOpenai }],
    ['VoltAgent', voltAgent({ name: 'helper' }), {}],
    ['Mastra', mastraAgent({ name: 'helper' }), {}],
  ])('knows %s by its structure, and takes its name unless it is given another', (_, agent, options) => {
    expect(toAgent(agent, options)).toMatchObject({ kind: 'agent', name: 'helper' })
    expect(toAgent(agent, { ...options, name: 'other' }).name).toBe('other')
  })

  it.each([
    ['AI SDK', aiAgent({}), {}],
    ['LangGraph, whose default is none', graph({ name: 'LangGraph' }), {}],
    ['OpenAI Agents', openaiAgent({}), { run: runOpenai }],
    ['a function', () => 'hi', {}],
  ])('asks for a name where there is none: %s', (_, agent, options) => {
    expect(codeOf(() => toAgent(agent, options))).toMatch(/^invalid_options: .*give `\{ name: '…' \}`/)
  })

  it.each([null, undefined, 'gpt-5', 7, {}, [[]], { version: 'agent-v2', stream() {} }, { kind: 'agent' }])(
    'says what it takes instead of %o',
    value => {
      const said = codeOf(() => toAgent(untyped<object>(value), { name: 'x' }))
      expect(said).toMatch(
        /^invalid_options: .*AI SDK.*LangGraph.*OpenAI Agents.*VoltAgent.*Mastra.*function/,
      )
    },
  )

  it('says which option is wrong', () => {
    expect(codeOf(() => toAgent(() => '', untyped({ nmae: 'x' })))).toContain('`nmae`')
    expect(codeOf(() => toAgent(mastraAgent({ name: 'a' }), { session: () => ({}) }))).toMatch(
      /`session`.*Mastra/,
    )
    expect(codeOf(() => toAgent(() => '', { name: 'a', forRun: () => undefined }))).toMatch(
      /`forRun`.*function/,
    )
    const wrong = { run: runOpenai, session: untyped<() => void>({}) }
    expect(codeOf(() => toAgent(openaiAgent({ name: 'a' }), wrong))).toContain('`session` must be a function')
    expect(codeOf(() => toAgent(() => '', untyped('x')))).toContain('must be an object')
    expect(codeOf(() => toAgent(() => '', { name: 'x'.repeat(201) }))).toContain('200 characters')
  })

  it('asks for `run` with an OpenAI agent, and takes a function or a runner', () => {
    const agent = openaiAgent({ name: 'a' })
    expect(codeOf(() => toAgent(agent))).toContain('{ run }')
    expect(codeOf(() => toAgent(agent, { run: {} }))).toContain('{ run }')
    expect(toAgent(agent, { run: { run: runOpenai } }).name).toBe('a')
  })

  it('tells the model and the tools that the framework tells', () => {
    const tools = {
      look: { description: 'Looks', inputSchema: { jsonSchema: { type: 'object' } } },
      bare: {},
    }
    const model = { provider: 'openai.chat', modelId: 'gpt' }
    expect(toAgent(aiAgent({ id: 'a', tools, settings: { model } }))).toMatchObject({
      model: { provider: 'openai.chat', id: 'gpt' },
      tools: [{ name: 'look', description: 'Looks', parameters: { type: 'object' } }, { name: 'bare' }],
    })
    const gateway = toAgent(aiAgent({ id: 'a', settings: { model: 'openai/gpt' } }))
    expect(gateway.model).toEqual({ provider: 'gateway', id: 'openai/gpt' })
    expect(toAgent(mastraAgent({ name: 'a', model: 'openai/gpt' })).model).toEqual({
      provider: 'openai',
      id: 'gpt',
    })
    expect(toAgent(mastraAgent({ name: 'a', model: () => 'later' })).model).toBeUndefined()
    const nodes = { tools: { bound: { tools: [{ name: 'look', schema: {} }, {}] } }, other: null }
    const looking = toAgent(graph({ name: 'a', nodes, description: 'Looks around' }))
    expect(looking).toMatchObject({ description: 'Looks around', tools: [{ name: 'look', parameters: {} }] })
    expect(toAgent(aiAgent({ id: 'a' }), { model: { provider: 'p', id: 'i' } }).model?.provider).toBe('p')
  })

  it('tells that there is a structured output', () => {
    const schema = { type: 'object' }
    expect(toAgent(aiAgent({ id: 'a', settings: { output: { name: 'object' } } })).output).toBeDefined()
    expect(toAgent(aiAgent({ id: 'a', settings: { output: { name: 'text' } } })).output).toBeUndefined()
    expect(toAgent(openaiAgent({ name: 'a', outputType: schema }), { run: runOpenai }).output).toBe(schema)
    expect(toAgent(openaiAgent({ name: 'a' }), { run: runOpenai }).output).toBeUndefined()
  })

  it('lists tools that nobody but the agent can call', () => {
    const [tool] = toAgent(aiAgent({ id: 'a', tools: { look: {} } })).tools ?? []
    expect(codeOf(() => tool?.execute({}, untyped({})))).toMatch(/^invalid_options: .*`look`/)
  })

  it('makes the agent of a run, with the keys of its request', async () => {
    const saying = (text: string) => aiAgent({ parts: [{ type: 'text-delta', text }] })
    const agent = toAgent(saying('mine'), {
      name: 'a',
      forRun: async ({ apiKey }) => apiKey && saying(`yours: ${apiKey}`),
    })
    expect((await agent.run('', { apiKey: 'k' })).text).toBe('yours: k')
    expect((await agent.run('')).text).toBe('mine')
    const wrong = toAgent(saying('mine'), { name: 'a', forRun: () => mastraAgent({}) })
    await expect(wrong.run('')).rejects.toMatchObject({ code: 'invalid_options' })
  })

  it('is served in a list', async () => {
    const agent = toAgent(aiAgent({ id: 'a', parts: [{ type: 'text-delta', text: 'hi' }] }))
    const handler = createHandler({ serve: [agent], registry: false })
    const body = JSON.stringify({ input: 'x' })
    const headers = { 'content-type': 'application/json' }
    const request = new Request('http://localhost/api/agents/a/run', { method: 'POST', body, headers })
    expect(await (await handler(request)).json()).toMatchObject({ text: 'hi', finishReason: 'stop' })
  })

  it('aborts the framework when its reader leaves in the middle', async () => {
    const signals: AbortSignal[] = []
    const parts = [
      { type: 'text-delta', text: 'one' },
      { type: 'text-delta', text: 'two' },
    ]
    const agent = toAgent(
      aiAgent({ id: 'a', parts, onStream: ({ abortSignal }) => signals.push(abortSignal) }),
    )
    const events: RunEvent[] = []
    for await (const event of agent.stream!('')) {
      events.push(event)
      break
    }
    await turn()
    expect(events).toEqual([{ type: 'text', text: 'one' }])
    expect(signals.map(({ aborted }) => aborted)).toEqual([true])
    await drain(agent.stream!(''))
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, false])
  })
})
