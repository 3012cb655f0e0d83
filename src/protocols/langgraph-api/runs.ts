/**
 * Runs: those of a thread at `/threads/:thread/runs`, and those without one at `/runs`.
 *
 * @module
 */

import * as v from 'valibot'
import { type RunRecord, type RunSummary, ServableError } from '../../core-entry.ts'
import { jsonReply, Reply } from '../../web/reply.ts'
import { SSE_HEADERS } from '../../web/sse.ts'
import { ignoring, list, parsed, reportError, validate } from '../encoders/index.ts'
import { type Asked, choice, empty, type Fields, NO_STORE, page, selected } from './asked.ts'
import { modesIn, RunFrames, RunValues } from './frames.ts'
import { uuid } from './ids.ts'
import { humanMessage } from './messages.ts'
import { type RunAbout, type RunBody, RunBodySchema } from './run-body.ts'
import { type Begun, readsOf, startAlone, startInThread, stopRun } from './start.ts'
import { ThreadTree } from './thread-tree.ts'
import { atWork, type FoundThread, findThread } from './threads.ts'

const STATUSES = ['pending', 'running', 'error', 'success', 'timeout', 'interrupted'] as const

/** Most runs of a batch. */
const MAX_BATCH = 100

/** A run that clients ask for by its id. */
interface FoundRun {
  readonly record: RunRecord
  readonly thread: FoundThread | undefined
}

const hasThread = ({ context }: Asked) => context.params.thread !== undefined

function begin(asked: Asked, body: RunBody, isAwaited: boolean): Promise<Begun> {
  return hasThread(asked) ? startInThread(asked, body) : startAlone(asked, body, isAwaited)
}

/** `POST …/runs/stream`. */
export async function streamRun(asked: Asked): Promise<unknown> {
  const body = await asked.body(RunBodySchema)
  const begun = await begin(asked, body, true)
  return replyWith(
    asked,
    begun,
    new RunFrames({ runId: begun.started.id, modes: body.modes, ...begun.reads }),
  )
}

/** `POST …/runs/wait`. */
export async function waitForRun(asked: Asked): Promise<unknown> {
  const begun = await begin(asked, await asked.body(RunBodySchema), true)
  return replyWith(asked, begun, new RunValues({ runId: begun.started.id, ...begun.reads }))
}

/** The address of a run, by which clients learn its id. */
function pathOf({ started: { id }, threadId }: Pick<Begun, 'started' | 'threadId'>): string {
  return threadId === undefined ? `/runs/${id}` : `/threads/${threadId}/runs/${id}`
}

/**
 * The answer to a request that has started a run. After that it is never an error of the server, because clients would start the run again.
 */
async function replyWith(
  { caller, api }: Asked,
  begun: Pick<Begun, 'started' | 'threadId'>,
  encoder: RunFrames | RunValues,
): Promise<Reply> {
  const path = pathOf(begun)
  const { record } = begun.started
  const isStream = encoder instanceof RunFrames
  const headers = {
    ...(isStream ? SSE_HEADERS : { 'content-type': 'application/json' }),
    'content-location': path,
    // With it clients go on after a cut.
    ...(isStream && record !== undefined && { location: `${path}/stream` }),
  }
  // No blank line follows a comment: it would be an event for some clients. Spaces before JSON are legal.
  const keepAlive = isStream ? ': still running\n' : '\n'
  try {
    return await caller.stream(begun.started, encoder, { headers, keepAlive })
  } catch (error) {
    const { code, message } = reportError(error, api.core.production, 'internal_error')
    const failed = { type: 'error', code, error: message } as const
    await encoder.prepare(failed)
    return new Reply(encoder.encode(failed, 0), { headers })
  }
}

/** `POST …/runs`: starts a run in the background. */
export async function createRun(asked: Asked): Promise<unknown> {
  const body = await asked.body(RunBodySchema)
  const begun = await begin(asked, { ...body, stopsWithReader: false }, false)
  const headers = { ...NO_STORE, 'content-location': pathOf(begun) }
  return jsonReply(await begunJson(asked, begun, body), { headers })
}

