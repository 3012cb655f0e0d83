/**
 * Threads: `/threads` and below, but for their runs and states.
 *
 * @module
 */

import * as v from 'valibot'
import { type RunSummary, ServableError, type SessionOf } from '../../core-entry.ts'
import { ignoring, validate } from '../encoders/index.ts'
import {
  type Asked,
  choice,
  contains,
  empty,
  type Fields,
  metadata,
  never,
  page,
  pageReply,
  selected,
} from './asked.ts'
import type { Assistant } from './assistants.ts'
import { graphOf } from './graph-states.ts'
import { uuid } from './ids.ts'
import type { KeptThread, Listed } from './kept.ts'
import { ThreadTree } from './thread-tree.ts'

/** A thread of the caller. */
export interface FoundThread {
  readonly id: string
  readonly kept: KeptThread
  /** Undefined before the first run, and if the agent is not served any more. */
  readonly assistant: Assistant | undefined
  readonly session: SessionOf | undefined
}

/** The thread in the path. Throws `session_not_found`. */
export async function findThread(asked: Asked, value: unknown = asked.param('thread')): Promise<FoundThread> {
  const id = validate(uuid, value, 'invalid_body', 'thread_id')
  return threadOf(asked, id, (await asked.api.kept.get(asked.owner, id)) ?? noThread(id))
}

async function threadOf({ api }: Asked, id: string, kept: KeptThread): Promise<FoundThread> {
  const assistant = await api.assistants.find(kept.of)
  return { id, kept, assistant, session: assistant && { target: assistant.target, id } }
}

function noThread(id: string): never {
  throw new ServableError('session_not_found', `Thread with ID ${id} not found`)
}

/** The runs of a thread, newest first: those of a status. */
export async function runsOf(
  { caller }: Asked,
  { session, id }: Pick<FoundThread, 'session' | 'id'>,
  more: { readonly status?: RunSummary['status']; readonly limit?: number } = {},
): Promise<readonly RunSummary[]> {
  if (session === undefined) return []
  const { kind, name } = session.target
  return (await caller.runs.list({ kind, name, sessionId: id, limit: 100, ...more })).runs
}

/** The runs of a thread that are at work, or wait for that: at most 200. */
export async function atWork(asked: Asked, thread: FoundThread): Promise<readonly RunSummary[]> {
  const of = (status: RunSummary['status']) => runsOf(asked, thread, { status })
  return (await Promise.all([of('queued'), of('running')])).flat()
}

/** Throws `session_busy` while a run of the thread is at work. */
export async function checkIdle(asked: Asked, thread: FoundThread): Promise<void> {
  if ((await atWork(asked, thread)).length > 0) throw busy(thread)
}

export function busy({ id }: FoundThread): ServableError {
  const text = `Thread ${id} is busy: wait for its run, or choose another \`multitask_strategy\``
  return new ServableError('session_busy', text)
}

const STATUSES = ['idle', 'busy', 'interrupted', 'error'] as const

/** The status of a thread, from that of its newest run. */
function statusOf(run: RunSummary | undefined): (typeof STATUSES)[number] {
  switch (run?.status) {
    case 'queued':
    case 'running':
      return 'busy'
    case 'input_required':
      return run.waiting ? 'interrupted' : 'idle'
    case 'failed':
      return 'error'
    default:
      return 'idle'
  }
}

/** What a thread and its newest run tell without its messages. */
async function factsOf(asked: Asked, thread: FoundThread) {
  const { id, kept } = thread
  const [run] = await runsOf(asked, thread, { limit: 1 })
  const updatedMs = Math.max(kept.updatedAt, Date.parse(run?.updatedAt ?? '') || 0)
  const [created_at, updated_at] = [kept.createdAt, updatedMs].map(ms => new Date(ms).toISOString())
  return { thread_id: id, created_at, updated_at, metadata: kept.metadata, status: statusOf(run), config: {} }
}

/** A thread as clients get it. */
async function threadJson(
  asked: Asked,
  thread: FoundThread,
  {
    select,
    readsEvents = true,
  }: { select?: readonly unknown[] | null | undefined; readsEvents?: boolean } = {},
): Promise<Fields> {
  const { id, session } = thread
  const common = await factsOf(asked, thread)
  const needsValues = !select || select.includes('values') || select.includes('interrupts')
  if (session === undefined || !needsValues) return selected(common, select)
  const tree = await ThreadTree.read(asked.caller, session)
  if (tree.head === undefined) return selected(common, select)
  const end = await graphOf(asked.caller, session)?.end()
  const isWaiting = common.status === 'interrupted'
  const interrupts = isWaiting ? (end?.interrupts ?? (await tree.interruptsAt(tree.head))) : []
  const values = end ? JSON.parse(end.values) : { messages: await tree.messagesAt(tree.head, readsEvents) }
  const byTask = interrupts.length > 0 ? { [tree.head.turn?.runId ?? id]: interrupts } : {}
  return selected({ ...common, values, interrupts: byTask }, select)
}

