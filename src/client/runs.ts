import type { Answer, RunInput, RunResult } from '../agents/contract.ts'
import type { RunListEvent } from '../http/runs/live-runs.ts'
import type { FeedbackInput, StoredFeedback } from '../runs/feedback.ts'
import type { RunPage, RunQuery } from '../runs/stored/host.ts'
import type { RunEventPage } from '../runs/stored/log-page.ts'
import type { RunRecord, RunSummary } from '../runs/stored/record.ts'
import { readBytes } from './body.ts'
import type { ClientCaller } from './call.ts'
import { prepareRun, RESPOND_ASYNC, type RunTarget } from './client-run.ts'
import { watch } from './metrics.ts'
import type { CallOptions, FollowedOptions } from './options.ts'
import { leavable } from './reconnect.ts'
import { resultOf } from './result.ts'
import { type RunEvents, readRun, runPath } from './run-stream.ts'
import { attempt, queryOf, segment } from './sent.ts'

/** Selects runs for a list. A run must match all members. */
export interface RunListQuery
  extends Partial<Omit<RunQuery, 'cursor' | 'since' | 'until' | 'everyone' | 'count'>> {
  /** Whose runs, for callers with a role: the id of an owner, or `*` for all. Default: the caller's. */
  readonly owner?: string
  /** Runs that began at this time or later. ISO 8601 with a zone, or a `Date`. */
  readonly since?: string | Date
  /** Runs that began before this time. */
  readonly until?: string | Date
  /** Most runs of a page, 1 to 100. Default: 50. */
  readonly limit?: number
}

/** A background run that continues another run, or runs its input again. */
export interface ContinuedRun {
  readonly id: string
  /** As `runs.result`. */
  result(options?: CallOptions): Promise<RunResult>
  /** As `runs.stream`. */
  stream(options?: CallOptions & { readonly after?: number }): RunEvents
}

/** What is different when a run runs again. */
export interface RetryOptions extends CallOptions {
  /** Default: the input of the run. */
  readonly input?: RunInput | undefined
  /** Null for none. Default: the session of the run. */
  readonly sessionId?: string | null | undefined
  /**
   * The id of a step or of a tool call of the run that is done. The new run has its result and those before it, and goes on after it.
   * Not with `input`.
   */
  readonly from?: string | undefined
}

/** The result of answers. */
export interface AnsweredRun {
  /** The record of the run that still waits, with its open `requests`, or of the run that continues. */
  readonly record: RunRecord
  /** The run that continues. Undefined while requests are open. */
  readonly next: ContinuedRun | undefined
}

/** Feedback on a run. At least one of `score`, `text` and `correction` is needed. */
export interface RunFeedback extends FeedbackInput {
  /** The session of a plain run. */
  readonly sessionId?: string
  /** The kind of the session's servable. Default: `agent`. */
  readonly kind?: RunTarget['kind']
  /** The name of the session's servable. */
  readonly name?: string
}