async function begunJson(
  asked: Asked,
  { started, assistant, threadId }: Begun,
  body: RunBody,
): Promise<Fields> {
  const record = started.record ?? (await asked.caller.runs.get(started.id))
  return { ...runJson(record, assistant.id, threadId, body.about), status: 'pending' }
}

/** `POST /runs/batch`: runs without threads. */
export async function createBatch(asked: Asked): Promise<unknown> {
  const bodies = await asked.bodies(RunBodySchema, MAX_BATCH)
  const runs: Fields[] = []
  for (const body of bodies) {
    const begun = await startAlone(asked, { ...body, stopsWithReader: false }, false)
    runs.push(await begunJson(asked, begun, body))
  }
  return runs
}

/** A run as clients get it. */
function runJson(
  run: RunSummary,
  assistantId: string,
  threadId: string | undefined,
  about?: RunAbout,
): Fields {
  return {
    ...{ run_id: run.id, thread_id: threadId ?? null, assistant_id: assistantId, status: statusOf(run) },
    ...{ metadata: about?.metadata ?? {}, kwargs: {}, multitask_strategy: about?.strategy ?? 'enqueue' },
    ...{ created_at: run.createdAt, updated_at: run.updatedAt },
  }
}

/** A run that waits for a person has ended well: its thread is interrupted. */
function statusOf({ status, error }: RunSummary): (typeof STATUSES)[number] {
  switch (status) {
    case 'queued':
      return 'pending'
    case 'running':
      return 'running'
    case 'failed':
      return error?.code === 'run_timeout' ? 'timeout' : 'error'
    case 'cancelled':
      return 'interrupted'
    default:
      return 'success'
  }
}

/** The run in the path. Throws `run_not_found`, also for a run of another thread. */
async function findRun(asked: Asked): Promise<FoundRun> {
  const id = validate(uuid, asked.param('run'), 'invalid_body', 'run_id')
  const thread = hasThread(asked) ? await findThread(asked) : undefined
  const record = await asked.caller.runs.get(id)
  const target = thread?.session?.target
  const isOfThread =
    thread === undefined ||
    (record.sessionId === thread.id && record.kind === target?.kind && record.name === target.name)
  if (isOfThread) return { record, thread }
  throw new ServableError('run_not_found', `Run ${id} not found`)
}

async function shown(asked: Asked, run: RunSummary, thread: FoundThread | undefined): Promise<Fields> {
  const assistant = await asked.api.assistants.find(run)
  const kept = await asked.caller.runs.input(run.id).catch(ignoring('input_not_kept'))
  // What the client said of a run when it started it.
  const { langgraph } = Object(kept?.metadata) as { readonly langgraph?: RunAbout }
  return runJson(run, assistant?.id ?? '', thread?.id, langgraph)
}

/** `GET …/runs/:run`. */
export async function getRun(asked: Asked): Promise<unknown> {
  const { record, thread } = await findRun(asked)
  return await shown(asked, record, thread)
}

const ListSchema = v.object({
  ...page,
  status: v.optional(v.picklist(STATUSES, `must be ${STATUSES.join(', ')}`)),
  select: v.optional(
    v.union([
      v.pipe(
        v.string(),
        v.transform(each => [each]),
      ),
      v.array(v.string()),
    ]),
  ),
})

/** `GET /threads/:thread/runs`. */
export async function listRuns(asked: Asked): Promise<unknown> {
  const { offset, limit, status, select } = asked.query(ListSchema)
  const thread = await findThread(asked)
  if (thread.session === undefined) return []
  const { kind, name } = thread.session.target
  // A run that waits for its turn has none yet.
  const tree = await ThreadTree.read(asked.caller, thread.session)
  const begun = new Set(tree.turns.map(({ runId }) => runId))
  const now = (run: RunSummary) =>
    run.status === 'running' && !begun.has(run.id) ? { ...run, status: 'queued' as const } : run
  const found: RunSummary[] = []
  for (let cursor: string | null | undefined; found.length < offset + limit && cursor !== null; ) {
    const query = { kind, name, sessionId: thread.id, limit: 100, cursor }
    const { runs, nextCursor } = await asked.caller.runs.list(query)
    found.push(...runs.map(now).filter(run => (status ?? statusOf(run)) === statusOf(run)))
    cursor = nextCursor
  }
  const runs = await Promise.all(found.slice(offset, offset + limit).map(run => shown(asked, run, thread)))
  return runs.map(run => selected(run, select))
}

