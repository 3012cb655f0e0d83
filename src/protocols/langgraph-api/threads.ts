/**
 * Threads: `/threads` and below, but for their runs and states.
 *
 * @module
 */

import { type RunSummary, ServableError, type SessionOf } from '../../core-entry.ts'
import { isServableError, misfit } from '../encoders/index.ts'
import {
  type Asked,
  choiceIn,
  contains,
  empty,
  type Fields,
  numberIn,
  objectIn,
  pageReply,
  selected,
} from './asked.ts'
import type { Assistant } from './assistants.ts'
import { graphOf } from './graph-states.ts'
import { checkUuid } from './ids.ts'
import type { Interrupt } from './interrupts.ts'
import type { KeptThread, Listed } from './kept.ts'
import { ThreadTree } from './thread-tree.ts'

const STATUSES = ['idle', 'busy', 'interrupted', 'error'] as const
const SORTS = ['created_at', 'updated_at', 'thread_id', 'status'] as const

/** Characters of metadata as JSON. */
const MAX_METADATA = 65_536

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
  const id = checkUuid(value, 'thread_id')
  const kept = await asked.api.kept.get(asked.owner, id)
  if (kept === undefined) throw new ServableError('session_not_found', `Thread with ID ${id} not found`)
  return threadOf(asked, id, kept)
}

export async function threadOf({ api }: Asked, id: string, kept: KeptThread): Promise<FoundThread> {
  const assistant = await api.assistants.find(kept.of)
  return { id, kept, assistant, session: assistant && { target: assistant.target, id } }
}

/** The metadata of a body. Throws `invalid_body`. */
export function metadataIn(value: unknown): Fields {
  const metadata = objectIn(value, 'metadata')
  if (JSON.stringify(metadata).length > MAX_METADATA) {
    throw misfit('metadata', `must have at most ${MAX_METADATA} characters as JSON`)
  }
  return metadata
}

/** The newest run of a thread. */
export async function newestRun(
  { caller }: Asked,
  { session, id }: FoundThread,
): Promise<RunSummary | undefined> {
  if (session === undefined) return undefined
  const { kind, name } = session.target
  const { runs } = await caller.runs.list({ kind, name, sessionId: id, limit: 1 })
  return runs[0]
}

/** The runs of a thread that are at work, or wait for that: at most 200. */
export async function atWork(
  { caller }: Asked,
  { session, id }: Pick<FoundThread, 'session' | 'id'>,
): Promise<RunSummary[]> {
  if (session === undefined) return []
  const { kind, name } = session.target
  const pages = (['queued', 'running'] as const).map(status =>
    caller.runs.list({ kind, name, sessionId: id, limit: 100, status }),
  )
  return (await Promise.all(pages)).flatMap(({ runs }) => runs)
}

/** Throws `session_busy` while a run of the thread is at work. */
export async function checkIdle(asked: Asked, thread: FoundThread): Promise<void> {
  if ((await atWork(asked, thread)).length === 0) return
  throw new ServableError(
    'session_busy',
    `Thread ${thread.id} is busy: wait for its run, or choose another \`multitask_strategy\``,
  )
}

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

/** A thread as clients get it. */
async function threadJson(
  asked: Asked,
  thread: FoundThread,
  isSelected: (field: string) => boolean,
): Promise<Fields> {
  const { id, kept, session } = thread
  const run = await newestRun(asked, thread)
  const status = statusOf(run)
  const updatedMs = Math.max(kept.updatedAt, Date.parse(run?.updatedAt ?? '') || 0)
  const common = {
    ...{
      thread_id: id,
      created_at: new Date(kept.createdAt).toISOString(),
      updated_at: new Date(updatedMs).toISOString(),
    },
    ...{ metadata: kept.metadata, status, config: {} },
  }
  if (session === undefined || !(isSelected('values') || isSelected('interrupts'))) return common
  const end = await graphOf(asked.caller, session)?.end()
  const tree = await ThreadTree.read(asked.caller, session)
  if (tree.head === undefined) return common
  const interrupts = status === 'interrupted' ? (end?.interrupts ?? (await tree.interruptsAt(tree.head))) : []
  return {
    ...common,
    ...(isSelected('values') && {
      values: end ? JSON.parse(end.values) : { messages: await tree.messagesAt(tree.head) },
    }),
    interrupts: byTask(tree.head.turn?.runId ?? id, interrupts),
  }
}

function byTask(task: string, interrupts: readonly Interrupt[]): object {
  return interrupts.length > 0 ? { [task]: interrupts } : {}
}

const all = () => true

/** `POST /threads`. */
export async function createThread(asked: Asked): Promise<unknown> {
  const body = await asked.body()
  if (body.supersteps !== undefined && body.supersteps !== null) {
    throw misfit('supersteps', 'is not supported: `POST /threads/:id/state` adds messages')
  }
  const id =
    body.thread_id === undefined || body.thread_id === null
      ? crypto.randomUUID()
      : checkUuid(body.thread_id, 'thread_id')
  const ifExists = choiceIn(body.if_exists, 'if_exists', ['raise', 'do_nothing'], 'raise')
  const metadata = metadataIn(body.metadata)
  const at = Date.now()
  const before = await asked.api.kept.make(asked.owner, id, {
    metadata,
    of: await boundIn(asked, metadata),
    at,
  })
  if (before !== undefined && ifExists === 'raise') {
    throw new ServableError('session_changed', `Thread ${id} already exists`)
  }
  return await threadJson(asked, await findThread(asked, id), all)
}

