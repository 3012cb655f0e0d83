/**
 * Starts runs: of a thread, where the input is what is new in it, or without one, where the client sends all that there is.
 *
 * @module
 */

import {
  type AskedRun,
  type Caller,
  type RunRecord,
  type RunSummary,
  ServableError,
  type SessionOf,
  type StartedRun,
} from '../../core-entry.ts'
import {
  AnswersSchema,
  askedRunOf,
  givenIn,
  ignoring,
  isObject,
  misfit,
  parseConversation,
  validate,
} from '../encoders/index.ts'
import type { Asked } from './asked.ts'
import type { Assistant } from './assistants.ts'
import type { Framed } from './frames.ts'
import { type GraphStates, graphOf } from './graph-states.ts'
import { uuid } from './ids.ts'
import { answersIn } from './interrupts.ts'
import { clientToolsIn, historyOf, humanMessage, inputIn, joinedInput, type SentMessage } from './messages.ts'
import type { RunBody } from './run-body.ts'
import { checkpointOf, placeAfter } from './states.ts'
import { messageIdOf, ThreadTree } from './thread-tree.ts'
import { atWork, busy, checkIdle, type FoundThread, findThread } from './threads.ts'

/** A started run, and what its client needs of it. */
export interface Begun {
  readonly started: StartedRun
  readonly assistant: Assistant
  /** Undefined for a run without a thread. */
  readonly threadId: string | undefined
  /** How its messages and values are read. */
  readonly reads: Pick<Framed, 'before' | 'graph'>
}

/** How the messages and the values of a run of a thread are read. */
export function readsOf(caller: Caller, session: SessionOf, runId: string): Begun['reads'] {
  const before = async () => (await ThreadTree.read(caller, session)).before(runId)
  return { before, graph: graphOf(caller, session) }
}

/** The most turns that one request brings from elsewhere. */
const MAX_WRITTEN = 100

/** Starts a run of the thread in the path. */
export async function startInThread(asked: Asked, body: RunBody): Promise<Begun> {
  const assistant = await asked.api.assistants.get(body.assistant)
  await asked.caller.checkMayRun(assistant.target)
  const thread = await boundThread(asked, body, assistant)
  const session = { target: assistant.target, id: thread.id }
  if (body.strategy !== 'enqueue') {
    // What is wrong with the request is told before another run is stopped for it.
    await planIn(asked, session, body)
    await makeRoom(asked, thread, body)
  }
  const started = await startIn(asked, session, body)
  if (body.strategy === 'reject') await giveWay(asked, thread, session, started.id)
  return { started, assistant, threadId: thread.id, reads: readsOf(asked.caller, session, started.id) }
}

/** The thread, which belongs to the assistant from now on. Throws `session_not_found`, and `session_changed` for one of another. */
async function boundThread(asked: Asked, body: RunBody, assistant: Assistant): Promise<FoundThread> {
  const { target, graphId, id: assistantId } = assistant
  const of = { kind: target.kind, name: target.name }
  const change = { metadata: { graph_id: graphId, assistant_id: assistantId }, of, at: Date.now() }
  const { kept } = asked.api
  const id = validate(uuid, asked.param('thread'), 'invalid_body', 'thread_id')
  const made = body.createsThread ? await kept.put(asked.owner, id, { ...change, isNew: true }) : undefined
  const before = made?.after ?? made?.before ?? (await findThread(asked)).kept
  if (before.of !== undefined && (before.of.kind !== of.kind || before.of.name !== of.name)) {
    throw new ServableError('session_changed', `Thread ${id} is of another assistant: ${before.of.name}`)
  }
  const isBound = before.of !== undefined && before.metadata.assistant_id === assistantId
  if (!isBound) await kept.put(asked.owner, id, change)
  return { id, kept: before, assistant, session: { target, id } }
}

/** Lets a run into a thread that has one at work, as the client asks. */
async function makeRoom(asked: Asked, thread: FoundThread, { strategy }: RunBody): Promise<void> {
  if (strategy === 'enqueue') return
  if (strategy === 'reject') return checkIdle(asked, thread)
  const how = { waits: true, rollback: strategy === 'rollback' }
  for (const { id } of await atWork(asked, thread)) await stopRun(asked, thread.session, id, how)
}

/** How often a run that began beside others looks whose turn it is, and the milliseconds between two looks. */
const LOOKS = 50
const LOOK_MS = 20

/** Takes a run back that began beside others in the same moment, unless the turn is its own. Throws `session_busy`. */
async function giveWay(asked: Asked, thread: FoundThread, session: SessionOf, runId: string): Promise<void> {
  for (let look = 1; ; look++) {
    const [all, { turns }] = await Promise.all([atWork(asked, thread), asked.caller.sessions.tree(session)])
    const mine = all.find(({ id }) => id === runId)
    const others = all.filter(run => run !== mine)
    const hasTurn = ({ id }: RunSummary) => turns.some(turn => turn.runId === id)
    if (mine === undefined || others.length === 0 || hasTurn(mine)) return
    if (others.some(hasTurn)) break
    // All of them wait for a worker: the oldest stays.
    const keyOf = ({ createdAt, id }: RunSummary) => `${createdAt} ${id}`
    if (look === LOOKS && others.every(run => keyOf(mine) < keyOf(run))) return
    if (look === LOOKS) break
    await new Promise(resolve => setTimeout(resolve, LOOK_MS))
  }
  await stopRun(asked, session, runId, { waits: true, rollback: true })
  throw busy(thread)
}

