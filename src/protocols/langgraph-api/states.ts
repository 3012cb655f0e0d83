/**
 * The states of a thread: the newest one, earlier ones, and changes by hand.
 *
 * @module
 */

import * as v from 'valibot'
import { ServableError, type WrittenTurn } from '../../core-entry.ts'
import { misfit } from '../encoders/index.ts'
import { type Asked, contains, type Fields, fields, metadata, page } from './asked.ts'
import { graphOf } from './graph-states.ts'
import { inputIn, messagesIn, type SentMessage, type ThreadMessage, textIn } from './messages.ts'
import { checkpointFields, checkpointIn } from './run-body.ts'
import { type Checkpoint, NO_STATE, ThreadTree } from './thread-tree.ts'
import { checkIdle, findThread } from './threads.ts'

/** The checkpoint of an id, or the newest one. Throws `session_not_found`. */
export function checkpointOf(id: string | undefined, tree: ThreadTree): Checkpoint | undefined {
  const found = id === undefined ? tree.head : tree.get(id)
  if (found !== undefined || id === undefined) return found
  throw new ServableError('session_not_found', `The thread has no checkpoint ${id.slice(0, 100)}`)
}

/** `GET /threads/:thread/state`. */
export async function getState(asked: Asked): Promise<object> {
  return stateOf(asked, undefined)
}

/** `GET /threads/:thread/state/:checkpoint`. */
export async function getStateAt(asked: Asked): Promise<object> {
  return stateOf(asked, asked.param('checkpoint'))
}

/** `POST /threads/:thread/state/checkpoint`. */
export async function postStateAt(asked: Asked): Promise<object> {
  return stateOf(asked, checkpointIn(await asked.body(v.object(checkpointFields))))
}

async function stateOf(asked: Asked, id: string | undefined): Promise<object> {
  const { session, assistant } = await findThread(asked)
  if (session === undefined || assistant === undefined) return NO_STATE
  const graph = graphOf(asked.caller, session)
  if (graph !== undefined) return graph.stateAt(id)
  const tree = await ThreadTree.read(asked.caller, session)
  const checkpoint = checkpointOf(id, tree)
  return checkpoint === undefined ? NO_STATE : tree.stateAt(checkpoint, assistant)
}

const HistorySchema = v.object({
  ...{ limit: page.limit, metadata },
  before: v.nullish(v.union([v.string(), fields], 'must be the id of a checkpoint')),
})

/** Most messages in a history, but for those of its first state. Older states come with `before`. */
const MAX_MESSAGES = 20_000

/** `POST /threads/:thread/history`. */
export async function getHistory(asked: Asked): Promise<unknown> {
  const { limit, metadata: wanted, ...body } = await asked.body(HistorySchema)
  const before = beforeIn(body.before)
  const { session, assistant } = await findThread(asked)
  if (session === undefined || assistant === undefined) return []
  const graph = graphOf(asked.caller, session)
  if (graph !== undefined) return graph.history(limit, before, wanted)
  const tree = await ThreadTree.read(asked.caller, session)
  const all = tree.list()
  const from = before === undefined ? undefined : checkpointOf(before, tree)
  const states: object[] = []
  let count = 0
  for (const checkpoint of from === undefined ? all : all.slice(all.indexOf(from) + 1)) {
    if (states.length >= limit || count > MAX_MESSAGES) break
    const state = await tree.stateAt(checkpoint, assistant)
    count += (await tree.messagesAt(checkpoint)).length
    if (contains((state as { readonly metadata: Fields }).metadata, wanted)) states.push(state)
  }
  return states
}

/** The checkpoint before which to begin: an id, or an object with one. */
function beforeIn(before: string | Fields | null | undefined): string | undefined {
  if (typeof before === 'string') return before
  const { configurable, checkpoint = configurable ?? before } = before ?? {}
  return checkpointIn({ checkpoint })
}

const UpdateSchema = v.object({
  values: v.optional(v.unknown()),
  as_node: v.nullish(v.string('must be text')),
  ...checkpointFields,
})

/**
 * `POST /threads/:thread/state`: adds messages and edits earlier ones. What it changes becomes a branch of turns that no run made. They
 * have a message of the user and an answer, and no calls of tools.
 */