const NewSchema = v.object({
  thread_id: v.nullish(uuid),
  metadata,
  if_exists: choice(['raise', 'do_nothing'], 'raise'),
  supersteps: never('is not supported: `POST /threads/:id/state` adds messages'),
})

/** `POST /threads`. */
export async function createThread(asked: Asked): Promise<unknown> {
  const body = await asked.body(NewSchema)
  const id = body.thread_id ?? crypto.randomUUID()
  // Clients find the threads of a graph by its name in the metadata, and such a thread is of that agent from the start.
  const { graph_id: graphId } = body.metadata
  const bound = typeof graphId === 'string' ? (await asked.api.assistants.get(graphId)).target : undefined
  const change = {
    metadata: body.metadata,
    of: bound && { kind: bound.kind, name: bound.name },
    at: Date.now(),
  }
  const { before } = await asked.api.kept.put(asked.owner, id, { ...change, isNew: true })
  if (before === undefined || body.if_exists !== 'raise')
    return threadJson(asked, await findThread(asked, id))
  throw new ServableError('session_changed', `Thread ${id} already exists`)
}

/** `GET /threads/:thread`. */
export async function getThread(asked: Asked): Promise<unknown> {
  return threadJson(asked, await findThread(asked))
}

/** `PATCH /threads/:thread`: metadata is merged. */
export async function updateThread(asked: Asked): Promise<unknown> {
  const body = await asked.body(v.object({ metadata }))
  const { id } = await findThread(asked)
  const { after } = await asked.api.kept.put(asked.owner, id, { ...body, of: undefined, at: Date.now() })
  return threadJson(asked, await threadOf(asked, id, after ?? noThread(id)))
}

/** `DELETE /threads/:thread`: with its runs, of which one at work is cancelled. */
export async function deleteThread(asked: Asked): Promise<unknown> {
  const { id, session } = await findThread(asked)
  const { sessions } = asked.caller
  // The session goes first: after any error, the request can be repeated.
  if (session) await sessions.delete(session, { cancels: true }).catch(ignoring('session_not_found'))
  await asked.api.kept.remove(asked.owner, id)
  return empty()
}

/** `POST /threads/:thread/copy`. */
export async function copyThread(asked: Asked): Promise<unknown> {
  const { id, kept, session } = await findThread(asked)
  const fork = session && (await asked.caller.sessions.fork(session).catch(ignoring('session_not_found')))
  const copy = fork?.id ?? crypto.randomUUID()
  const change = { metadata: { ...kept.metadata, thread_id: id }, of: kept.of, at: Date.now(), isNew: true }
  await asked.api.kept.put(asked.owner, copy, change)
  return threadJson(asked, await findThread(asked, copy))
}

const SearchSchema = v.object({
  metadata,
  ids: v.nullish(v.array(v.string(), 'must be an array of ids')),
  values: never('cannot be searched'),
  status: v.nullish(v.picklist(STATUSES, `must be ${STATUSES.join(', ')}`)),
  sort_by: choice(['created_at', 'updated_at', 'thread_id', 'status'], 'created_at'),
  sort_order: choice(['asc', 'desc'], 'desc'),
  select: v.nullish(v.array(v.unknown(), 'must be an array of fields')),
  ...page,
})

/** `POST /threads/search`. */
export async function searchThreads(asked: Asked): Promise<unknown> {
  const body = await asked.body(SearchSchema)
  const found = await matching(asked, body)
  const next = body.offset + body.limit
  const shown = await inBatches(found.slice(body.offset, next), async each =>
    threadJson(asked, await threadOf(asked, each.id, each), { select: body.select, readsEvents: false }),
  )
  return pageReply(found.length, next, shown)
}

/** `POST /threads/count`. */
export async function countThreads(asked: Asked): Promise<unknown> {
  return (await matching(asked, await asked.body(SearchSchema))).length
}

/** The threads that a client looks for, in its order. */
async function matching(
  asked: Asked,
  wanted: v.InferOutput<typeof SearchSchema>,
): Promise<readonly Listed[]> {
  const { ids, status, sort_by: key, sort_order: order } = wanted
  const kept = await asked.api.kept.all(asked.owner)
  const found = kept.filter(
    each => (!ids || ids.includes(each.id)) && contains(each.metadata, wanted.metadata),
  )
  const needsRun = status || key === 'status' || key === 'updated_at'
  const told = await inBatches(found, async each => {
    const thread = await threadOf(asked, each.id, each)
    return { each, facts: await factsOf(asked, needsRun ? thread : { ...thread, session: undefined }) }
  })
  const down = order === 'desc' ? -1 : 1
  const keyOf = ({ facts }: (typeof told)[number]) => `${facts[key]} ${facts.thread_id}`
  return told
    .filter(({ facts }) => !status || facts.status === status)
    .sort((a, b) => (keyOf(a) < keyOf(b) ? -down : down))
    .map(({ each }) => each)
}

/** Reads that run at once. */
const AT_ONCE = 10

async function inBatches<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const done: R[] = []
  for (let at = 0; at < items.length; at += AT_ONCE) {
    done.push(...(await Promise.all(items.slice(at, at + AT_ONCE).map(work))))
  }
  return done
}
