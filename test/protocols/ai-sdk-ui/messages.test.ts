import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Answer, InputRequest } from '../../../src/index.ts'
import { answersIn, waitingRunOf } from '../../../src/protocols/ai-sdk-ui/answers.ts'
import { historyOf, inputOf, parseChat, type UiMessage } from '../../../src/protocols/ai-sdk-ui/messages.ts'
import { parseConversation } from '../../../src/runs/input.ts'

const RUN = 'a2b4c6d8-0000-4000-8000-000000000001'

const word = fc.oneof(fc.string({ maxLength: 6 }), fc.constantFrom('c1', 'c2', 'add', ''))
const part = fc.oneof(
  fc.record({ type: fc.constantFrom('text', 'reasoning'), text: word }),
  fc.constant({ type: 'step-start' }),
  fc.record(
    {
      type: fc.constantFrom('dynamic-tool', 'tool-add', 'tool-', 'data-step'),
      toolName: word,
      toolCallId: word,
      state: fc.constantFrom('input-available', 'output-available', 'output-error', 'approval-responded'),
      input: fc.jsonValue(),
      output: fc.jsonValue(),
      errorText: word,
    },
    { requiredKeys: ['type', 'state'] },
  ),
  fc.record({
    type: fc.constant('file'),
    url: fc.constantFrom(
      'data:image/png;base64,AA==',
      'https://example.com/a.png',
      'data:text/plain,hi',
      'data:a/b;base64,',
    ),
    mediaType: fc.constantFrom('image/png', 'text/plain', 'text/plain; charset=utf-8', 'text', ''),
    filename: word,
  }),
  fc.dictionary(word, fc.jsonValue(), { maxKeys: 3 }),
)
const message = fc.record({
  id: fc.constantFrom('m1', 'm2', 'm3'),
  role: fc.constantFrom('system' as const, 'user' as const, 'assistant' as const),
  parts: fc.array(part, { maxLength: 8 }),
})

describe('the messages of a page', () => {
  it('are a history that a run takes, whatever their parts are', () => {
    fc.assert(
      fc.property(fc.array(message, { maxLength: 6 }), messages => {
        const { messages: parsed } = parseChat({ id: 'c', messages: [...messages, USER()] })
        const history = historyOf(parsed)
        expect(parseConversation({ history, memory: 'client' }).history).toEqual(
          JSON.parse(JSON.stringify(history)),
        )
      }),
    )
  })

  it('have a call of a step once, whatever the page says', () => {
    const call = { type: 'tool-add', toolCallId: 'c1', state: 'output-available', input: [1] }
    const parts = [
      { ...call, output: 3 },
      { ...call, output: 4 },
    ]
    const history = historyOf([{ id: 'a', role: 'assistant', parts }])
    expect(history).toEqual([
      { role: 'assistant', toolCalls: [{ toolCallId: 'c1', toolName: 'add', args: [1] }] },
      { role: 'tool', toolCallId: 'c1', toolName: 'add', result: 3 },
    ])
    expect(parseConversation({ history, memory: 'client' }).history).toEqual(history)
  })

  it('keep the text of each role, and calls only with their results', () => {
    const told = historyOf([
      { id: 'u', role: 'user', parts: [{ type: 'text', text: 'Sum?' }] },
      {
        id: 'a',
        role: 'assistant',
        parts: [
          { type: 'step-start' },
          { type: 'reasoning', text: 'hm' },
          { type: 'text', text: 'Let me see. ' },
          {
            type: 'dynamic-tool',
            toolName: 'add',
            toolCallId: 'c1',
            state: 'output-available',
            input: [1],
            output: 3,
          },
          { type: 'tool-ask', toolCallId: 'c2', state: 'input-available', input: {} },
          { type: 'step-start' },
          { type: 'text', text: '3' },
        ],
      },
    ])
    expect(told).toEqual([
      { role: 'user', content: 'Sum?' },
      {
        role: 'assistant',
        content: [{ type: 'text', text: 'Let me see. ' }],
        toolCalls: [{ toolCallId: 'c1', toolName: 'add', args: [1] }],
      },
      { role: 'tool', toolCallId: 'c1', toolName: 'add', result: 3 },
      { role: 'assistant', content: [{ type: 'text', text: '3' }] },
    ])
  })

  it('have files as the contract has them', () => {
    const file = (url: string, mediaType: string, filename?: string) => ({
      type: 'file',
      url,
      mediaType,
      filename,
    })
    const parts = [
      file('data:image/png;base64,AA==', 'image/png'),
      file('https://example.com/a.pdf', 'application/pdf', 'a.pdf'),
      file('https://example.com/a.txt', 'text/plain;charset=utf-8'),
      file('https://example.com/a', ''),
      file('data:text/plain;base64,', 'text/plain', 'empty.txt'),
      { type: 'text', text: 'What is it?' },
    ]
    expect(inputOf({ id: 'u', role: 'user', parts })).toEqual([
      { type: 'image', data: 'AA==', mimeType: 'image/png' },
      { type: 'file', data: 'https://example.com/a.pdf', mimeType: 'application/pdf', filename: 'a.pdf' },
      { type: 'file', data: 'https://example.com/a.txt', mimeType: 'text/plain' },
      { type: 'file', data: 'https://example.com/a', mimeType: 'application/octet-stream' },
      { type: 'text', text: 'What is it?' },
    ])
  })

  it.each([
    [undefined, 'must be a JSON object'],
    [{ messages: [USER()] }, '`id`'],
    [{ id: '', messages: [USER()] }, '`id` must not be empty'],
    [{ id: 'c', messages: [] }, '`messages` must have at least one message'],
    [
      { id: 'c', messages: [{ ...USER(), role: 'tool' }] },
      '`messages.0.role` must be system, user or assistant',
    ],
    [{ id: 'c', messages: [{ ...USER(), parts: ['x'] }] }, '`messages.0.parts.0` must be an object'],
    [{ id: 'c', messageId: 7, messages: [USER()] }, '`messageId` must be text'],
  ])('%j is refused, with the field', (body, text) => {
    expect(() => parseChat(body)).toThrow(text)
  })
})

