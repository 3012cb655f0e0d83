/**
 * Conversations of protocols whose clients send the whole conversation with each request.
 *
 * @module
 */

import * as v from 'valibot'
import type { HistoryMessage, RunInput } from '../../agents/contract.ts'
import { validate } from '../../base/validation.ts'
import type { AskedRun } from '../../http/runs/start-run.ts'
import { parseConversation, RunInputSchema } from '../../runs/input.ts'
import type { Target } from '../../runs/target.ts'

/** A conversation as a client sends it. */
export interface ClientConversation {
  /** The newest message of the user. Undefined: the history contains it. */
  readonly input: RunInput | undefined
  /** The client's id of that message. */
  readonly messageId?: string | undefined
  /** Returns the earlier messages, oldest first. Is called only if the client remembers the conversation. */
  readonly history: () => readonly HistoryMessage[]
  /** The tools of the client. They are checked here. */
  readonly clientTools?: unknown
}

/** Most messages of a history. The oldest are left out, as in sessions. */
const MAX_MESSAGES = 1000
/** Most characters of a history as JSON. */
const MAX_LENGTH = 1024 * 1024

/**
 * The run that a conversation asks for. It has the client's history, unless the service remembers it (`isKept`). Throws
 * `invalid_body`.
 */
export function askedRunOf(
  { input, messageId, history, clientTools }: ClientConversation,
  target: Target,
  isKept = false,
): AskedRun {
  const messages = isKept ? [] : history()
  const at = input === undefined ? messages.findLastIndex(({ role }) => role === 'user') : -1
  const newest = messages[at]
  const asked = input ?? (newest?.role === 'user' ? newest.content : '')
  const before = messages.filter((_, index) => index !== at)
  return {
    ...{ target, input: validate(RunInputSchema, asked, 'invalid_body', 'message'), messageId },
    ...parseConversation({
      clientTools,
      ...(!isKept && { history: fitting(before), memory: 'client' }),
    }),
  }
}

/** Checks an id of a conversation or of a message: 1 to 500 characters. */
export const idText: v.GenericSchema<string> = v.pipe(
  v.string('must be text'),
  v.nonEmpty('must not be empty'),
  v.maxLength(500, 'must have at most 500 characters'),
)

/** The newest messages within the limits. A result is left out with its call. */
function fitting(history: readonly HistoryMessage[]): readonly HistoryMessage[] {
  let length = 0
  let first = history.length
  for (; first > 0 && history.length - first < MAX_MESSAGES; first--) {
    // Brackets and commas.
    length += JSON.stringify(history[first - 1]).length + 2
    if (length > MAX_LENGTH) break
  }
  while (history[first]?.role === 'tool') first++
  return history.slice(first)
}