/** Runs that the service stores. Calls for deleted runs, and for runs of others, reject with `run_not_found`. */
export interface RunsClient {
  /**
   * Starts a background run and returns its record. Aborting later does not cancel it.
   *
   * @example
   * const { id } = await client.runs.start({ kind: 'agent', name: 'echo' }, 'Hello')
   */
  start(target: RunTarget, input: RunInput, options?: FollowedOptions): Promise<RunRecord>
  /** The record of a run, with its result once it has ended, and with its input if you include that and the service stores it. */
  get(id: string, options?: CallOptions & { readonly include?: 'input' }): Promise<RunRecord>
  /** Waits until a run has ended, and returns its result. Rejects with the code of a run that failed. */
  result(id: string, options?: CallOptions): Promise<RunResult>
  /**
   * A page of the caller's runs, newest first. A page may be short or empty. If it has a `nextCursor`, there may be more
   * runs. Rejects with `not_found` if the service lists no runs to clients without an identity.
   */
  list(
    query?: RunListQuery & {
      readonly cursor?: string
      /** Asks for the number of runs of all pages, among the newest 1,000 that the service looks at. */
      readonly count?: true
    },
    options?: CallOptions,
  ): Promise<RunPage>
  /**
   * Yields the newest page of the caller's runs, and then its changes, until the loop ends. The service checks for changes every
   * 2 s. After a lost connection it begins again with the newest page.
   *
   * @example
   * for await (const event of client.runs.watch({ status: 'running' })) console.log(event)
   */
  watch(query?: RunListQuery, options?: CallOptions): AsyncIterableIterator<RunListEvent>
  /** All of the caller's runs, newest first. Pages are requested as they are needed. */
  all(query?: RunListQuery, options?: CallOptions): AsyncIterableIterator<RunSummary>
  /**
   * Answers requests of a waiting run. The last answer starts the run that continues. Sending the same answers again finds the
   * same run. Another answer to the same request rejects with `already_answered`.
   *
   * @example
   * const { next } = await client.runs.answer(runId, [{ id: request.id, decision: 'approve' }])
   * if (next) console.log((await next.result()).text)
   */
  answer(id: string, answers: readonly Answer[], options?: CallOptions): Promise<AnsweredRun>
  /**
   * Continues a run that is `interrupted` and `resumable`. Its finished work is not repeated. Rejects with `key_required` if the
   * run used a key of its client, which the service does not store. Calling it again finds the same run.
   *
   * @example
   * const { resumable } = await client.runs.get(id)
   * if (resumable) console.log((await (await client.runs.resume(id, { apiKey })).result()).text)
   */
  resume(id: string, options?: CallOptions): Promise<ContinuedRun>
  /**
   * Runs the input of a run again, once for each call. Rejects with `input_not_kept` if the service does not store inputs, and
   * with `key_required` if the run used a key of its client. With `from` it rejects with `not_resumable` if the service does not keep
   * the work of runs, or if the agent has another version now.
   *
   * @example
   * const { id } = await client.runs.retry(runId, { input: 'Shorter, please' })
   */
  retry(id: string, options?: RetryOptions): Promise<ContinuedRun>
  /**
   * Cancels a run, and returns its record. Rejects with `run_ended` if it has completed or failed. Cancelling twice is no error.
   */
  cancel(id: string, options?: CallOptions): Promise<RunRecord>
  /**
   * Deletes a run that has ended, with its events, its result and its files. Rejects with `session_busy` for one that is at work.
   */
  delete(id: string, options?: CallOptions): Promise<void>
  /**
   * Stores feedback on an ended run. It replaces earlier feedback. A plain run has no record, so name its session.
   *
   * @example
   * await client.runs.feedback(runId, { score: 1, sessionId, name: 'assistant' })
   */
  feedback(id: string, feedback: RunFeedback, options?: CallOptions): Promise<StoredFeedback>
  /**
   * The events of a run after the event `after`, first the stored ones, then new ones as they come. Leaving does not cancel a
   * background run; for any other, `runs.disconnect` of the service decides. If the run ended before `after`, there are no
   * events. Default of `after`: 0, which gives all events.
   */
  stream(id: string, options?: CallOptions & { readonly after?: number }): RunEvents
  /**
   * A page of the events of a run, without waiting for new ones. `next` is the `after` of the next page. `ended` is true if there
   * is no next page. A page has at most 1,000 events, and fewer if they are long. Default of `after`: 0. With
   * `include: 'model_calls'` its `model_call` events have what was kept by `runs.keepModelCalls`.
   */
  events(
    id: string,
    query?: { readonly after?: number; readonly limit?: number; readonly include?: 'model_calls' },
    options?: CallOptions,
  ): Promise<RunEventPage>
  /** A file that a run has made: the part `part` (default 0) of an artifact. Rejects with `file_not_found` if there is none. */
  artifact(id: string, artifactId: string, options?: CallOptions & { readonly part?: number }): Promise<File>
  /** The same, by the address in the `data` of a part. The client requests it at its `baseUrl`. */
  file(address: string, options?: CallOptions): Promise<File>
}

