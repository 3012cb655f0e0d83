/**
 * Gets the results of runs, from the answer to one request or from the record of a run.
 *
 * @module
 */

import type { RunResult } from '../agents/contract.ts'
import type { RunRecord } from '../runs/stored/record.ts'
import type { ClientCall, ClientCaller } from './call.ts'
import { type ClientRun, RESPOND_ASYNC } from './client-run.ts'
import { aboutRun, invalidResponse, ServableClientError } from './error.ts'
import type { CallOptions } from './options.ts'
import { type RunEvents, type RunStream, readRun, runPath } from './run-stream.ts'

/** Runs to the end. If the answer of a stored run was lost, the client finds the run and waits for it. */
export function runToEnd(caller: ClientCaller, run: ClientRun, options: CallOptions): Promise<RunResult> {
  return inOne(caller, options, async rest => {
    const { signal } = rest
    signal.addEventListener('abort', () => void run.cancel())
    try {
      return (await askForResult(caller, run, rest)) ?? (await resultOf(caller, `${run.id}`, rest))
    } catch (error) {
      if (signal.aborted) await run.cancel()
      throw aboutRun(error, run.id)
    }
  })
}

/** The result in the answer, after as many tries as needed. Undefined if only the run's record came. */
function askForResult(
  caller: ClientCaller,
  run: ClientRun,
  options: CallOptions,
): Promise<RunResult | undefined> {
  let isLost = false
  const ask = async (call: ClientCall) => {
    try {
      const response = await run.post(call, 'run', isLost ? RESPOND_ASYNC : {})
      const answer = await call.json<RunResult>(response)
      return response.status === 202 ? undefined : answer
    } catch (error) {
      // A refused run has not begun. After any other error the run may be running, and may be silent for long.
      isLost ||= Object(error).status !== 429
      throw error
    }
  }
  return caller.within(options, ask, run.isFollowed ? undefined : 1)
}

/** The result of an existing run, after it has ended. Throws the code of a run that failed. */
export function resultOf(caller: ClientCaller, id: string, options?: CallOptions): Promise<RunResult> {
  return inOne(caller, options, async rest => {
    let record = await caller.ask<RunRecord>(runPath(id), rest)
    if (record.status === 'queued' || record.status === 'running') {
      await drain(readRun(caller, id, 0, rest))
      record = await caller.ask(runPath(id), rest)
    }
    const { result, error } = record
    if (result) return result
    throw error
      ? new ServableClientError(error.code, error.message, { runId: id })
      : invalidResponse('The answer has no result', { runId: id })
  })
}

/** Does the work in the time of one call. `rest` has the options of the calls inside it. */
function inOne<T>(
  caller: ClientCaller,
  options: CallOptions | undefined,
  work: (rest: CallOptions & { readonly signal: AbortSignal }) => Promise<T>,
): Promise<T> {
  return caller.within(options, ({ signal }) => work({ ...options, signal, timeoutMs: undefined }), 1)
}

/** The same stream, with the result of its run. */
export function withResult(caller: ClientCaller, events: RunEvents, options: CallOptions): RunStream {
  return Object.assign(events, {
    result: () =>
      inOne(caller, options, async rest => {
        await drain(events)
        if (events.runId) return resultOf(caller, events.runId, rest)
        throw new ServableClientError('stream_broken', 'The stream was cut off')
      }),
  })
}

async function drain(events: RunEvents): Promise<void> {
  while (!(await events.next()).done);
}
