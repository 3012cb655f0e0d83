/**
 * A conversation that waits for answers, stored as JSON with its run.
 *
 * @module
 */

import type { ModelMessage } from 'ai'
import type { InputRequest } from '../../agents/contract.ts'
import { ServableError } from '../../base/errors.ts'
import type { OpenCall } from './calls.ts'
import { readMessages } from './history.ts'
import { toKept as withoutFiles } from './messages.ts'
import type { PlannedCall } from './rounds.ts'

/** A call that waits for an answer. */
export interface WaitingCall {
  readonly call: OpenCall
  readonly request: InputRequest
  /** Of a call that was cut off: what it has when it is done again. */
  readonly again?: Pick<PlannedCall, 'idempotencyKey' | 'attempt'>
}

/** All messages for the model, and the calls that wait. */
export interface ModelConversation {
  /** Earlier turns. */
  readonly turns: readonly (readonly ModelMessage[])[]
  /** The user's message, and the messages after it. */
  readonly turn: readonly ModelMessage[]
  readonly waiting: readonly WaitingCall[]
}

/** The most characters to store. */
const MAX_LENGTH = 1024 * 1024

/**
 * The conversation to store. If it is too long, large files are only named and the oldest turns are left out. Throws
 * `run_too_large` if its last turn alone is too long.
 */
export function toKept({ turns, turn, waiting }: ModelConversation): unknown {
  const whole = JSON.stringify({ turns: turns.map(addressed), turn: addressed(turn), waiting })
  if (whole.length <= MAX_LENGTH) return JSON.parse(whole)
  const own = { turn: turn.map(withoutFiles), waiting }
  let left = MAX_LENGTH - JSON.stringify({ turns: [], ...own }).length
  if (left < 0)
    throw new ServableError('run_too_large', `A run that waits keeps at most ${MAX_LENGTH} characters`)
  const newest: string[] = []
  for (const earlier of turns.toReversed()) {
    const text = JSON.stringify(earlier.map(withoutFiles))
    left -= text.length + 1
    if (left < 0) break
    newest.unshift(text)
  }
  return JSON.parse(JSON.stringify({ turns: newest.map(text => JSON.parse(text) as unknown), ...own }))
}

/** Replaces URL objects by text, for JSON. */
function addressed(messages: readonly ModelMessage[]): readonly ModelMessage[] {
  return messages.map(message => {
    if (message.role !== 'user' || typeof message.content === 'string') return message
    const content = message.content.map(part =>
      part.type === 'file' && part.data instanceof URL ? { ...part, data: part.data.href } : part,
    )
    return { role: 'user', content }
  })
}

/** Reads the stored conversation; undefined if there is none. Throws `code_changed` for another agent's. */
export function fromKept(kept: unknown): ModelConversation | undefined {
  if (kept === undefined) return undefined
  const { turns, turn, waiting } = Object(kept) as Readonly<Record<string, unknown>>
  const earlierTurns = listOf(turns)?.map(earlier => readMessages(listOf(earlier) ?? [earlier]))
  const last = readMessages(listOf(turn) ?? [turn])
  const waits = listOf(waiting)
  if (earlierTurns === undefined || last === undefined || !waits?.every(isWaiting)) throw changed()
  return {
    turns: earlierTurns.flatMap(earlier => (earlier === undefined ? [] : [earlier])),
    turn: last,
    waiting: waits,
  }
}

function listOf(value: unknown): readonly unknown[] | undefined {
  return Array.isArray(value) ? value : undefined
}

function isWaiting(value: unknown): value is WaitingCall {
  const { call, request } = Object(value) as Readonly<Record<string, unknown>>
  const { toolCallId, toolName } = Object(call) as Readonly<Record<string, unknown>>
  const { id, kind } = Object(request) as Readonly<Record<string, unknown>>
  return [toolCallId, toolName, id, kind].every(text => typeof text === 'string')
}

function changed(): ServableError {
  return new ServableError('code_changed', 'The run that waited was not of this agent')
}
