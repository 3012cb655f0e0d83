import type { RunInput, RunResult } from '../agents/contract.ts'
import type { RunPage, RunQuery } from '../runs/host.ts'
import type { RunRecord, RunSummary } from '../runs/record.ts'
import type { CallOptions, FollowedOptions } from './options.ts'
import { resultWhenEnded } from './result.ts'
import { RESPOND_ASYNC, RunCall, type RunTarget } from './run-call.ts'
import { type RunEvents, readRun } from './run-stream.ts'
import { linkSignal } from './signal.ts'
import type { Transport } from './transport.ts'
import { createTries, repeat } from './tries.ts'

/** Which runs to list: those that fit all of it. */
export interface RunListQuery extends Partial<Omit<RunQuery, 'cursor'>> {
  /** Runs of a page at the most, 1 to 100. Default 50. */
  readonly limit?: number
}

/** Runs that the service keeps. Those of others, and those that are gone, are `run_not_found`. */
export interface RunsClient {
  /**
   * Starts a run that nobody waits for, and gives its record. Leaving cancels nothing.
   *
   * @example
   * const { id } = await client.runs.start({ kind: 'agent', name: 'echo' }, 'Hello')
   */
  start(target: RunTarget, input: RunInput, options?: FollowedOptions): Promise<RunRecord>
  /** The record of a run, with its result once it has ended. */
  get(id: string, options?: CallOptions): Promise<RunRecord>
  /** Waits until a run has ended, and gives its result. Rejects with the code of a run that failed. */
  result(id: string, options?: CallOptions): Promise<RunResult>
  /** A page of the caller's runs, newest first. `not_found` where the service lists none to strangers. */
  list(query?: RunListQuery & { readonly cursor?: string }, options?: CallOptions): Promise<RunPage>
  /** All of the caller's runs, newest first, page after page as they are read. */
  all(query?: RunListQuery, options?: CallOptions): AsyncIterableIterator<RunSummary>
  /** Stops a run, and gives its record. A run that has completed or failed is `run_ended`; cancelling twice is no error. */
  cancel(id: string, options?: CallOptions): Promise<RunRecord>
  /**
   * The events of a run after the event `after` (default 0: all), then as they come. Leaving cancels nothing. There are none
   * where the run had ended before `after`.
   */
  stream(id: string, options?: CallOptions & { readonly after?: number }): RunEvents
}

/** The part of a client that is about runs. */
export function createRuns(transport: Transport): RunsClient {
  const path = (id: string, more = '') => `/runs/${encodeURIComponent(id)}${more}`
  const list: RunsClient['list'] = (query = {}, options) =>
    transport.ask({ method: 'GET', path: `/runs${queryOf(query)}`, options })
  return {
    list,
    start: (target, input, options = {}) =>
      startRun(transport, new RunCall(transport, target, input, options), options),
    get: (id, options) => transport.ask({ method: 'GET', path: path(id), options }),
    result: (id, options = {}) => resultWhenEnded(transport, id, options),
    cancel: (id, options) => transport.ask({ method: 'POST', path: path(id, '/cancel'), options }),
    stream: (id, options = {}) => readRun(transport, id, options.after ?? 0, options),
    async *all(query, options) {
      let cursor: string | null | undefined
      do {
        const page: RunPage = await list({ ...query, ...(cursor != null && { cursor }) }, options)
        yield* page.runs
        cursor = page.nextCursor
      } while (cursor !== null)
    },
  }
}

async function startRun(transport: Transport, call: RunCall, options: CallOptions): Promise<RunRecord> {
  const { signal, unlink } = linkSignal(options)
  try {
    return await repeat(createTries(transport.settings, signal), async () => {
      return transport.json<RunRecord>(await call.post('run', signal, RESPOND_ASYNC), signal)
    })
  } finally {
    unlink()
  }
}

/** A query as it stands in an address; empty where there is none. */
export function queryOf(query: object): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined)
  return given.length === 0
    ? ''
    : `?${new URLSearchParams(given.map(([name, value]) => [name, String(value)]))}`
}
