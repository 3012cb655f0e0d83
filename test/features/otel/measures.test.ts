import { describe, expect, it } from 'vitest'
import { modelName, providerName } from '../../../src/features/otel/conventions.ts'
import { spanContextOf } from '../../../src/features/otel/trace-context.ts'
import { Agent, type Usage } from '../../../src/index.ts'
import { TRACEPARENT, traced } from './kit.ts'

const usage: Usage = { promptTokens: 5, completionTokens: 7, totalTokens: 12 }

describe('metrics', () => {
  it('have the buckets and units of the conventions', async () => {
    const speaker = new Agent({ name: 'speaker', register: false, run: () => ({ text: 'hi', usage }) })
    const { run, series } = traced([speaker])
    await run('agents/speaker', { input: 'hi', sessionId: 'never-told' })
    const found = await series()
    expect(found.map(({ name, unit }) => [name, unit])).toEqual([
      ['gen_ai.client.operation.duration', 's'],
      ['gen_ai.client.token.usage', '{token}'],
      ['gen_ai.client.token.usage', '{token}'],
      ['gen_ai.client.operation.time_to_first_chunk', 's'],
    ])
    expect(found[0]?.boundaries.slice(0, 3)).toEqual([0.01, 0.02, 0.04])
    expect(found[1]).toMatchObject({
      attributes: { 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.token.type': 'input' },
      sum: 5,
    })
    expect(JSON.stringify(found)).not.toMatch(/never-told|speaker/)
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
    const tokens = (await series()).filter(({ name }) => name === 'gen_ai.client.token.usage')
    const told = tokens.map(({ attributes, sum }) => [
      ...['operation.name', 'provider.name', 'request.model', 'token.type'].map(
        name => attributes[`gen_ai.${name}`],
      ),
      sum,
    ])
    expect(told).toEqual([
      ['chat', 'openai', 'a', 'input', 5],
      ['chat', 'openai', 'a', 'output', 7],
      ['invoke_agent', 'openai', 'a', 'input', 5],
      ['invoke_agent', 'openai', 'a', 'output', 7],
      ['invoke_agent', 'mistral_ai', 'b', 'input', 5],
      ['invoke_agent', 'mistral_ai', 'b', 'output', 7],
    ])
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
    const chats = (await series()).filter(({ attributes }) => attributes['gen_ai.operation.name'] === 'chat')
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
