/**
 * The results of runs: of one request, or of the record of a run that is waited for.
 *
 * @module
 */

import type { RunResult } from '../agents/contract.ts'
import type { RunRecord } from '../runs/record.ts'
import { type AskedRun, RESPOND_ASYNC } from './asked-run.ts'
import type { Call, Caller } from './call.ts'
import { aboutRun, ServableClientError } from './error.ts'
import type { CallOptions } from './options.ts'
import { type RunEvents, type RunStream, readRun, runPath } from './run-stream.ts'
import { repeat } from './tries.ts'

/** Runs to the end. A followed run whose answer was lost is looked up and waited for. */
export async function runToEnd(caller: Caller, run: AskedRun, options: CallOptions): Promise<RunResult> {
  const call = caller.open(options, run.isFollowed ? undefined : 1)
  const { signal } = call
  signal.addEventListener('abort', () => void run.cancel())
  try {
    const result = await askForResult(run, call)
    return result ?? (await resultOf(caller, run.id ?? '', { ...options, signal, timeoutMs: undefined }))
  } catch (error) {
    if (signal.aborted) await run.cancel()
    throw aboutRun(error, run.id)
  } finally {
    call.unlink()
  }
}

/** The result in the answer, however often it is asked for; undefined where only the run's record came. */
function askForResult(run: AskedRun, call: Call): Promise<RunResult | undefined> {
  let isLost = false
  return repeat(call.tries, async () => {
    try {
      const response = await run.post(call, 'run', isLost ? RESPOND_ASYNC : {})
      const answer = await call.json<RunResult>(response)
      return response.status === 202 ? undefined : answer
    } catch (error) {
      // What was refused has not begun; after anything else the run may be at work, and silent for long.
      isLost ||= Object(error).status !== 429
      throw error
    }
  })
}

/** The result of a run that there is, once it has ended. Throws the code of a run that failed. */
export async function resultOf(caller: Caller, id: string, options: CallOptions): Promise<RunResult> {
  let record = await caller.ask<RunRecord>(runPath(id), options)
  if (record.status === 'running') {
    await drain(readRun(caller, id, 0, options))
    record = await caller.ask(runPath(id), options)
  }
  const { result, error = { code: 'invalid_response', message: 'The record has no result' } } = record
  if (result !== undefined) return result
  throw new ServableClientError(error.code, error.message, { runId: id })
}

/** The same stream, with the result of its run. */
export function withResult(caller: Caller, events: RunEvents, options: CallOptions): RunStream {
  return Object.assign(events, {
    async result() {
      await drain(events)
      if (events.runId !== undefined) return resultOf(caller, events.runId, options)
      throw new ServableClientError('stream_broken', 'The run never began')
    },
  })
}

async function drain(events: RunEvents): Promise<void> {
  while (!(await events.next()).done);
}
