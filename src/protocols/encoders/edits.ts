/**
 * Conversations that clients may edit. The service remembers the conversation of a caller with an identity if it stores sessions.
 * Otherwise the client remembers it. Clients may replace messages that the service remembers.
 *
 * @module
 */

import type { Turn } from '../../agents/turn.ts'
import { ServableError } from '../../base/errors.ts'
import type { Caller } from '../../core/caller.ts'
import type { Context } from '../../http/context.ts'
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
  caller: Pick<Caller, 'sessions' | 'whyUnstored'>,
  { identity }: Pick<Context, 'identity'>,
): Promise<AskedRun> {
  const { thread: sessionId } = conversation
  // Of a caller without an identity, the client remembers the conversation.
  if (!identity || caller.whyUnstored !== undefined) return askedRunOf(conversation, target)
  const asked = askedRunOf(conversation, target, true)
  const turns = () => caller.sessions.turns({ target, id: sessionId })
  return { ...asked, sessionId, replaces: await replacedBy(turns, conversation) }
}

/** The id of the message to replace, if any. The run checks again that it exists. */
async function replacedBy(
  read: () => Promise<readonly Turn[]>,
  { messageId, replaces, before }: EditedConversation,
): Promise<string | undefined> {
  if (replaces === undefined) return undefined
  const turns = await read()
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
