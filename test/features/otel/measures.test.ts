import { describe, expect, it } from 'vitest'
import { modelName, providerName } from '../../../src/features/otel/conventions.ts'
import { spanContextOf } from '../../../src/features/otel/trace-context.ts'
import { Agent, tool, type Usage } from '../../../src/index.ts'
import { TRACEPARENT, traced } from './kit.ts'

const usage: Usage = { promptTokens: 5, completionTokens: 7, totalTokens: 12 }

describe('metrics', () => {
  it('have the buckets and units of the conventions', async () => {
    const speaker = new Agent({ name: 'speaker', register: false, run: () => ({ text: 'hi', usage }) })
    const { run, series } = traced([speaker])
    await run('agents/speaker', { input: 'hi', sessionId: 'never-told' })
    const found = await series()
    expect(found.map(({ name, unit }) => [name, unit])).toEqual([
      ['gen_ai.invocation.duration', 's'],
      ['servable.run.time_to_first_chunk', 's'],
      ['gen_ai.client.inference.usage.input_tokens', '{token}'],
      ['gen_ai.client.inference.usage.output_tokens', '{token}'],
    ])
    const attributes = {
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.agent.name': 'speaker',
      'gen_ai.invocation.is_nested': false,
    }
    expect(found[0]).toMatchObject({ attributes })
    expect(found[0]?.boundaries.slice(0, 3)).toEqual([0.1, 0.2, 0.4])
    expect(found[2]).toMatchObject({
      attributes: { 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.token.modality': 'unknown' },
      sum: 5,
    })
    expect(JSON.stringify(found)).not.toMatch(/never-told/)
  })

  it('of calls have the names of the tool, of who called it and of the model', async () => {
    const search = tool({ name: 'search', execute: () => 'found' })
    const finder = new Agent({
      name: 'finder',
      register: false,
      model: { provider: 'openai', id: 'a' },
      tools: [search],
      async *run(_, { callTool }) {
        yield* callTool(search, {})
        yield { type: 'model_call', model: 'openai/a', usage, durationMs: 20 }
        return ''
      },
    })
    const { run, series } = traced([finder])
    await run('agents/finder', { input: 'hi' })
    const found = Object.fromEntries((await series()).map(({ name, attributes }) => [name, attributes]))
    expect(found['gen_ai.execute_tool.duration']).toEqual({
      'gen_ai.agent.name': 'finder',
      'gen_ai.tool.name': 'search',
    })
    const call = {
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'openai',
      'gen_ai.request.model': 'a',
    }
    expect(found['gen_ai.client.inference.duration']).toEqual(call)
    expect(found['gen_ai.client.inference.operation.input_tokens']).toEqual(call)
    expect(found['gen_ai.invocation.duration']).toEqual({
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.agent.name': 'finder',
      'gen_ai.invocation.is_nested': false,
      'gen_ai.request.model': 'a',
    })
  })

  it('count tokens once: of model calls, else of the run, model by model', async () => {
    const models = [
      { model: 'openai/a', ...usage },
      { model: 'mistral/b', ...usage },
    ]
    const calls = new Agent({
      name: 'calls',
      register: false,
      async *run() {
        yield { type: 'model_call', model: 'openai/a', usage }
        return { usage }
      },
    })
    const sums = new Agent({ name: 'sums', register: false, run: () => ({ usage: { ...usage, models } }) })
    const { run, series } = traced([calls, sums])
    await run('agents/calls', { input: 'hi' })
    await run('agents/sums', { input: 'hi' })
    const found = (await series()).filter(({ name }) => name.startsWith('gen_ai.client.inference.'))
    const told = found.map(({ name, attributes, sum }) => [
      name.slice('gen_ai.client.inference.'.length),
      ...['operation.name', 'provider.name', 'request.model'].map(each => attributes[`gen_ai.${each}`]),
      sum,
    ])
    expect(told.toSorted()).toEqual(
      [
        ['operation.input_tokens', 'chat', 'openai', 'a', 5],
        ['operation.output_tokens', 'chat', 'openai', 'a', 7],
        ['usage.input_tokens', 'chat', 'openai', 'a', 5],
        ['usage.input_tokens', 'invoke_agent', 'openai', 'a', 5],
        ['usage.input_tokens', 'invoke_agent', 'mistral_ai', 'b', 5],
        ['usage.output_tokens', 'chat', 'openai', 'a', 7],
        ['usage.output_tokens', 'invoke_agent', 'openai', 'a', 7],
        ['usage.output_tokens', 'invoke_agent', 'mistral_ai', 'b', 7],
      ].toSorted(),
    )
  })

  it('have series of their own for the first 100 models only', async () => {
    const many = new Agent({
      name: 'many',
      register: false,
      async *run() {
        for (let index = 0; index < 150; index++)
          yield { type: 'model_call', model: `openai/${index}`, durationMs: 1 }
      },
    })
    const { run, series } = traced([many])
    await run('agents/many', { input: 'hi' })
    const chats = (await series()).filter(({ name }) => name === 'gen_ai.client.inference.duration')
    expect(chats.length).toBe(101)
    expect(chats.at(-1)).toMatchObject({ attributes: { 'gen_ai.request.model': '_OTHER' }, count: 50 })
  })
})

describe('the names of providers', () => {
  it.each([
    ['openai.responses', 'openai'],
    ['anthropic.messages', 'anthropic'],
    ['google.generative-ai', 'gcp.gemini'],
    ['google.vertex.chat', 'gcp.vertex_ai'],
    ['amazon-bedrock', 'aws.bedrock'],
    ['xai.chat', 'x_ai'],
    ['mine', 'mine'],
  ])('%s is %s', (provider, name) => {
    expect(providerName(provider)).toBe(name)
  })

  it('come before the first slash of a model', () => {
    expect(modelName('openrouter.chat/meta/llama')).toEqual({ provider: 'openrouter', model: 'meta/llama' })
    for (const none of [undefined, '', 'llama', '/llama']) expect(modelName(none)).toBeUndefined()
  })
})

describe('a `traceparent`', () => {
  it('names a place, or none', () => {
    expect(spanContextOf(TRACEPARENT)).toMatchObject({ traceFlags: 1, isRemote: true })
    for (const none of [undefined, '', 'x', '00-0-0-01', TRACEPARENT.replace('b7', 'zz')])
      expect(spanContextOf(none)).toBeUndefined()
  })
})