/** Makes the part of a client for runs. */
export function createRuns(caller: ClientCaller): RunsClient {
  const list: RunsClient['list'] = async (query, options) => caller.ask(`/runs${queryOf(query)}`, options)
  const result: RunsClient['result'] = (id, options) => resultOf(caller, id, options)
  const stream: RunsClient['stream'] = (id, options) => readRun(caller, id, options?.after ?? 0, options)
  const continued = (id: string): ContinuedRun => ({
    id,
    result: options => result(id, options),
    stream: options => stream(id, options),
  })
  const again = async (path: string, options: CallOptions | undefined, changes: object = {}) => {
    // Each try of this call starts the same run.
    const headers = { ...RESPOND_ASYNC, 'idempotency-key': crypto.randomUUID() }
    const parts = { method: 'POST', body: { ...changes, background: true }, headers } as const
    const { id }: RunRecord = await caller.ask(path, options, parts)
    return continued(id)
  }
  return {
    list,
    watch: (query, options) => leavable(caller.open, options, call => watch(call, `/runs${queryOf(query)}`)),
    result,
    stream,
    start(target, input, options = {}) {
      const run = prepareRun(caller, target, input, options)
      return caller.within(options, async call => call.json(await run.post(call, 'run', RESPOND_ASYNC)))
    },
    get: async (id, options) =>
      caller.ask(runPath(id, options?.include && `?include=${options.include}`), options),
    async answer(id, answers, options) {
      const parts = { method: 'POST', body: { answers }, headers: RESPOND_ASYNC } as const
      const record: RunRecord = await caller.ask(runPath(id, '/answers'), options, parts)
      return { record, next: record.id === id ? undefined : continued(record.id) }
    },
    resume: (id, options) => again(runPath(id, '/resume'), options),
    retry: (id, { input, sessionId, from, ...options } = {}) =>
      again(runPath(id, '/retry'), options, { input, sessionId, from }),
    cancel: async (id, options) => caller.ask(runPath(id, '/cancel'), options, { method: 'POST' }),
    delete: async (id, options) => {
      await caller.within(options, call => call.send(runPath(id), { method: 'DELETE' }))
    },
    feedback: async (id, body, options) =>
      caller.ask(runPath(id, '/feedback'), options, { method: 'POST', body }),
    events: async (id, query, options) => caller.ask(runPath(id, `/events${queryOf(query)}`), options),
    artifact: async (id, artifactId, options) =>
      getFile(caller, artifactPath(id, artifactId, options?.part), options),
    file: async (address, options) => getFile(caller, filePath(address), options),
    async *all(query, options) {
      let cursor: string | null | undefined
      do {
        const page: RunPage = await list({ ...query, ...(cursor && { cursor }) }, options)
        yield* page.runs
        cursor = page.nextCursor
      } while (cursor)
    },
  }
}

/** Gets the file at a path. */
function getFile(caller: ClientCaller, path: string, options?: CallOptions): Promise<File> {
  return caller.within(options, async call => {
    const response = await call.send(path)
    const { headers } = response
    const bytes = await readBytes(response, call.signal, call.maxLength)
    const name = /filename\*=UTF-8''(\S+)/.exec(headers.get('content-disposition') ?? '')?.[1] ?? 'file'
    return new File(bytes, decodeURIComponent(name), { type: headers.get('content-type') ?? '' })
  })
}

/** The path of a part of an artifact. */
function artifactPath(id: string, artifactId: string, part = 0): string {
  return runPath(id, `/artifacts/${segment(artifactId)}?part=${part}`)
}

/** The path of an address, below the client's base. Throws `invalid_options` for data that is no such address. */
function filePath(address: string): string {
  return attempt('This is no address of a file of a run', () => {
    const found = /\/runs\/[\da-f-]{36}\/(artifacts|messages|input)[^#]*$/.exec(address)
    if (address.length > 2000 || found === null) throw address
    return found[0]
  })
}