function USER(): UiMessage {
  return { id: 'u', role: 'user', parts: [{ type: 'text', text: 'hi' }] }
}

const REQUESTS: readonly InputRequest[] = [
  {
    id: `${RUN}/refund`,
    kind: 'approval',
    toolCallId: 'c1',
    toolName: 'refund',
    args: { amount: 3 },
    digest: 'd',
  },
  { id: `${RUN}/size`, kind: 'question', message: 'Size?', digest: 'd' },
  { id: `${RUN}/client_tool:map`, kind: 'client_tool', toolCallId: 'c2', toolName: 'map', digest: 'd' },
]

function answered(...parts: UiMessage['parts']): UiMessage {
  return { id: RUN, role: 'assistant', parts }
}

/** Answers, none of which is an error of its own. */
function told(read: () => readonly Answer[]): readonly Answer[] {
  try {
    return read()
  } catch (error) {
    expect(error).toMatchObject({ code: 'request_not_found' })
    return []
  }
}

describe('the answers of a page', () => {
  it('are one for each kind of request', () => {
    const approval = { id: `${RUN}/refund`, approved: false, reason: 'Too much' }
    const parts = [
      {
        type: 'dynamic-tool',
        toolCallId: 'c1',
        state: 'approval-responded',
        input: { amount: 1000 },
        approval,
      },
      { type: 'tool-question', toolCallId: `${RUN}/size`, state: 'output-available', output: 'XL' },
      { type: 'tool-map', toolCallId: 'c2', state: 'output-error', errorText: 'No map' },
    ]
    expect(answersIn(answered(...parts), REQUESTS)).toEqual([
      { id: `${RUN}/refund`, decision: 'deny', reason: 'Too much' },
      { id: `${RUN}/size`, value: 'XL' },
      { id: `${RUN}/client_tool:map`, result: { error: 'No map' } },
    ])
  })

  it('never approve unless the page says exactly that, and never answer what was not asked', () => {
    const odd = fc.record({
      type: fc.constant('dynamic-tool'),
      toolCallId: fc.constantFrom('c1', 'c3'),
      state: fc.constantFrom('approval-responded', 'approval-requested', 'output-available'),
      approval: fc.oneof(
        fc.record({ id: fc.constantFrom(`${RUN}/refund`, `${RUN}/other`), approved: fc.jsonValue() }),
        fc.jsonValue(),
      ),
    })
    fc.assert(
      fc.property(fc.array(odd, { maxLength: 4 }), parts => {
        const answers = told(() => answersIn(answered(...parts), REQUESTS.slice(0, 1)))
        const isApproved = parts.some(
          ({ state, approval }) =>
            state === 'approval-responded' &&
            JSON.stringify(approval) === JSON.stringify({ id: `${RUN}/refund`, approved: true }),
        )
        for (const answer of answers) {
          expect(answer.id).toBe(`${RUN}/refund`)
          if ('decision' in answer && answer.decision === 'approve') expect(isApproved).toBe(true)
        }
      }),
    )
  })

  it('belong to the run that the message tells, else to that of its approvals, else to its first', () => {
    const other = RUN.replace('1', '2')
    const approval = { id: `${other}/x`, approved: true }
    const decided = { type: 'dynamic-tool', toolCallId: 'c', state: 'approval-responded', approval }
    expect(waitingRunOf({ ...answered(decided), metadata: { runId: RUN } })).toBe(RUN)
    expect(waitingRunOf(answered(decided))).toBe(other)
    expect(waitingRunOf(answered())).toBe(RUN)
    expect(() => waitingRunOf({ ...answered(), id: 'm1' })).toThrow('The message is none of a run that waits')
  })
})
