import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  clean,
  cleanJson,
  inputMessages,
  MAX_CONTENT,
  OutputText,
} from '../../../src/features/otel/contents.ts'
import { Agent, ServableError, textOf, tool } from '../../../src/index.ts'
import { traced } from './kit.ts'

const KEY = 'sk-canary-0123456789'
const leak = tool({ name: 'leak', execute: args => ({ told: args }) })
const gossip = new Agent({
  name: 'gossip',
  register: false,
  tools: [leak],
  async *run(input, { callTool, apiKey }) {
    yield* callTool(leak, { key: apiKey, said: textOf(input) })
    // A key that comes in two pieces.
    yield `${apiKey?.slice(0, 9)}`
    yield `${apiKey?.slice(9)} is the key`
  },
})
const fails = new Agent({
  name: 'fails',
  register: false,
  run(input, { apiKey }) {
    throw new ServableError('invalid_input', `${textOf(input)} ${apiKey}`)
  },
})
const said = 'what was said'

describe('without `contents`', () => {
  it('nothing that was said is told', async () => {
    const { run, spans } = traced([gossip, fails])
    await run('agents/gossip', { input: said, apiKey: KEY })
    await run('agents/fails', { input: said, apiKey: KEY })
    const told = JSON.stringify(
      spans().map(({ name, attributes, status, events }) => [name, attributes, status, events]),
    )
    expect(told).toContain('execute_tool leak')
    expect(told).not.toMatch(/what was said|is the key|canary/)
  })
})

describe('with `contents`', () => {
  it('what was said is told in the form of the conventions, without keys', async () => {
    const { run, span } = traced([gossip, fails], { otel: { contents: true } })
    await run('agents/gossip', { input: [{ type: 'text', text: said }], apiKey: KEY })
    await run('agents/fails', { input: said, apiKey: KEY })
    const { attributes } = span('invoke_agent gossip')
    expect(JSON.parse(String(attributes['gen_ai.input.messages']))).toEqual([
      { role: 'user', parts: [{ type: 'text', content: said }] },
    ])
    const [output] = JSON.parse(String(attributes['gen_ai.output.messages']))
    expect(output).toEqual({
      role: 'assistant',
      parts: [{ type: 'text', content: expect.stringMatching(/ is the key$/) }],
    })
    const call = span('execute_tool leak').attributes
    expect(JSON.parse(String(call['gen_ai.tool.call.arguments']))).toMatchObject({ said })
    expect(JSON.parse(String(call['gen_ai.tool.call.result']))).toMatchObject({ told: { said } })
    expect(span('invoke_agent fails').status.message).toContain(said)
    const told = JSON.stringify([attributes, call, span('invoke_agent fails').status])
    expect(told).not.toContain('canary')
  })

  it('what is too long is cut', async () => {
    const { run, span } = traced([gossip], { otel: { contents: true } })
    await run('agents/gossip', { input: 'x'.repeat(MAX_CONTENT * 3) })
    const { attributes } = span('invoke_agent gossip')
    const [{ parts }] = JSON.parse(String(attributes['gen_ai.input.messages']))
    expect(parts[0].content).toBe('x'.repeat(MAX_CONTENT))
    expect(String(span('execute_tool leak').attributes['gen_ai.tool.call.result']).length).toBe(MAX_CONTENT)
  })
})

describe('a text that is cut', () => {
  const redact = (text: string) => text.replaceAll(KEY, '[key]')

  it('has no piece of a key, wherever it is', () => {
    fc.assert(
      fc.property(fc.nat(80), fc.nat(80), (before, max) => {
        const text = clean('x'.repeat(before) + KEY, redact, max)
        expect(text.length).toBeLessThanOrEqual(max)
        expect(text).not.toContain('sk-')
      }),
    )
  })

  it('has none at its end either, where keys before it are shorter without themselves', () => {
    fc.assert(
      fc.property(fc.nat(40), fc.nat(200), (shift, max) => {
        const text = 'x'.repeat(shift) + KEY.repeat(400)
        expect(clean(text, redact, max)).not.toMatch(/sk|canary/)
        const said = new OutputText()
        for (let at = 0; at < text.length * 10; at += 1000) said.add(text.repeat(10).slice(at, at + 1000))
        expect(said.message(redact)).not.toMatch(/sk|canary/)
      }),
      { numRuns: 30 },
    )
  })

  it('of pieces has none either', () => {
    fc.assert(
      fc.property(fc.nat(60), fc.nat(KEY.length), (back, cut) => {
        const text = new OutputText()
        text.add('x'.repeat(MAX_CONTENT - back))
        text.add(KEY.slice(0, cut))
        text.add(KEY.slice(cut))
        const [{ parts }] = JSON.parse(text.message(redact))
        expect(parts[0].content.length).toBeLessThanOrEqual(MAX_CONTENT)
        expect(parts[0].content).not.toContain('sk-')
      }),
    )
  })

  it('is there for whatever a tool gives', () => {
    const deep: unknown[] = []
    let at = deep
    for (let depth = 0; depth < 100_000; depth++) {
      const inner: unknown[] = []
      at.push(inner)
      at = inner
    }
    const cyclic: Record<string, unknown> = {}
    cyclic.self = cyclic
    for (const value of [deep, cyclic, 1n, undefined, () => 1])
      expect(cleanJson(value, redact)).toBeUndefined()
  })

  it('of a message tells files without their data', () => {
    const messages = inputMessages(
      [
        { type: 'image', data: 'aGk=', mimeType: 'image/png' },
        { type: 'file', data: 'aGk=', mimeType: 'text/plain', filename: 'a' },
        { type: 'data', data: { a: KEY } },
      ],
      redact,
    )
    expect(JSON.parse(messages)).toEqual([
      {
        role: 'user',
        parts: [
          { type: 'generic', generic_type: 'image', mime_type: 'image/png' },
          { type: 'generic', generic_type: 'file', mime_type: 'text/plain' },
          { type: 'generic', generic_type: 'data', content: '{"a":"[key]"}' },
        ],
      },
    ])
  })
})
