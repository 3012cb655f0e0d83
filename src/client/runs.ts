import type { Answer, RunInput, RunResult } from '../agents/contract.ts'
import type { ToldFeedback } from '../features/sessions/feedback.ts'
import type { RunListEvent } from '../http/runs/live-runs.ts'
import type { FeedbackInput } from '../runs/feedback.ts'
import type { RunPage, RunQuery } from '../runs/stored/host.ts'
import type { RunEventPage } from '../runs/stored/log-page.ts'
import type { RunRecord, RunSummary } from '../runs/stored/record.ts'
import { askRun, RESPOND_ASYNC, type RunTarget } from './asked-run.ts'
import type { Caller } from './call.ts'
import { artifactPath, filePath, getFile } from './files.ts'
import { watch } from './metrics.ts'
import type { CallOptions, FollowedOptions } from './options.ts'
import { leavable } from './reconnect.ts'
import { resultOf } from './result.ts'
import { type RunEvents, readRun, runPath } from './run-stream.ts'
import { queryOf } from './sent.ts'

/** Which runs to list. A run must match all members. */
export interface RunListQuery extends Partial<Omit<RunQuery, 'cursor' | 'since' | 'until'>> {
  /** Runs that began at this time or later. ISO 8601 with a zone, or a `Date`. */
  readonly since?: string | Date
  /** Runs that began before this time. */
  readonly until?: string | Date
  /** Most runs of a page, 1 to 100. Default: 50. */
  readonly limit?: number
}

/** A run in the background that goes on from another one, or runs its input again. */
export interface ContinuedRun {
  readonly id: string
  /** As `runs.result`. */
  result(options?: CallOptions): Promise<RunResult>
  /** As `runs.stream`. */
  stream(options?: CallOptions & { readonly after?: number }): RunEvents
}

/** What came of answers. */
export interface AnsweredRun {
  /** The record of the run that still waits, with the `requests` that are left, or of the run that goes on. */
  readonly record: RunRecord
  /** The run that goes on; undefined while requests are left. */
  readonly next: ContinuedRun | undefined
}

/** What is said of a run. At least one of the first three is needed. */
export interface RunFeedback extends FeedbackInput {
  /** The session of a plain run, and whose it is. Default of `kind`: `agent`. */
  readonly sessionId?: string
  readonly kind?: RunTarget['kind']
  readonly name?: string
}

