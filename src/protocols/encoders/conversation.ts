/**
 * A conversation of which a client tells all each time.
 *
 * @module
 */

import * as v from 'valibot'
import type { HistoryMessage, RunInput } from '../../agents/contract.ts'
import { validate } from '../../base/validation.ts'
import type { AskedRun } from '../../http/runs/start-run.ts'
import { parseConversation, RunInputSchema } from '../../runs/input.ts'
import type { Target } from '../../runs/target.ts'

/** What a client tells. */
export interface Conversation {
  /** The newest message of the user, and the client's id of it. Undefined: what was said before holds it. */
  readonly input: RunInput | undefined
  readonly messageId?: string | undefined
  /** What was said before, oldest first; asked for where the client remembers. */
  readonly history: () => readonly HistoryMessage[]
  /** Checked here. */
  readonly clientTools?: unknown
}

/** Messages of a history, and its characters as JSON: the oldest ones are left out, as a session's are. */
const MAX_MESSAGES = 1000
const MAX_LENGTH = 1024 * 1024

/**
 * The run that a conversation asks for. Its history is told unless the service remembers (`isKept`). Throws `invalid_body`.
 */
export function toldBy(
  { input, messageId, history, clientTools }: Conversation,
  target: Target,
  isKept = false,
): AskedRun {
  const told = isKept ? [] : history()
  const at = input === undefined ? told.findLastIndex(({ role }) => role === 'user') : -1
  const newest = told[at]
  const asked = input ?? (newest?.role === 'user' ? newest.content : '')
  const before = told.filter((_, index) => index !== at)
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

/** The newest messages that fit; what answers a call goes with it. */
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
