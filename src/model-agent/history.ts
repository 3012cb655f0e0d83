/**
 * What a session holds, as a model is told it again. Other programs may have written there, so everything is looked at.
 *
 * @module
 */

import { type ModelMessage, modelMessageSchema } from 'ai'
import { isData, toData } from './messages.ts'

/**
 * The messages of a session by turns: something that a user said, and what came of it. Left out is what is before the first
 * turn, since it may answer something that has left, and a turn that no provider would take.
 */
export function toHistory(kept: readonly unknown[]): ModelMessage[][] {
  const turns: unknown[][] = []
  for (const message of kept) {
    if (Object(message).role === 'user') turns.push([message])
    else turns.at(-1)?.push(message)
  }
  return turns.flatMap(turn => (turn.every(isMessage) && isWhole(turn) ? [turn.map(withAddresses)] : []))
}

/** Messages as they were kept; undefined where one of them is none. */
export function readMessages(kept: readonly unknown[]): ModelMessage[] | undefined {
  return kept.every(isMessage) ? kept.map(withAddresses) : undefined
}

function isMessage(value: unknown): value is ModelMessage {
  const { success, data } = modelMessageSchema.safeParse(value)
  return success && data.role !== 'system' && hasData(data)
}

function hasData({ role, content }: ModelMessage): boolean {
  if (role !== 'user' || typeof content === 'string') return true
  return content.every(part => part.type !== 'file' || typeof part.data !== 'string' || isData(part.data))
}

/** Whether each call of a tool has its result, and each result its call. */
function isWhole(turn: readonly ModelMessage[]): boolean {
  const calls = new Set<string>()
  const results = new Set<string>()
  for (const { role, content } of turn) {
    if (typeof content === 'string') continue
    for (const part of content) {
      if (part.type === 'tool-call' && part.providerExecuted !== true) calls.add(part.toolCallId)
      if (part.type === 'tool-result' && role === 'tool') results.add(part.toolCallId)
    }
  }
  return calls.size === results.size && [...calls].every(id => results.has(id))
}

/** JSON knows no URL. */
function withAddresses(message: ModelMessage): ModelMessage {
  if (message.role !== 'user' || typeof message.content === 'string') return message
  const content = message.content.map(part =>
    part.type === 'file' && typeof part.data === 'string'
      ? { ...part, data: toData({ data: part.data }) }
      : part,
  )
  return { role: 'user', content }
}