/** `GET …/runs/:run/join`: the values at its end. */
export async function joinRun(asked: Asked): Promise<unknown> {
  const begun = await reopened(asked)
  return replyWith(asked, begun, new RunValues({ runId: begun.started.id, ...begun.reads }))
}

const JoinSchema = v.object({ stream_mode: v.optional(v.union([v.string(), v.array(v.string())])) })

/** The modes of a client that names none when it comes back. */
const ALL = ['values', 'messages-tuple', 'updates', 'custom']

/** `GET …/runs/:run/stream`: all frames of a run, or those after `Last-Event-ID`. */
export async function joinStream(asked: Asked): Promise<unknown> {
  const { stream_mode: named = ALL } = asked.query(JoinSchema)
  // Some lines of the SDK send a list as JSON.
  const modes = modesIn(
    [named].flat().flatMap(each => (each.startsWith('[') ? parsed(each) : each.split(','))),
  )
  const last = Number(asked.request.headers.get('last-event-id') ?? -1)
  const known = Number.isSafeInteger(last) ? last : -1
  const begun = await reopened(asked)
  return replyWith(asked, begun, new RunFrames({ runId: begun.started.id, modes, ...begun.reads, known }))
}

async function reopened(asked: Asked): Promise<Pick<Begun, 'started' | 'threadId' | 'reads'>> {
  const { record, thread } = await findRun(asked)
  const { caller } = asked
  const started = await caller.runs.open(record.id)
  if (thread?.session !== undefined) {
    return { started, threadId: thread.id, reads: readsOf(caller, thread.session, record.id) }
  }
  const before = async () => {
    const { input } = await caller.runs.input(record.id)
    return { messages: [humanMessage(`${record.id}:user`, input)], own: 1 }
  }
  return { started, threadId: undefined, reads: { before } }
}

const CancelSchema = v.object({
  wait: v.optional(v.string(), '0'),
  action: choice(['interrupt', 'rollback'], 'interrupt'),
})

/** `POST …/runs/:run/cancel`. */
export async function cancelRun(asked: Asked): Promise<unknown> {
  const { wait, action } = asked.query(CancelSchema)
  const { record, thread } = await findRun(asked)
  const waits = wait === '1' || wait === 'true'
  await stopRun(asked, thread?.session, record.id, { waits, rollback: action === 'rollback' })
  return empty(waits ? 204 : 202)
}

const CancelledSchema = v.object({
  thread_id: uuid,
  run_ids: v.nullish(list(uuid, MAX_BATCH), []),
  status: choice(['pending', 'running', 'all'], 'all'),
})

/** `POST /runs/cancel`: runs of a thread, by their ids or by their status. */
export async function cancelRuns(asked: Asked): Promise<unknown> {
  const { thread_id: threadId, run_ids: ids, status } = await asked.body(CancelledSchema)
  const how = { waits: false, rollback: asked.query(CancelSchema).action === 'rollback' }
  const thread = await findThread(asked, threadId)
  const isWanted = (run: RunSummary) =>
    ids && ids.length > 0 ? ids.includes(run.id) : status === 'all' || status === statusOf(run)
  for (const run of (await atWork(asked, thread)).filter(isWanted))
    await stopRun(asked, thread.session, run.id, how)
  return empty()
}

/** `DELETE …/runs/:run`. Its messages stay in the thread. */
export async function deleteRun(asked: Asked): Promise<unknown> {
  const { record } = await findRun(asked)
  await asked.caller.runs.delete(record.id)
  return empty()
}
