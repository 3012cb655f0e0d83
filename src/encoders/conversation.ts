/**
 * Who remembers a conversation whose client tells all of it each time: the service, for a caller with an identity, where sessions
 * are kept; else the client.
 *
 * @module
 */

import * as v from 'valibot'
import type { HistoryMessage, RunInput } from '../agents/contract.ts'
import { type SessionKeeper, type SessionKey, sessionOf } from '../agents/memory.ts'
import type { Core } from '../core/built-in.ts'
import type { RequestState } from '../http/context.ts'
import type { AskedRun } from '../http/start-run.ts'
import { parseConversation, RunInputSchema } from '../runs/input.ts'
import type { Target } from '../runs/target.ts'
import { validate } from '../validation.ts'

/** What a client tells. */
export interface Conversation {
  /** Its id of the conversation. */
  readonly thread: string
  /** The newest message of the user, and the client's id of it. */
  readonly input: RunInput
  readonly messageId?: string | undefined
  /** What was said before, oldest first; asked for where the client remembers. */
  readonly history: () => readonly HistoryMessage[]
  /** Checked here. */
  readonly clientTools?: unknown
}

/** Messages of a history, and its characters as JSON: the oldest ones are left out, as a session's are. */
const MAX_MESSAGES = 1000
const MAX_LENGTH = 1024 * 1024

/** A session, and what keeps it. */
export interface Session {
  readonly key: SessionKey
  readonly keeper: SessionKeeper
}

/** The run that a conversation asks for, and its session where the service remembers. Throws `invalid_body`. */
export function askedIn(
  conversation: Conversation,
  target: Target,
  core: Pick<Core, 'runs' | 'whyUnstored'>,
  state: RequestState,
): { readonly asked: AskedRun; readonly session: Session | undefined } {
  const { thread, messageId, clientTools } = conversation
  const session = sessionIn(thread, target, core, state)
  const asked: AskedRun = session
    ? { ...newIn(conversation, target), ...parseConversation({ clientTools }), sessionId: thread }
    : toldBy(conversation, target)
  return { asked: { ...asked, messageId }, session }
}

/** The same where the client alone remembers. */
export function toldBy(conversation: Omit<Conversation, 'thread'>, target: Target): AskedRun {
  const { history, clientTools } = conversation
  const told = parseConversation({ history: fitting(history()), clientTools, memory: 'client' })
  return { ...newIn(conversation, target), ...told }
}

/** What is new, checked. */
function newIn({ input }: Pick<Conversation, 'input'>, target: Target): Pick<AskedRun, 'target' | 'input'> {
  return { target, input: validate(RunInputSchema, input, 'invalid_body', 'message') }
}

/** Checks an id of a conversation or of a message: 1 to 500 characters. */
export const idText: v.GenericSchema<string> = v.pipe(
  v.string('must be text'),
  v.nonEmpty('must not be empty'),
  v.maxLength(500, 'must have at most 500 characters'),
)

/** The session of a caller with an identity, where sessions are kept. */
function sessionIn(
  sessionId: string,
  target: Target,
  { runs, whyUnstored }: Pick<Core, 'runs' | 'whyUnstored'>,
  state: RequestState,
): Session | undefined {
  const { memory } = runs
  const { identity } = state
  if (!identity || whyUnstored(state)) return undefined
  const key = sessionOf(memory, target, { sessionId, identity: identity.id })
  return key && memory?.sessions && { key, keeper: memory.sessions }
}

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
