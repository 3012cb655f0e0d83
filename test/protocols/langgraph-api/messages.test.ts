/** What clients of LangGraph send as messages and as decisions. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { InputRequest } from '../../../src/index.ts'
import { checkpointIdOf } from '../../../src/protocols/langgraph-api/ids.ts'
import { answersIn, interruptsOf } from '../../../src/protocols/langgraph-api/interrupts.ts'
import { humanMessage, inputIn, messagesIn } from '../../../src/protocols/langgraph-api/messages.ts'

const read = (messages: unknown) =>
  messagesIn({ messages }, 'input').map(({ role, id, content }) => ({ role, id, content }))

describe('messages of a client', () => {
  it('are read in each form that LangChain has', () => {
    const user = { role: 'user', id: undefined, content: 'hi' }
    for (const form of [
      'hi',
      ['user', 'hi'],
      { type: 'human', content: 'hi' },
      { role: 'user', content: 'hi' },
    ]) {
      expect(read([form])).toEqual([user])
      expect(read(form)).toEqual([user])
    }
    expect(
      read([
        { type: 'HumanMessageChunk', id: 'a', content: [] },
        { type: 'ai', role: 'assistant', content: '' },
      ]),
    ).toMatchObject([{ role: 'user', id: 'a' }, { role: 'assistant' }])
  })

  it('that are something else are refused, with the field', () => {
    for (const [messages, field] of [
      [[{ type: 'alien' }], 'input.messages.0.type'],
      [[3], 'input.messages.0'],
      [[{ type: 'toString' }], 'input.messages.0.type'],
      [[{ type: 'human', id: 'x'.repeat(501) }], 'input.messages.0.id'],
      [Array(10_001).fill('x'), 'input.messages'],
    ] as const) {
      expect(() => read(messages)).toThrow(`\`${field}\``)
    }
    expect(() => messagesIn([], 'input')).toThrow('`input`')
  })

  it('have files by an address or as base64', () => {
    const png = 'data:image/png;base64,AAAA'
    expect(
      inputIn([
        { type: 'text', text: 'see' },
        { type: 'image_url', image_url: { url: png } },
      ]),
    ).toEqual([
      { type: 'text', text: 'see' },
      { type: 'image', data: 'AAAA', mimeType: 'image/png' },
    ])
    const file = {
      source_type: 'base64',
      data: 'AAAA',
      mime_type: 'application/pdf',
      metadata: { filename: 'a.pdf' },
    }
    expect(inputIn([{ type: 'file', ...file }])).toEqual([
      { type: 'file', data: 'AAAA', mimeType: 'application/pdf', filename: 'a.pdf' },
    ])
    expect(inputIn([{ type: 'image', source_type: 'url', url: 'https://x.example/a.png' }])).toMatchObject([
      { type: 'image', data: 'https://x.example/a.png' },
    ])
  })

  it('that were shown are read as what they were', () => {
    const part = fc.oneof(
      fc.record({ type: fc.constant('text' as const), text: fc.string() }),
      fc.record({
        type: fc.constant('image' as const),
        data: fc.base64String({ minLength: 4 }),
        mimeType: fc.constant('image/png'),
      }),
      fc.record({
        ...{ type: fc.constant('file' as const), data: fc.base64String({ minLength: 4 }) },
        ...{ mimeType: fc.constant('application/pdf'), filename: fc.constant('a.pdf') },
      }),
    )
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.array(part, { minLength: 2 })), input => {
        expect(inputIn(humanMessage('h', input).content)).toEqual(input)
      }),
    )
  })

  it('never make it throw anything but a refusal', () => {
    fc.assert(
      fc.property(fc.jsonValue(), value => {
        try {
          for (const { content } of messagesIn(value, 'input')) inputIn(content)
        } catch (error) {
          expect(error).toHaveProperty('code', 'invalid_body')
        }
      }),
      { numRuns: 500 },
    )
  })
})

const approval = (id: string, toolName: string): InputRequest => ({
  id,
  kind: 'approval',
  toolName,
  args: {},
  digest: 'd',
})
const question: InputRequest = {
  id: 'r/size',
  kind: 'question',
  message: 'Which?',
  schema: { enum: ['S'] },
  digest: 'd',
}

describe('answers of a client', () => {
  const requests = [approval('r/a', 'pay'), approval('r/b', 'send'), question]
  const [both] = interruptsOf('r', requests)
  const answers = (resume: unknown, asked = requests) => answersIn(resume, { id: 'r', requests: asked })

  it('are decisions in their order, and values by their interrupts', () => {
    expect(interruptsOf('r', requests).map(({ value }) => Object.keys(value))).toEqual([
      ['action_requests', 'review_configs'],
      ['question', 'options', 'schema'],
    ])
    const edit = { type: 'edit', edited_action: { name: 'send', args: { to: 'b' } } }
    expect(
      answers({ [both!.id]: { decisions: [{ type: 'reject', message: 'no' }, edit] }, 'r/size': 'S' }),
    ).toMatchObject([
      { id: 'r/a', decision: 'deny', reason: 'no' },
      { id: 'r/b', decision: 'approve', editedArgs: { to: 'b' } },
      { id: 'r/size', value: 'S' },
    ])
    expect(() => answers('S')).toThrow('command.resume')
  })

  it.each([
    [{ decisions: [{ type: 'approve' }] }, 'approve'],
    [[{ type: 'accept' }], 'approve'],
    ['approve', 'approve'],
    [true, 'approve'],
    [{ type: 'ignore' }, 'deny'],
    [[{ type: 'response', args: 'no' }], 'deny'],
    [false, 'deny'],
  ])('%j is %s', (resume, decision) => {
    expect(answers(resume, [approval('r/a', 'pay')])).toMatchObject([{ id: 'r/a', decision }])
  })

  it('that decide nothing approve nothing', () => {
    for (const resume of ['yes', {}, null, 1, { decisions: [] }, { decisions: [{}] }, [{ type: 'edit' }]]) {
      expect(() => answers(resume, [approval('r/a', 'pay')])).toThrow('command.resume')
    }
  })
})

it('ids of checkpoints are UUIDs that have the order of their times', () => {
  fc.assert(
    fc.property(fc.nat({ max: 2 ** 45 }), fc.nat({ max: 2 ** 45 }), fc.string(), (a, b, of) => {
      const [one, other] = [checkpointIdOf(a, 1, of), checkpointIdOf(b, 0, crypto.randomUUID())]
      expect(one).toMatch(/^[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-8[\da-f]{3}-[\da-f]{12}$/)
      if (a !== b) expect(one < other).toBe(a < b)
    }),
  )
})
