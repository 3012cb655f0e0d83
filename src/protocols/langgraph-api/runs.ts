/**
 * Runs: those of a thread at `/threads/:thread/runs`, and those without one at `/runs`.
 *
 * @module
 */

import { type RunRecord, type RunSummary, ServableError } from '../../core-entry.ts'
import { jsonReply, Reply } from '../../web/reply.ts'
import { SSE_HEADERS } from '../../web/sse.ts'
import { ignoring, misfit, reportError } from '../encoders/index.ts'
import { type Asked, choiceIn, empty, type Fields, NO_STORE, numberIn, selected } from './asked.ts'
import { modesIn, RunFrames, RunValues } from './frames.ts'
import { checkUuid } from './ids.ts'
import { humanMessage } from './messages.ts'
import { type RunAbout, type RunBody, readRunBody } from './run-body.ts'
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
  const body = readRunBody(await asked.body())
  const begun = await begin(asked, body, true)
  const { modes, namesAgents } = body
  const frames = new RunFrames({ runId: begun.started.id, modes, ...begun.reads, namesAgents })
  return replyWith(asked, begun, frames)
}

/** `POST …/runs/wait`. */
export async function waitForRun(asked: Asked): Promise<unknown> {
  const begun = await begin(asked, readRunBody(await asked.body()), true)
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
  const body = readRunBody(await asked.body())
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
  return runJson(record, { threadId, assistantId: assistant.id, about: body.about, status: 'pending' })
}

