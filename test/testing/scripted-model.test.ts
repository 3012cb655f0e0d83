import * as ai from 'ai'
import * as ai5 from 'ai-sdk-5'
import * as ai6 from 'ai-sdk-6'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { type ScriptedTurn, scriptedModel } from '../../src/testing/index.ts'

const warn = vi.spyOn(console, 'warn')

beforeEach(() => warn.mockClear())
afterEach(() => expect(warn).not.toHaveBeenCalled())

const forecast = { inputSchema: ai.jsonSchema({ type: 'object' }), execute: async () => 'clear' }
const CALL: ScriptedTurn = { thinking: 'hm', toolCalls: [{ name: 'forecast', input: { city: 'Oslo' } }] }
const usage = { inputTokens: 3, outputTokens: 4 }

interface Kit {
  readonly generate: (prompt: string) => Promise<{ text: string; total: number | undefined }>
  readonly stream: (prompt: string) => Promise<string>
}

/** A version of the AI SDK with the same script. */
const KITS: readonly (readonly [string, () => Kit])[] = [
  [
    '7',
    () => {
      const model = scriptedModel([CALL, { text: 'It is clear.', usage }])
      const all = { model, tools: { forecast }, stopWhen: ai.isStepCount(5) }
      return {
        async generate(prompt) {
          const { text, steps } = await ai.generateText({ ...all, prompt })
          return { text, total: steps.at(-1)?.usage.totalTokens }
        },
        stream: async prompt => await ai.streamText({ ...all, prompt }).text,
      }
    },
  ],
  [
    '6',
    () => {
      const model = scriptedModel([CALL, { text: 'It is clear.', usage }])
      const tools = { forecast: { ...forecast, inputSchema: ai6.jsonSchema({ type: 'object' }) } }
      const all = { model, tools, stopWhen: ai6.stepCountIs(5) }
      return {
        async generate(prompt) {
          const { text, steps } = await ai6.generateText({ ...all, prompt })
          return { text, total: steps.at(-1)?.usage.totalTokens }
        },
        stream: async prompt => await ai6.streamText({ ...all, prompt }).text,
      }
    },
  ],
  [
    '5',
    () => {
      const model = scriptedModel([CALL, { text: 'It is clear.', usage }], { version: 'v2' })
      const tools = { forecast: { ...forecast, inputSchema: ai5.jsonSchema({ type: 'object' }) } }
      const all = { model, tools, stopWhen: ai5.stepCountIs(5) }
      return {
        async generate(prompt) {
          const { text, steps } = await ai5.generateText({ ...all, prompt })
          return { text, total: steps.at(-1)?.usage.totalTokens }
        },
        stream: async prompt => await ai5.streamText({ ...all, prompt }).text,
      }
    },
  ],
]

describe.each(KITS)('a scripted model in the AI SDK %s', (_, kitOf) => {
  it('answers, and calls tools', async () => {
    const { generate, stream } = kitOf()
    expect(await generate('Oslo?')).toEqual({ text: 'It is clear.', total: 7 })
    expect(await stream('Oslo?')).toBe('It is clear.')
  })
})

describe('a scripted model', () => {
  const ask = (model: ai.LanguageModel, prompt = 'Hello') =>
    ai.generateText({ model, prompt, maxRetries: 1, stopWhen: ai.isStepCount(5), tools: { forecast } })

  it('plays its list for each conversation', async () => {
    const model = scriptedModel(['One', 'Two'])
    expect((await ask(model)).text).toBe('One')
    expect((await ask(model)).text).toBe('One')
    const messages: ai.ModelMessage[] = [
      { role: 'user', content: 'Hello' },
      { role: 'assistant', content: 'One' },
      { role: 'user', content: 'And?' },
    ]
    expect((await ai.generateText({ model, messages })).text).toBe('Two')
    expect(model.calls.map(({ text, call }) => [text, call])).toEqual([
      ['Hello', 0],
      ['Hello', 1],
      ['And?', 2],
    ])
  })

  it('says when its list has ended', async () => {
    await expect(ask(scriptedModel([CALL]))).rejects.toThrow(
      'The script of the model has ended: it has 1 answers, and this is the call for answer 2',
    )
    await expect(ask(scriptedModel([]))).rejects.toThrow('it has 0 answers')
  })

  it('fails as providers do', async () => {
    expect((await ask(scriptedModel([{ error: { status: 429 } }, 'Now']))).text).toBe('Now')
    await expect(ask(scriptedModel([{ error: { status: 400, message: 'bad' } }, 'Now']))).rejects.toThrow(
      'bad',
    )
    await expect(ask(scriptedModel([{ error: 'down' }]))).rejects.toThrow('down')
    await expect(ask(scriptedModel([{ error: new TypeError('own') }]))).rejects.toThrow('own')
    const model = scriptedModel([{ text: 'half', error: 'cut' }])
    const errors: unknown[] = []
    const result = ai.streamText({ model, prompt: 'x', onError: ({ error }) => void errors.push(error) })
    const said: string[] = []
    for await (const text of result.textStream) said.push(text)
    expect([said.join(''), String(errors[0])]).toEqual(['half', 'Error: cut'])
  })

  it('is asked, as a function, with what it needs', async () => {
    const model = scriptedModel(async ({ results, tools }) => {
      if (results.length === 0) return CALL
      return JSON.stringify([results, tools.map(({ name }) => name)])
    })
    expect((await ask(model)).text).toBe('[[{"name":"forecast","output":"clear"}],["forecast"]]')
  })

  it('waits, unless its caller leaves', async () => {
    const model = scriptedModel([{ text: 'Late', delayMs: 60_000 }])
    const leaving = AbortSignal.timeout(10)
    await expect(ai.generateText({ model, prompt: 'x', abortSignal: leaving })).rejects.toThrow()
  })

  it('remembers the newest 100 calls', async () => {
    const model = scriptedModel(({ call }) => `${call}`)
    for (let calls = 0; calls < 120; calls++) await ask(model)
    expect(model.calls.map(({ call }) => call)).toEqual(Array.from({ length: 100 }, (_, place) => place + 20))
  })

  it('streams every text whole', async () => {
    const texts = fc.oneof(
      fc.string({ unit: 'binary', minLength: 1 }),
      fc.array(fc.string(), { minLength: 1 }),
    )
    await fc.assert(
      fc.asyncProperty(texts, async text => {
        const result = ai.streamText({ model: scriptedModel([{ text }]), prompt: 'x' })
        expect(await result.text).toBe(typeof text === 'string' ? text : text.join(''))
      }),
      { numRuns: 50 },
    )
  })
})
