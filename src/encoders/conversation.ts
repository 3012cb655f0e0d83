/**
 * Who remembers a conversation whose client tells all of it each time: the service, for a caller with an identity, where sessions
 * are kept; else the client.
 *
 * @module
 */

import * as v from 'valibot'
import type { HistoryMessage, RunInput } from '../agents/contract.ts'
import { type SessionKeeper, type SessionKey, sessionOf } from '../agents/memory.ts'
import type { Turn } from '../agents/turn.ts'
import type { Core } from '../core/built-in.ts'
import { ServableError } from '../errors.ts'
import type { RequestState } from '../http/context.ts'
import type { AskedRun } from '../http/start-run.ts'
import { parseConversation, RunInputSchema } from '../runs/input.ts'
import type { Target } from '../runs/target.ts'
import { validate } from '../validation.ts'

/** What a client tells. */
export interface Conversation {
  /** Its id of the conversation; undefined where the client alone remembers. */
  readonly thread: string | undefined
  /** The newest message of the user, and the client's id of it. */
  readonly input: RunInput
  readonly messageId?: string | undefined
  /** What was said before, oldest first; asked for where the client remembers. */
  readonly history: () => readonly HistoryMessage[]
  /** Checked here. */
  readonly clientTools?: unknown
  /**
   * The message takes the place of the one with its id, and what came after that is forgotten. `must`: it is there, unless it would be
   * the next one after `before`; `may`: it may be there. Default: it is a new one.
   */
  readonly replaces?: 'must' | 'may' | undefined
  /** The client's id of the user's message before it. */
  readonly before?: string | undefined
}

/** Messages of a history, and its characters as JSON: the oldest ones are left out, as a session's are. */
const MAX_MESSAGES = 1000
const MAX_LENGTH = 1024 * 1024

/** The run that a conversation asks for. Throws `invalid_body`, and `session_changed` for a message that must be there. */
export async function askedBy(
  conversation: Conversation,
  target: Target,
  core: Pick<Core, 'runs' | 'whyUnstored'>,
  state: RequestState,
): Promise<AskedRun> {
  const { thread, input, messageId, history, clientTools } = conversation
  const asked = { target, input: validate(RunInputSchema, input, 'invalid_body', 'message'), messageId }
  const session = sessionIn(thread, target, core, state)
  if (session === undefined) {
    return { ...asked, ...parseConversation({ history: fitting(history()), clientTools, memory: 'client' }) }
  }
  return {
    ...asked,
    ...parseConversation({ clientTools }),
    sessionId: thread,
    replaces: await replacedBy(session, conversation),
  }
}

/** Checks an id of a conversation or of a message: 1 to 500 characters. */
export const idText: v.GenericSchema<string> = v.pipe(
  v.string('must be text'),
  v.nonEmpty('must not be empty'),
  v.maxLength(500, 'must have at most 500 characters'),
)

/** The session of a caller with an identity, where sessions are kept. */
function sessionIn(
  sessionId: string | undefined,
  target: Target,
  { runs, whyUnstored }: Pick<Core, 'runs' | 'whyUnstored'>,
  state: RequestState,
): { readonly key: SessionKey; readonly keeper: SessionKeeper } | undefined {
  const { memory } = runs
  const { identity } = state
  if (!identity || whyUnstored(state)) return undefined
  const key = sessionOf(memory, target, { sessionId, identity: identity.id })
  return key && memory?.sessions && { key, keeper: memory.sessions }
}

/** Which message is to be replaced, if any. It is looked for again when it is. */
async function replacedBy(
  { key, keeper }: { readonly key: SessionKey; readonly keeper: SessionKeeper },
  { messageId, replaces, before }: Conversation,
): Promise<string | undefined> {
  if (replaces === undefined) return undefined
  const turns = await keeper.turns(key)
  const turn = turns.find(each => idOf(each) === messageId)
  if (turn !== undefined) return turn.messageId ?? turn.runId
  const last = turns.findLast(({ continuedFrom }) => continuedFrom === undefined)
  // A message whose run could not start has no turn.
  if (replaces === 'may' || (last && idOf(last)) === before) return undefined
  throw new ServableError('session_changed', 'The session has no such message')
}

/** How pages name the message of a turn: one that has no id is known by its run. */
function idOf({ messageId, runId }: Turn): string {
  return messageId ?? `${runId}:user`
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