/** Runs that the service keeps. Those of others, and those that are gone, are `run_not_found`. */
export interface RunsClient {
  /**
   * Starts a background run and gives its record. Aborting later does not cancel it.
   *
   * @example
   * const { id } = await client.runs.start({ kind: 'agent', name: 'echo' }, 'Hello')
   */
  start(target: RunTarget, input: RunInput, options?: FollowedOptions): Promise<RunRecord>
  /** The record of a run, with its result once it has ended, and with its input if you include that and the service keeps it. */
  get(id: string, options?: CallOptions & { readonly include?: 'input' }): Promise<RunRecord>
  /** Waits until a run has ended, and gives its result. Rejects with the code of a run that failed. */
  result(id: string, options?: CallOptions): Promise<RunResult>
  /**
   * A page of the caller's runs, newest first. A page may be short or empty. If it has a `nextCursor`, there may be more
   * runs. Rejects with `not_found` if the service lists no runs to clients without an identity.
   */
  list(query?: RunListQuery & { readonly cursor?: string }, options?: CallOptions): Promise<RunPage>
  /**
   * First the newest page of the caller's runs, then what changes in it, until the loop is left. The service looks every 2 s. After a lost
   * connection it begins again with the newest page.
   *
   * @example
   * for await (const event of client.runs.watch({ status: 'running' })) console.log(event)
   */
  watch(query?: RunListQuery, options?: CallOptions): AsyncIterableIterator<RunListEvent>
  /** All of the caller's runs, newest first. Pages are requested as they are needed. */
  all(query?: RunListQuery, options?: CallOptions): AsyncIterableIterator<RunSummary>
  /**
   * Answers requests of a run that waits. The last answer starts the run that goes on. The same answers again find the same run;
   * another answer to the same request is `already_answered`.
   *
   * @example
   * const { next } = await client.runs.answer(runId, [{ id: request.id, decision: 'approve' }])
   * if (next) console.log((await next.result()).text)
   */
  answer(id: string, answers: readonly Answer[], options?: CallOptions): Promise<AnsweredRun>
  /**
   * Lets a run go on that is `interrupted` and `resumable`: what it has done is not done again. `key_required` where it used a key
   * of its client, which the service does not keep. Asked again, it finds the same run.
   *
   * @example
   * const { resumable } = await client.runs.get(id)
   * if (resumable) console.log((await (await client.runs.resume(id, { apiKey })).result()).text)
   */
  resume(id: string, options?: CallOptions): Promise<ContinuedRun>
  /**
   * Runs the input of a run again, once for each call. `input_not_kept` where the service does not keep inputs, and `key_required` where
   * the run used a key of its client.
   */
  retry(id: string, options?: CallOptions): Promise<ContinuedRun>
  /** Stops a run, and gives its record. A run that has completed or failed is `run_ended`; cancelling twice is no error. */
  cancel(id: string, options?: CallOptions): Promise<RunRecord>
  /**
   * Says what a run that has ended was worth; it replaces what was said before. A plain run has no record: name its session.
   *
   * @example
   * await client.runs.feedback(runId, { score: 1, sessionId, name: 'assistant' })
   */
  feedback(id: string, feedback: RunFeedback, options?: CallOptions): Promise<ToldFeedback>
  /**
   * The events of a run after the event `after`, first the stored ones, then new ones as they come. Leaving does not cancel a
   * background run; for any other, `runs.disconnect` of the service decides. If the run ended before `after`, there are no
   * events. Default of `after`: 0, which gives all events.
   */
  stream(id: string, options?: CallOptions & { readonly after?: number }): RunEvents
  /**
   * A page of the events of a run, without waiting for new ones. `next` is the `after` of the next page, and `ended` says that there is
   * none. A page has at most 1,000 events, and less if they are long. Default of `after`: 0.
   */
  events(
    id: string,
    query?: { readonly after?: number; readonly limit?: number },
    options?: CallOptions,
  ): Promise<RunEventPage>
  /** A file that a run has made: the part `part` (default 0) of an artifact. `file_not_found` where there is none. */
  artifact(id: string, artifactId: string, options?: CallOptions & { readonly part?: number }): Promise<File>
  /** The same, by the address that is the `data` of a part. It is asked for at the client's `baseUrl`. */
  file(address: string, options?: CallOptions): Promise<File>
}

/** Makes the part of a client for runs. */
export function createRuns(caller: Caller): RunsClient {
  const list: RunsClient['list'] = async (query, options) => caller.ask(`/runs${queryOf(query)}`, options)
  const result: RunsClient['result'] = (id, options) => resultOf(caller, id, options)
  const stream: RunsClient['stream'] = (id, options) => readRun(caller, id, options?.after ?? 0, options)
  const continued = (id: string): ContinuedRun => ({
    id,
    result: options => result(id, options),
    stream: options => stream(id, options),
  })
  const again = async (path: string, options?: CallOptions) => {
    // Each try of this call starts the same run.
    const headers = { ...RESPOND_ASYNC, 'idempotency-key': crypto.randomUUID() }
    const parts = { method: 'POST', body: { background: true }, headers } as const
    const { id }: RunRecord = await caller.ask(path, options, parts)
    return continued(id)
  }
  return {
    list,
    watch: (query, options) => leavable(caller.open, options, call => watch(call, `/runs${queryOf(query)}`)),
    result,
    stream,
    start(target, input, options = {}) {
      const run = askRun(caller, target, input, options)
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
    retry: (id, options) => again(runPath(id, '/retry'), options),
    cancel: async (id, options) => caller.ask(runPath(id, '/cancel'), options, { method: 'POST' }),
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