export async function updateState(asked: Asked): Promise<unknown> {
  const body = await asked.body(UpdateSchema)
  const thread = await findThread(asked)
  const { session, id } = thread
  if (session === undefined)
    throw misfit('metadata.graph_id', `is missing: thread ${id} has no agent before its first run`)
  await checkIdle(asked, thread)
  const named = checkpointIn(body)
  const graph = graphOf(asked.caller, session)
  if (graph !== undefined) {
    return { checkpoint: await graph.update(body.values, named, body.as_node ?? undefined) }
  }
  const tree = await ThreadTree.read(asked.caller, session)
  const at = checkpointOf(named, tree)
  const current = await tree.messagesAt(at)
  const wanted = merged(current, messagesIn(body.values, 'values'))
  const first = wanted.findIndex((message, index) => message !== current[index])
  if (first === -1 && wanted.length === current.length) {
    if (at === undefined) throw misfit('values.messages', 'must have a message: the thread is empty')
    return { checkpoint: tree.nameOf(at) }
  }
  const from = await boundaryBefore(tree, at, first === -1 ? wanted.length : first)
  const turns = turnsIn(wanted.slice(from.count))
  let place = placeAfter(from.checkpoint, tree)
  for (const turn of turns) {
    await asked.caller.sessions.write(session, { ...turn, ...place })
    place = {}
  }
  const after = await ThreadTree.read(asked.caller, session)
  return { checkpoint: after.head && after.nameOf(after.head) }
}

/** The messages with those of a client: one with a known id replaces it, others are added, and `remove` removes. */
function merged(current: readonly ThreadMessage[], sent: readonly SentMessage[]): readonly Merged[] {
  const all = new Map<string, Merged>(current.map(message => [message.id, message]))
  for (const message of sent) {
    const id = message.id ?? crypto.randomUUID()
    if (message.role !== 'remove') {
      if (!isSaid(all.get(id), message.content)) all.set(id, { ...message, id })
    } else if (id === '__remove_all__') all.clear()
    else all.delete(id)
  }
  return [...all.values()]
}

type Merged = ThreadMessage | (SentMessage & { readonly id: string })

/** Whether a message already says this. */
function isSaid(message: { readonly content: unknown } | undefined, content: unknown): boolean {
  const said = message?.content
  return said === content || JSON.stringify(inputIn(said)) === JSON.stringify(inputIn(content))
}

/** The last checkpoint between two turns with at most so many messages. */
async function boundaryBefore(
  tree: ThreadTree,
  at: Checkpoint | undefined,
  most: number,
): Promise<{ readonly checkpoint: Checkpoint | undefined; readonly count: number }> {
  for (let each = at; each !== undefined; each = each.parent) {
    if (each.kind === 'asked') continue
    const { length: count } = await tree.messagesAt(each)
    if (count <= most) return { checkpoint: each, count }
  }
  return { checkpoint: undefined, count: 0 }
}

/** Where a turn comes that follows a checkpoint between two turns. */
export function placeAfter(
  checkpoint: Checkpoint | undefined,
  tree: ThreadTree,
): { readonly branchFrom?: string; readonly replaces?: string } {
  if (checkpoint === undefined || checkpoint === tree.head) return {}
  if (checkpoint.turn !== undefined) return { branchFrom: checkpoint.turn.runId }
  const first = tree.turns.find(({ after }) => after === undefined)
  return first === undefined ? {} : { replaces: first.messageId ?? first.runId }
}

/** Messages as turns. Throws `invalid_body` for what a turn cannot be. */
function turnsIn(messages: readonly Merged[]): readonly WrittenTurn[] {
  if (messages.length === 0) {
    throw misfit(
      'values.messages',
      'must leave the last message: start a run from an earlier checkpoint instead',
    )
  }
  const turns: { readonly input: WrittenTurn['input']; text: string; readonly messageId: string }[] = []
  for (const message of messages) {
    checkPlain(message)
    const turn = turns.at(-1)
    if (isOfUser(message)) turns.push({ input: inputIn(message.content), text: '', messageId: message.id })
    else if (turn !== undefined) turn.text += textIn(message.content)
    else throw misfit('values.messages', 'must have a message of the user before one of the agent')
  }
  return turns
}

function isOfUser(message: Merged): boolean {
  return 'role' in message ? message.role === 'user' : message.type === 'human'
}

/** A turn that no run made has no calls of tools. */
function checkPlain(message: Merged): void {
  const { role, fields = {} } = 'role' in message ? message : { role: message.type }
  const calls = 'tool_calls' in message ? message.tool_calls : (fields as Fields).tool_calls
  if (role !== 'tool' && role !== 'system' && !(Array.isArray(calls) && calls.length > 0)) return
  throw misfit('values.messages', 'must not change, or come before, messages of tools and of the system')
}
