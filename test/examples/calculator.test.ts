import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { withoutNoise } from '../../examples/agents/arithmetic.ts'
import { calculator } from '../../examples/agents.ts'
import { createHandler } from '../../src/index.ts'
import { reckon, tree, writeWith } from './expression-tree.ts'
import { pieces, run, stream } from './served.ts'

describe('calculator', () => {
  it('answers by a call of its tool', async () => {
    const result = await run('agents/calculator', 'what is 3*(4+5) - 2^3?')
    expect(result.text).toBe('3*(4+5) - 2^3 = 19')
    expect(result.toolCalls).toEqual([
      {
        toolCallId: expect.any(String),
        toolName: 'calculate',
        args: { expression: '3*(4+5) - 2^3' },
        result: 19,
      },
    ])
  })

  it('tells the call before the answer', async () => {
    const events = await stream('agents/calculator', '12 % of 50')
    expect(events.map(({ type }) => type)).toEqual([
      'tool_call_start',
      'tool_call_delta',
      'tool_call_ready',
      'tool_call_end',
      'text',
      'finish',
    ])
  })

  it('calls once for each expression and answers each on a line', async () => {
    const message = '1+1, 2*3 and then 2^64'
    const result = await run('agents/calculator', message)
    expect(result.text).toBe('1+1 = 2\n2*3 = 6\n2^64 ≈ 18446744073709552000')
    expect(result.toolCalls.map(call => call.result)).toEqual([2, 6, 2 ** 64])
    expect(pieces(await stream('agents/calculator', message))).toHaveLength(3)
  })

  it('tells what cannot be calculated, as an error of the tool and in words, and goes on', async () => {
    const result = await run('agents/calculator', '1/0, 3 + * 4, 2+2')
    expect(result.text.split('\n')).toEqual([
      '1/0 cannot be calculated: it divides by zero',
      '3 + * 4 cannot be calculated: a number is missing before `*`',
      '2+2 = 4',
    ])
    expect(result.toolCalls.map(call => call.error ?? call.result)).toEqual([
      'it divides by zero',
      'a number is missing before `*`',
      4,
    ])
    expect(result.finishReason).toBe('stop')
  })

  it('gives its reason in production too', async () => {
    const handler = createHandler({ serve: [calculator], registry: false, production: true, logger: false })
    const body = JSON.stringify({ input: '1/0' })
    const headers = { 'content-type': 'application/json' }
    const response = await handler(
      new Request('http://localhost/api/agents/calculator/run', { method: 'POST', headers, body }),
    )
    expect(await response.json()).toMatchObject({ text: '1/0 cannot be calculated: it divides by zero' })
  })

  it.each(['hello', 'It grew by 5% in 2020.'])('says that %j holds no arithmetic', async message => {
    const result = await run('agents/calculator', message)
    expect(result).toMatchObject({ text: expect.stringContaining('no arithmetic'), toolCalls: [] })
  })

  it('answers fifty expressions at the most and says so', async () => {
    const result = await run('agents/calculator', '1+1\n'.repeat(60))
    expect(result.toolCalls).toHaveLength(50)
    expect(result.text).toMatch(/\n10 more expressions were left out: 50 are the most of one message\.$/)
  })

  it('counts the words of question and answer', async () => {
    expect((await run('agents/calculator', 'what is 1 + 2')).usage).toEqual({
      promptTokens: 4,
      completionTokens: 3,
      totalTokens: 7,
    })
  })

  it('agrees with a reference over random expressions', async () => {
    await fc.assert(
      fc.asyncProperty(tree, fc.infiniteStream(fc.nat(9)), async (expression, dice) => {
        const text = `0 + (${writeWith(expression, dice)})`
        const value = 0 + reckon(expression)
        fc.pre(text.length <= 1000)
        const { toolCalls } = await calculator.run(`what is ${text}?`)
        expect(toolCalls).toHaveLength(1)
        if (Number.isFinite(value)) expect(toolCalls[0]?.result).toBe(withoutNoise(value))
        else expect(toolCalls[0]?.error).toBeTypeOf('string')
      }),
    )
  })

  it('ends any message with one finish', async () => {
    const message = fc.string({ unit: fc.constantFrom(...'12 .,+-*/%^()\nax') }).filter(text => text !== '')
    await fc.assert(
      fc.asyncProperty(message, async text => {
        const events = await stream('agents/calculator', text)
        expect(events.filter(({ type }) => type === 'finish' || type === 'error')).toEqual([
          expect.objectContaining({ type: 'finish' }),
        ])
      }),
    )
  })

  it('refuses arguments without an expression', () => {
    const tool = calculator.tools[0]
    const { signal } = new AbortController()
    const context = { runId: 'r', toolCallId: 't', idempotencyKey: 'r/calculate', attempt: 1, signal }
    for (const args of [undefined, null, 'x', {}, { expression: 1 }]) {
      expect(() => tool?.execute(args, context)).toThrow('`expression` must be text')
    }
  })
})