/** The agent that metadata names: clients find the threads of a graph by it. */
async function boundIn({ api }: Asked, { graph_id: graphId }: Fields): Promise<KeptThread['of']> {
  if (typeof graphId !== 'string') return undefined
  const { target } = await api.assistants.get(graphId)
  return { kind: target.kind, name: target.name }
}

/** `GET /threads/:thread`. */
export async function getThread(asked: Asked): Promise<unknown> {
  return await threadJson(asked, await findThread(asked), all)
}

/** `PATCH /threads/:thread`: metadata is merged. */
export async function updateThread(asked: Asked): Promise<unknown> {
  const metadata = metadataIn((await asked.body()).metadata)
  const { id } = await findThread(asked)
  const kept = await asked.api.kept.change(asked.owner, id, { metadata, of: undefined, at: Date.now() })
  if (kept === undefined) throw new ServableError('session_not_found', `Thread with ID ${id} not found`)
  return await threadJson(asked, await threadOf(asked, id, kept), all)
}

/** `DELETE /threads/:thread`: with its runs, of which one at work is cancelled. */
export async function deleteThread(asked: Asked): Promise<unknown> {
  const { id, session } = await findThread(asked)
  // The session goes first: after any error, the request can be repeated.
  if (session !== undefined) await asked.caller.sessions.delete(session, { cancels: true }).catch(unlessGone)
  await asked.api.kept.remove(asked.owner, id)
  return empty()
}

function unlessGone(error: unknown): void {
  if (!isServableError(error) || error.code !== 'session_not_found') throw error
}

/** `POST /threads/:thread/copy`. */
export async function copyThread(asked: Asked): Promise<unknown> {
  const { id, kept, session } = await findThread(asked)
  const at = Date.now()
  let copy: string = crypto.randomUUID()
  if (session !== undefined) {
    copy = await asked.caller.sessions.fork(session).then(
      fork => fork.id,
      error => {
        unlessGone(error)
        return copy
      },
    )
  }
  const metadata = { ...kept.metadata, thread_id: id }
  await asked.api.kept.make(asked.owner, copy, { metadata, of: kept.of, at })
  return await threadJson(asked, await findThread(asked, copy), all)
}

/** `POST /threads/search`. */
export async function searchThreads(asked: Asked): Promise<unknown> {
  const body = await asked.body()
  const offset = numberIn(body.offset, 'offset', 0, Number.MAX_SAFE_INTEGER)
  const limit = numberIn(body.limit, 'limit', 10, 1000)
  const found = await matching(asked, body)
  const fields = Array.isArray(body.select) ? body.select : undefined
  const isSelected = (field: string) => fields === undefined || fields.includes(field)
  const shown = await inBatches(found.slice(offset, offset + limit), async each =>
    selected(await threadJson(asked, await threadOf(asked, each.id, each), isSelected), fields),
  )
  return pageReply(found, offset, limit, shown)
}

/** `POST /threads/count`. */
export async function countThreads(asked: Asked): Promise<unknown> {
  return (await matching(asked, await asked.body())).length
}

/** The threads that a client looks for, in its order. */
async function matching(asked: Asked, body: Fields): Promise<readonly Listed[]> {
  const wanted = objectIn(body.metadata, 'metadata')
  const { ids } = body
  if (ids !== undefined && ids !== null && !Array.isArray(ids)) throw misfit('ids', 'must be an array')
  const named = Array.isArray(ids) ? new Set(ids.map(String)) : undefined
  if (body.values !== undefined && body.values !== null) throw misfit('values', 'cannot be searched')
  const sort = choiceIn(body.sort_by, 'sort_by', SORTS, 'created_at')
  const order = choiceIn(body.sort_order, 'sort_order', ['asc', 'desc'], 'desc')
  const status =
    body.status === undefined || body.status === null
      ? undefined
      : choiceIn(body.status, 'status', STATUSES, 'idle')
  const kept = await asked.api.kept.all(asked.owner)
  const found = kept.filter(
    each => (named === undefined || named.has(each.id)) && contains(each.metadata, wanted),
  )
  const keyed = await inBatches(found, async each => {
    const needsRun = status !== undefined || sort === 'status' || sort === 'updated_at'
    const run = needsRun ? await newestRun(asked, await threadOf(asked, each.id, each)) : undefined
    const updatedMs = Math.max(each.updatedAt, Date.parse(run?.updatedAt ?? '') || 0)
    const keys = {
      created_at: each.createdAt,
      updated_at: updatedMs,
      thread_id: each.id,
      status: statusOf(run),
    }
    return { each, status: keys.status, key: keys[sort] }
  })
  const down = order === 'desc' ? -1 : 1
  return keyed
    .filter(item => status === undefined || item.status === status)
    .sort((a, b) => (a.key < b.key || (a.key === b.key && a.each.id < b.each.id) ? -down : down))
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
