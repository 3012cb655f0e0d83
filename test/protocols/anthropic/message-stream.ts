/** Reads a stream of Messages as strict clients do. */
import { expect } from 'vitest'

/** A message as its stream tells it. */
export interface StreamedMessage {
  readonly content: Record<string, unknown>[]
  readonly stop_reason?: string | null
  readonly usage?: object
  /** The error that ended the stream. */
  readonly error?: { readonly type: string; readonly message: string }
}

interface Frame {
  readonly type: string
  readonly index?: number
  // biome-ignore lint/suspicious/noExplicitAny: what an event has depends on its type
  readonly [member: string]: any
}

/** The events of a stream. Each has its type as its name. Comments are left out. */
export function framesIn(text: string): Frame[] {
  return text
    .split('\n\n')
    .filter(block => block !== '' && !block.startsWith(':'))
    .map(block => {
      const [, event, data] = /^event: (\w+)\ndata: (.*)$/s.exec(block) ?? expect.unreachable(block)
      const frame = JSON.parse(data ?? '')
      expect(frame.type).toBe(event)
      return frame
    })
}

const DELTAS: Readonly<Record<string, (block: Record<string, unknown>, delta: Frame) => object>> = {
  text_delta: ({ text: before }, { text }) => ({ text: `${before}${text}` }),
  thinking_delta: ({ thinking: before }, { thinking }) => ({ thinking: `${before}${thinking}` }),
  signature_delta: (_, { signature }) => ({ signature }),
  input_json_delta: (_, { partial_json }) => ({ input: JSON.parse(partial_json) }),
}

/** Puts the message together, and checks the order of events. */
export function readMessage(text: string): StreamedMessage {
  const [start, ...frames] = framesIn(text).filter(({ type }) => type !== 'ping')
  expect(start).toMatchObject({
    type: 'message_start',
    message: { type: 'message', role: 'assistant', content: [], stop_reason: null, usage: expect.anything() },
  })
  const content: Record<string, unknown>[] = []
  let open = false
  const last = frames.pop()
  if (last?.type === 'error') {
    for (const frame of frames) open = take(content, frame, open)
    return { content, error: last.error }
  }
  expect(last).toEqual({ type: 'message_stop' })
  const delta = frames.pop()
  expect(delta).toMatchObject({ type: 'message_delta', usage: { output_tokens: expect.any(Number) } })
  for (const frame of frames) open = take(content, frame, open)
  expect(open).toBe(false)
  return { content, usage: delta?.usage, ...delta?.delta }
}

/** Takes an event of a block. Returns whether a block is open then. */
function take(
  content: Record<string, unknown>[],
  { type, index, content_block, delta }: Frame,
  open: boolean,
): boolean {
  switch (type) {
    case 'content_block_start':
      expect([open, index]).toEqual([false, content.length])
      content.push({ ...content_block })
      return true
    case 'content_block_delta':
      expect([open, index]).toEqual([true, content.length - 1])
      Object.assign(content.at(-1)!, DELTAS[delta.type]?.(content.at(-1)!, delta))
      return true
    default:
      expect([type, open, index]).toEqual(['content_block_stop', true, content.length - 1])
      return false
  }
}

/** The text of a message. */
export function textOf(content: readonly Record<string, unknown>[]): string {
  return content.map(({ type, text }) => (type === 'text' ? text : '')).join('')
}
