/**
 * Conversations that clients may edit. The service remembers the conversation of a caller with an identity if it stores sessions.
 * Otherwise the client remembers it. Clients may replace messages that the service remembers.
 *
 * @module
 */

import { type SessionKey, type SessionStorage, sessionOf } from '../../agents/memory.ts'
import type { Turn } from '../../agents/turn.ts'
import { ServableError } from '../../base/errors.ts'
import type { Core } from '../../core/built-in.ts'
import type { RequestState } from '../../http/context.ts'
import type { AskedRun } from '../../http/runs/start-run.ts'
import type { Target } from '../../runs/target.ts'
import { askedRunOf, type ClientConversation } from './conversation.ts'

/** A conversation as a client sends it, with its edit. */
export interface EditedConversation extends ClientConversation {
  /** The client's id of the conversation. */
  readonly thread: string
  /**
   * Whether the message replaces the one with its id. All messages after that are deleted. `must`: the session must have such a
   * message, unless the message is the next one after `before`. `may`: the session may have one. Default: the message is new.
   */
  readonly replaces?: 'must' | 'may' | undefined
  /** The client's id of the user message before this one. */
  readonly before?: string | undefined
}

/** The run that a conversation asks for. Throws `invalid_body`, and `session_changed` if the message to replace is missing. */
export async function askedRunInSession(
  conversation: EditedConversation,
  target: Target,
  core: Pick<Core, 'runs' | 'whyUnstored'>,
  state: RequestState,
): Promise<AskedRun> {
  const { thread: sessionId } = conversation
  const session = sessionIn(sessionId, target, core, state)
  const asked = askedRunOf(conversation, target, session !== undefined)
  return session ? { ...asked, sessionId, replaces: await replacedBy(session, conversation) } : asked
}

/** The key of a session, and the storage that has it. */
interface StoredSession {
  readonly key: SessionKey
  readonly storage: SessionStorage
}

/** The session of a caller with an identity. Undefined if the service stores no sessions. */
function sessionIn(
  sessionId: string,
  target: Target,
  { runs, whyUnstored }: Pick<Core, 'runs' | 'whyUnstored'>,
  state: RequestState,
): StoredSession | undefined {
  const { memory } = runs
  const { identity } = state
  if (!identity || whyUnstored(state)) return undefined
  const key = sessionOf(memory, target, { sessionId, identity: identity.id })
  return key && memory?.sessions && { key, storage: memory.sessions }
}

/** The id of the message to replace, if any. The run checks again that it exists. */
async function replacedBy(
  { key, storage }: StoredSession,
  { messageId, replaces, before }: EditedConversation,
): Promise<string | undefined> {
  if (replaces === undefined) return undefined
  const turns = await storage.turns(key)
  const turn = turns.find(each => idOf(each) === messageId)
  if (turn !== undefined) return turn.messageId ?? turn.runId
  const last = turns.findLast(({ continuedFrom }) => continuedFrom === undefined)
  // A message whose run could not start has no turn.
  if (replaces === 'may' || (last && idOf(last)) === before) return undefined
  throw new ServableError('session_changed', 'The session has no such message')
}

/** The id that pages give the message of a turn. Without an own id, it is made from the id of the run. */
function idOf({ messageId, runId }: Turn): string {
  return messageId ?? `${runId}:user`
}
