/**
 * Conversations in which a message may be told again: edited, or to be answered anew.
 *
 * @module
 */

import type { Turn } from '../agents/turn.ts'
import type { Core } from '../core/built-in.ts'
import { ServableError } from '../errors.ts'
import type { RequestState } from '../http/context.ts'
import type { AskedRun } from '../http/start-run.ts'
import type { Target } from '../runs/target.ts'
import { askedIn, type Conversation, type Session } from './conversation.ts'

/** What a client tells. */
export interface EditedConversation extends Conversation {
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
  const { asked, session } = askedIn(conversation, target, core, state)
  return session === undefined ? asked : { ...asked, replaces: await replacedBy(session, conversation) }
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