/** How a run is stopped. */
interface Stopping {
  readonly waits: boolean
  /** Whether its turn is deleted, with what came after it. */
  readonly rollback: boolean
}

/** Cancels a run. One that has ended stays as it is. */
export async function stopRun(
  asked: Asked,
  session: SessionOf | undefined,
  runId: string,
  { waits, rollback }: Stopping,
): Promise<void> {
  const { runs, sessions } = asked.caller
  await runs.cancel(runId).catch(ignoring('run_ended'))
  if (waits || rollback) {
    const run = await runs.open(runId)
    await run.result(asked.request.signal).catch(() => undefined)
  }
  if (!rollback || session === undefined) return
  await sessions.deleteBranch(session, runId).catch(ignoring('run_not_found'))
  await runs.delete(runId).catch(ignoring('run_not_found'))
}

/** What a request comes to in its thread as that is now: answers, or a message in its place. */
async function planIn(
  asked: Asked,
  session: SessionOf,
  body: RunBody,
): Promise<{ given: Given } | { asks: Place; graph?: object }> {
  const { checkpointId: named, sent } = body
  const tree = await ThreadTree.read(asked.caller, session)
  const graph = graphOf(asked.caller, session)
  const at = graph && named !== undefined ? await graph.placeIn(tree, named) : checkpointOf(named, tree)
  const given = await answersTo(tree, at, body, graph)
  if (given !== undefined) return { given }
  const asks = sent.length === 0 ? again(tree, at) : await newIn(asked, session, sent, { tree, at })
  if (graph === undefined) return { asks }
  const graphStart = sent.length === 0 ? named : undefined
  return { asks, graph: { checkpoints: true, graphInput: besideMessages(body.input), graphStart } }
}

async function startIn(asked: Asked, session: SessionOf, body: RunBody): Promise<StartedRun> {
  const { caller } = asked
  const plan = await planIn(asked, session, body)
  if ('given' in plan) return answer(caller, plan.given, body)
  const { about, stopsWithReader } = body
  return caller.start({
    ...{ target: session.target, sessionId: session.id, ...plan.asks },
    ...parseConversation({ clientTools: clientToolsIn(body.input) }),
    metadata: { langgraph: about, ...plan.graph },
    isBackground: !stopsWithReader,
    // A run that ends with its reader is stored too, and what a client said of a run is told as long as the run is.
    keepsInput: stopsWithReader || Object.keys(about.metadata).length > 0,
    concurrency: 'queue',
  })
}

/** What a client gives a graph beside messages. */
function besideMessages(input: unknown): object {
  const { messages: _, ...others } = isObject(input) ? input : {}
  return others
}

/** Answers to a run that waits. */
interface Given {
  readonly id: string
  readonly answers: ReturnType<typeof answersIn>
}

/** What a client answers: with `command.resume`, or with results of its tools. Throws `already_answered` if nothing waits. */
async function answersTo(
  tree: ThreadTree,
  at: Where['at'],
  { resume, sent }: RunBody,
  graph?: GraphStates,
): Promise<Given | undefined> {
  const isResuming = resume !== undefined && resume !== null
  if (!isResuming && sent.at(-1)?.role !== 'tool') return undefined
  const record = at?.kind === 'answered' && at.turn ? await tree.record(at.turn.runId) : undefined
  const isWaiting = record?.status === 'input_required'
  if (isResuming && !isWaiting) throw new ServableError('already_answered', 'The thread waits for nothing')
  if (record === undefined || !isWaiting) return undefined
  const answers = isResuming
    ? answersIn(resume, record, (await graph?.end(record.id))?.interrupts)
    : resultsIn(sent, record)
  if (answers.length === 0) return undefined
  // Some alone would count, and the run would still wait.
  if (answers.length === record.requests?.length) return { id: record.id, answers }
  throw misfit(isResuming ? 'command.resume' : 'input.messages', 'must answer all that the thread waits for')
}

async function answer(
  { runs }: Caller,
  { id, answers }: Given,
  { stopsWithReader }: RunBody,
): Promise<StartedRun> {
  const { started } = await runs.answer({ id, answers, isBackground: !stopsWithReader })
  if (started !== undefined) return started
  throw new ServableError('session_changed', 'The thread waits for something else now')
}

/** The results of the client's tools for a run that waits for these. */
function resultsIn(sent: readonly SentMessage[], { requests = [] }: RunRecord): ReturnType<typeof answersIn> {
  const results = new Map(
    sent.flatMap(({ role, fields, content }) => (role === 'tool' ? [[fields.tool_call_id, content]] : [])),
  )
  const answers = requests.flatMap(({ kind, id, toolCallId }) =>
    kind === 'client_tool' && results.has(toolCallId)
      ? [{ id, result: givenIn(results.get(toolCallId)) ?? null }]
      : [],
  )
  return validate(AnswersSchema, answers, 'invalid_body', 'input.messages')
}

