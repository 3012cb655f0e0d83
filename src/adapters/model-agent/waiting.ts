/**
 * A conversation that waits for answers, as JSON that is kept with its run.
 *
 * @module
 */

import type { ModelMessage } from 'ai'
import type { InputRequest } from '../../agents/contract.ts'
import { ServableError } from '../../base/errors.ts'
import type { OpenCall } from './calls.ts'
import { readMessages } from './history.ts'
import { toKept as withoutFiles } from './messages.ts'

/** A call that waits for an answer. */
export interface Waiting {
  readonly call: OpenCall
  readonly request: InputRequest
}

/** All that a model is told, and what it waits for. */
export interface Conversation {
  /** Earlier turns. */
  readonly turns: readonly (readonly ModelMessage[])[]
  /** The user's message, and what came of it so far. */
  readonly turn: readonly ModelMessage[]
  readonly waiting: readonly Waiting[]
}

/** Characters of what is kept. */
const MAX_LENGTH = 1024 * 1024

/**
 * What is kept of a conversation. Of one that is too long, large files are only named and the oldest turns are left out. Throws
 * `run_too_large` where its last turn alone is too long.
 */
export function toKept({ turns, turn, waiting }: Conversation): unknown {
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

/** JSON knows no URL. */
function addressed(messages: readonly ModelMessage[]): readonly ModelMessage[] {
  return messages.map(message => {
    if (message.role !== 'user' || typeof message.content === 'string') return message
    const content = message.content.map(part =>
      part.type === 'file' && part.data instanceof URL ? { ...part, data: part.data.href } : part,
    )
    return { role: 'user', content }
  })
}

/** The conversation that was kept; undefined where nothing was. Throws `code_changed` for what another agent kept. */
export function fromKept(kept: unknown): Conversation | undefined {
  if (kept === undefined) return undefined
  const { turns, turn, waiting } = Object(kept) as Readonly<Record<string, unknown>>
  const told = listOf(turns)?.map(earlier => readMessages(listOf(earlier) ?? [earlier]))
  const last = readMessages(listOf(turn) ?? [turn])
  const waits = listOf(waiting)
  if (told === undefined || last === undefined || !waits?.every(isWaiting)) throw changed()
  return {
    turns: told.flatMap(earlier => (earlier === undefined ? [] : [earlier])),
    turn: last,
    waiting: waits,
  }
}

function listOf(value: unknown): readonly unknown[] | undefined {
  return Array.isArray(value) ? value : undefined
}

function isWaiting(value: unknown): value is Waiting {
  const { call, request } = Object(value) as Readonly<Record<string, unknown>>
  const { toolCallId, toolName } = Object(call) as Readonly<Record<string, unknown>>
  const { id, kind } = Object(request) as Readonly<Record<string, unknown>>
  return [toolCallId, toolName, id, kind].every(text => typeof text === 'string')
}

function changed(): ServableError {
  return new ServableError('code_changed', 'The run that waited was not of this agent')
}