/** `POST /runs/batch`: runs without threads. */
export async function createBatch(asked: Asked): Promise<unknown> {
  const bodies = (await asked.list('body', MAX_BATCH)).map(each => readRunBody(each))
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
  {
    threadId,
    assistantId,
    about,
    status = statusOf(run),
  }: {
    threadId: string | undefined
    assistantId: string
    about?: RunAbout | undefined
    status?: (typeof STATUSES)[number]
  },
): Fields {
  return {
    ...{ run_id: run.id, thread_id: threadId ?? null, assistant_id: assistantId, status },
    metadata: about?.metadata ?? {},
    kwargs: {},
    multitask_strategy: about?.strategy ?? 'enqueue',
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
  const id = checkUuid(asked.param('run'), 'run_id')
  const thread = hasThread(asked) ? await findThread(asked) : undefined
  const record = await asked.caller.runs.get(id)
  const target = thread?.session?.target
  const isOfThread =
    thread === undefined ||
    (record.sessionId === thread.id && record.kind === target?.kind && record.name === target.name)
  if (isOfThread) return { record, thread }
  throw new ServableError('run_not_found', `Run ${id} not found`)
}

async function shown(
  asked: Asked,
  run: RunSummary,
  thread: FoundThread | undefined,
  isPending = false,
): Promise<Fields> {
  const assistant = await asked.api.assistants.find(run)
  const about = await aboutOf(asked, run.id)
  return runJson(run, {
    ...{ threadId: thread?.id, assistantId: assistant?.id ?? '', about },
    ...(isPending && { status: 'pending' }),
  })
}

/** What the client said of a run when it started it. */
async function aboutOf({ caller }: Asked, runId: string): Promise<RunAbout | undefined> {
  const kept = await caller.runs.input(runId).catch(ignoring('input_not_kept'))
  const { langgraph } = Object(kept?.metadata) as { readonly langgraph?: RunAbout }
  return langgraph
}

/** `GET …/runs/:run`. */
export async function getRun(asked: Asked): Promise<unknown> {
  const { record, thread } = await findRun(asked)
  return await shown(asked, record, thread)
}

/** `GET /threads/:thread/runs`. */
export async function listRuns(asked: Asked): Promise<unknown> {
  const { query, caller } = asked
  const thread = await findThread(asked)
  const offset = numberIn(query.get('offset') ?? undefined, 'offset', 0, Number.MAX_SAFE_INTEGER)
  const limit = numberIn(query.get('limit') ?? undefined, 'limit', 10, 1000)
  const status = query.get('status')
  const wanted = status === null ? undefined : choiceIn(status, 'status', STATUSES, 'success')
  if (thread.session === undefined) return []
  const { kind, name } = thread.session.target
  // A run that waits for its turn has none yet.
  const tree = await ThreadTree.read(caller, thread.session)
  const begun = new Set(tree.turns.map(({ runId }) => runId))
  const isPending = (run: RunSummary) => run.status === 'running' && !begun.has(run.id)
  const found: RunSummary[] = []
  for (let cursor: string | undefined; found.length < offset + limit; ) {
    const page = await caller.runs.list({ kind, name, sessionId: thread.id, limit: 100, cursor })
    found.push(
      ...page.runs.filter(
        run => wanted === undefined || (isPending(run) ? 'pending' : statusOf(run)) === wanted,
      ),
    )
    if (page.nextCursor === null) break
    cursor = page.nextCursor
  }
  const runs = await Promise.all(
    found.slice(offset, offset + limit).map(run => shown(asked, run, thread, isPending(run))),
  )
  const select = query.getAll('select')
  return select.length > 0 ? runs.map(run => selected(run, select)) : runs
}

/** `GET …/runs/:run/join`: the values at its end. */
export async function joinRun(asked: Asked): Promise<unknown> {
  const begun = await reopened(asked)
  return replyWith(asked, begun, new RunValues({ runId: begun.started.id, ...begun.reads }))
}

/** `GET …/runs/:run/stream`: all frames of a run, or those after `Last-Event-ID`. */
export async function joinStream(asked: Asked): Promise<unknown> {
  const { query, request } = asked
  const named = query.getAll('stream_mode').flatMap(each => each.split(','))
  const modes = modesIn(named.length > 0 ? named : ALL)
  const last = Number(request.headers.get('last-event-id') ?? -1)
  const known = Number.isSafeInteger(last) ? last : -1
  const begun = await reopened(asked)
  return replyWith(asked, begun, new RunFrames({ runId: begun.started.id, modes, ...begun.reads, known }))
}

/** The modes of a client that names none when it comes back. */
const ALL = ['values', 'messages-tuple', 'updates', 'custom']

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

/** `POST …/runs/:run/cancel`. */
export async function cancelRun(asked: Asked): Promise<unknown> {
  const { record, thread } = await findRun(asked)
  const waits = asked.flag('wait')
  await stopRun(asked, thread?.session, record.id, { waits, rollback: isRollback(asked) })
  return empty(waits ? 204 : 202)
}

function isRollback({ query }: Asked): boolean {
  return (
    choiceIn(query.get('action') ?? undefined, 'action', ['interrupt', 'rollback'], 'interrupt') ===
    'rollback'
  )
}

/** `POST /runs/cancel`: runs of a thread, by their ids or by their status. */
export async function cancelRuns(asked: Asked): Promise<unknown> {
  const body = await asked.body()
  const rollback = isRollback(asked)
  const thread = await findThread(asked, body.thread_id)
  const { run_ids: ids = [], status } = body
  if (!Array.isArray(ids) || ids.length > MAX_BATCH)
    throw misfit('run_ids', `must be an array of at most ${MAX_BATCH} ids`)
  const named = ids.map((id, index) => checkUuid(id, `run_ids.${index}`))
  const wanted =
    status === undefined || status === null
      ? undefined
      : choiceIn(status, 'status', ['pending', 'running', 'all'], 'all')
  const isWanted = ({ id, status: is }: RunSummary) =>
    named.length > 0 ? named.includes(id) : wanted === 'all' || wanted === (is === 'queued' ? 'pending' : is)
  for (const run of (await atWork(asked, thread)).filter(isWanted)) {
    await stopRun(asked, thread.session, run.id, { waits: false, rollback })
  }
  return empty()
}

/** `DELETE …/runs/:run`. Its messages stay in the thread. */
export async function deleteRun(asked: Asked): Promise<unknown> {
  const { record } = await findRun(asked)
  await asked.caller.runs.delete(record.id)
  return empty()
}
