/**
 * Who remembers a conversation: the service, for a caller with an identity, where sessions are kept; else the client. What the service
 * has may be edited.
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
import { type Conversation, toldBy } from './conversation.ts'

/** What a client tells. */
export interface EditedConversation extends Conversation {
  /** Its id of the conversation. */
  readonly thread: string
  /**
   * The message takes the place of the one with its id, and what came after that is forgotten. `must`: it is there, unless it would be
   * the next one after `before`; `may`: it may be there. Default: it is a new one.
   */
  readonly replaces?: 'must' | 'may' | undefined
  /** The client's id of the user's message before it. */
  readonly before?: string | undefined
}

/** The run that a conversation asks for. Throws `invalid_body`, and `session_changed` for a message that must be there. */
export async function askedBy(
  conversation: EditedConversation,
  target: Target,
  core: Pick<Core, 'runs' | 'whyUnstored'>,
  state: RequestState,
): Promise<AskedRun> {
  const { thread: sessionId } = conversation
  const session = sessionIn(sessionId, target, core, state)
  const asked = toldBy(conversation, target, session !== undefined)
  return session ? { ...asked, sessionId, replaces: await replacedBy(session, conversation) } : asked
}

/** A session, and what keeps it. */
interface Session {
  readonly key: SessionKey
  readonly keeper: SessionStorage
}

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

/** Which message is to be replaced, if any. It is looked for again when it is. */
async function replacedBy(
  { key, keeper }: Session,
  { messageId, replaces, before }: EditedConversation,
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