type Place = Pick<AskedRun, 'input' | 'messageId' | 'replaces' | 'branchFrom'>
type Where = { readonly tree: ThreadTree; readonly at: ReturnType<ThreadTree['get']> }

/** Makes the answer again that comes after a message, or after which the thread stopped. */
function again(tree: ThreadTree, at: Where['at']): Place {
  const turn = at?.turn
  if (at === undefined || turn === undefined) throw misfit('input', 'is missing: the thread is empty')
  if (at === tree.head && turn.status === 'running')
    throw new ServableError('session_busy', 'The run is at work')
  const isOver = at.kind === 'answered' && turn.status === 'completed'
  if (isOver) throw misfit('input', 'is missing: the thread has nothing to go on with')
  const first = firstOf(tree, turn)
  return { input: first.input, messageId: messageIdOf(first), replaces: first.messageId ?? first.runId }
}

/** The turn with the message that a turn goes on to answer. */
function firstOf(tree: ThreadTree, turn: ThreadTree['turns'][number]): ThreadTree['turns'][number] {
  let first = turn
  while (first.continuedFrom !== undefined && first.continuedFrom === first.after) {
    const before = tree.turns.find(each => each.runId === first.after)
    if (before === undefined) break
    first = before
  }
  return first
}

/** The new message of the user in what a client sends, which may be the whole conversation. */
async function newIn(
  asked: Asked,
  session: SessionOf,
  sent: readonly SentMessage[],
  { tree, at }: Where,
): Promise<Place> {
  const known = new Map(tree.turns.map(turn => [messageIdOf(turn), turn]))
  const lastIndex = sent.findLastIndex(({ role }) => role === 'user')
  const last = sent[lastIndex]
  if (last === undefined) throw misfit('input.messages', 'must have a message of the user')
  const turn = last.id === undefined ? undefined : known.get(last.id)
  if (turn !== undefined && last.id !== undefined) {
    // Sent again, or edited: it takes its own place on a branch.
    return { input: inputIn(last.content), messageId: last.id, replaces: turn.messageId ?? turn.runId }
  }
  if (at?.kind === 'asked' && at !== tree.head) {
    throw misfit(
      'checkpoint',
      'is between a message and its answer: start from the one before, or without `input`',
    )
  }
  const isNew = ({ id, role }: SentMessage) => role === 'user' && (id === undefined || !known.has(id))
  const from = sent.slice(0, lastIndex).findLastIndex(each => !isNew(each)) + 1
  if (tree.turns.length === 0) await bring(asked, session, sent.slice(0, from))
  const inputs = sent.slice(from, lastIndex + 1).map(({ content }) => inputIn(content))
  const messageId = last.id ?? crypto.randomUUID()
  return { input: joinedInput(inputs), messageId, ...placeAfter(at, tree) }
}

/** Brings the earlier messages of a conversation from elsewhere into an empty thread. */
async function bring({ caller }: Asked, session: SessionOf, sent: readonly SentMessage[]): Promise<void> {
  const turns: { input: Place['input']; text: string; messageId?: string }[] = []
  for (const message of historyOf(sent)) {
    if (message.role === 'user') turns.push({ input: message.content, text: '' })
    const turn = turns.at(-1)
    if (message.role !== 'assistant' || turn === undefined) continue
    turn.text += typeof message.content === 'string' ? message.content : ''
  }
  for (const turn of turns.slice(-MAX_WRITTEN))
    if (turn.text !== '') await caller.sessions.write(session, turn)
}

/** Starts a run without a thread. The client sends the whole conversation, and nothing is kept unless it asks for that. */
export async function startAlone(asked: Asked, body: RunBody, isAwaited: boolean): Promise<Begun> {
  const assistant = await asked.api.assistants.get(body.assistant)
  if (body.resume !== undefined && body.resume !== null) throw misfit('command.resume', 'needs a thread')
  const { sent } = body
  const last = sent.findLastIndex(({ role }) => role === 'user')
  if (last === -1) throw misfit('input.messages', 'must have a message of the user')
  const messageId = sent[last]?.id ?? crypto.randomUUID()
  const input = inputIn(sent[last]?.content)
  const clientTools = clientToolsIn(body.input)
  const run = askedRunOf(
    { input, messageId, history: () => historyOf(sent.slice(0, last)), clientTools },
    assistant.target,
  )
  const isKept = body.isKept || !isAwaited
  const how = isKept ? { isBackground: !body.stopsWithReader, keepsInput: true } : { leavesNothing: true }
  const started = await asked.caller.start({ ...run, metadata: { langgraph: body.about }, ...how })
  const before = () => ({ messages: [humanMessage(messageId, input)], own: 1 })
  return { started, assistant, threadId: undefined, reads: { before } }
}
