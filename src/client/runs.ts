import type { RunInput, RunResult } from '../agents/contract.ts'
import type { RunPage, RunQuery } from '../runs/host.ts'
import type { RunRecord, RunSummary } from '../runs/record.ts'
import { askRun, RESPOND_ASYNC, type RunTarget } from './asked-run.ts'
import type { Caller } from './call.ts'
import type { CallOptions, FollowedOptions } from './options.ts'
import { resultOf } from './result.ts'
import { type RunEvents, readRun, runPath } from './run-stream.ts'
import { queryOf } from './sent.ts'

/** Which runs to list. A run must match all members. */
export interface RunListQuery extends Partial<Omit<RunQuery, 'cursor'>> {
  /** Most runs of a page, 1 to 100. Default: 50. */
  readonly limit?: number
}

/** Stored runs. The runs of others, and deleted runs, reject with `run_not_found`. */
export interface RunsClient {
  /**
   * Starts a background run and gives its record. Aborting later does not cancel it.
   *
   * @example
   * const { id } = await client.runs.start({ kind: 'agent', name: 'echo' }, 'Hello')
   */
  start(target: RunTarget, input: RunInput, options?: FollowedOptions): Promise<RunRecord>
  /** The record of a run, with its result once it has ended. */
  get(id: string, options?: CallOptions): Promise<RunRecord>
  /** Waits until a run has ended, and gives its result. Rejects with the code of a run that failed. */
  result(id: string, options?: CallOptions): Promise<RunResult>
  /**
   * A page of the caller's runs, newest first. A page may be short or empty. If it has a `nextCursor`, there may be more
   * runs. Rejects with `not_found` if the service lists no runs to clients without an identity.
   */
  list(query?: RunListQuery & { readonly cursor?: string }, options?: CallOptions): Promise<RunPage>
  /** All of the caller's runs, newest first. Pages are requested as they are needed. */
  all(query?: RunListQuery, options?: CallOptions): AsyncIterableIterator<RunSummary>
  /**
   * Cancels a run and gives its record. Rejects with `run_ended` if the run has completed or failed. Cancelling twice is not
   * an error.
   */
  cancel(id: string, options?: CallOptions): Promise<RunRecord>
  /**
   * The events of a run after the event `after`, first the stored ones, then new ones as they come. Leaving does not cancel
   * the run. If the run ended before `after`, there are no events. Default of `after`: 0, which gives all events.
   */
  stream(id: string, options?: CallOptions & { readonly after?: number }): RunEvents
}

/** Makes the part of a client for runs. */
export function createRuns(caller: Caller): RunsClient {
  const list: RunsClient['list'] = async (query, options) => caller.ask(`/runs${queryOf(query)}`, options)
  return {
    list,
    start(target, input, options = {}) {
      const run = askRun(caller, target, input, options)
      return caller.within(options, async call => call.json(await run.post(call, 'run', RESPOND_ASYNC)))
    },
    get: async (id, options) => caller.ask(runPath(id), options),
    result: (id, options) => resultOf(caller, id, options),
    cancel: async (id, options) => caller.ask(runPath(id, '/cancel'), options, { method: 'POST' }),
    stream: (id, options) => readRun(caller, id, options?.after ?? 0, options),
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
