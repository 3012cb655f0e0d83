/**
 * Reads the stored messages of a session for a model. Other programs may have written there, so every message is checked.
 *
 * @module
 */

import { type ModelMessage, modelMessageSchema } from 'ai'
import { isData, toData } from './messages.ts'

/**
 * The messages of a session by turns. A turn is a user's message and the messages that follow it. Messages before the first
 * turn are left out, since they may answer a message that is gone. A turn that a provider would refuse is left out too.
 */
export function toHistory(kept: readonly unknown[]): ModelMessage[][] {
  const turns: unknown[][] = []
  for (const message of kept) {
    if (Object(message).role === 'user') turns.push([message])
    else turns.at(-1)?.push(message)
  }
  return turns.flatMap(turn => (turn.every(isMessage) && isWhole(turn) ? [turn.map(withAddresses)] : []))
}

/** Reads stored messages; undefined if one of them is invalid. */
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

/** Whether each tool call has its result, and each result its call. */
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

/** Restores URLs, which JSON stores as text. */
function withAddresses(message: ModelMessage): ModelMessage {
  if (message.role !== 'user' || typeof message.content === 'string') return message
  const content = message.content.map(part =>
    part.type === 'file' && typeof part.data === 'string'
      ? { ...part, data: toData({ data: part.data }) }
      : part,
  )
  return { role: 'user', content }
}
