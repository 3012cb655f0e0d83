/**
 * The results of runs: of one request, or of the record of a run that is waited for.
 *
 * @module
 */

import type { RunResult } from '../agents/contract.ts'
import type { RunRecord } from '../runs/record.ts'
import { readEvents } from './body.ts'
import { aboutRun, ServableClientError } from './error.ts'
import type { CallOptions } from './options.ts'
import { RESPOND_ASYNC, type RunCall } from './run-call.ts'
import { linkSignal } from './signal.ts'
import { notOurs, type Transport } from './transport.ts'
import { createTries, repeat, type Tries } from './tries.ts'

/** Runs to the end. A followed run whose answer was lost is looked up and waited for. */
export async function runToEnd(
  transport: Transport,
  call: RunCall,
  options: CallOptions,
): Promise<RunResult> {
  const { signal, unlink } = linkSignal(options)
  const cancel = () => void call.cancel()
  signal.addEventListener('abort', cancel)
  try {
    if (!call.isFollowed) return await resultIn(transport, await call.post('run', signal), signal)
    const tries = createTries(transport.settings, signal)
    const result = await askForResult(transport, call, signal, tries)
    if (result !== undefined) return result
    return resultOf(await whenEnded(transport, call.runId ?? '', options, signal, tries))
  } catch (error) {
    if (signal.aborted) await call.cancel()
    throw aboutRun(error, call.runId)
  } finally {
    signal.removeEventListener('abort', cancel)
    unlink()
  }
}

/** The result of a run that there is, once it has ended. Throws the code of a run that failed. */
export async function resultWhenEnded(
  transport: Transport,
  id: string,
  options: CallOptions,
): Promise<RunResult> {
  const { signal, unlink } = linkSignal(options)
  try {
    const tries = createTries(transport.settings, signal)
    return resultOf(await whenEnded(transport, id, options, signal, tries))
  } finally {
    unlink()
  }
}

/** The result in the answer, however often it is asked for; undefined where only the run's record came. */
function askForResult(
  transport: Transport,
  call: RunCall,
  signal: AbortSignal,
  tries: Tries,
): Promise<RunResult | undefined> {
  let isLost = false
  return repeat(tries, async () => {
    try {
      const response = await call.post('run', signal, isLost ? RESPOND_ASYNC : {})
      if (response.status === 202) return void (await transport.json(response, signal))
      return await resultIn(transport, response, signal)
    } catch (error) {
      // What was refused has not begun; after anything else the run may be at work, and silent for long.
      if (!(error instanceof ServableClientError) || error.status !== 429) isLost = true
      throw error
    }
  })
}

/** Last of all events, so that a stream after it tells nothing but that the run goes on. */
const AFTER_ALL: Readonly<Record<string, string>> = { 'last-event-id': '999999999999999' }

/** The record of a run that has ended. The service is not asked again and again: its stream closes when the run ends. */
async function whenEnded(
  transport: Transport,
  id: string,
  options: CallOptions,
  signal: AbortSignal,
  tries: Tries,
): Promise<RunRecord> {
  const path = `/runs/${encodeURIComponent(id)}`
  const onComment = (comment: string) => {
    if (comment.trim() === 'keep-alive') tries.progress()
  }
  let isWatched = false
  return repeat(tries, async () => {
    while (true) {
      const response = await transport.send({ method: 'GET', path, options }, signal)
      const record = await transport.json<RunRecord>(response, signal)
      if (record.status !== 'running') return record
      if (isWatched)
        await tries.again(new ServableClientError('network_error', 'The stream was closed before its end'))
      isWatched = true
      const stream = { method: 'GET', path: `${path}/stream`, headers: AFTER_ALL, options } as const
      const events = readEvents(
        await transport.send(stream, signal),
        { ...transport.settings, signal },
        onComment,
      )
      while (!(await events.next()).done);
    }
  })
}

async function resultIn(transport: Transport, response: Response, signal: AbortSignal): Promise<RunResult> {
  const result = await transport.json<RunResult>(response, signal)
  if (typeof result.text === 'string') return result
  throw notOurs(response, 'result of a run')
}

function resultOf({ id, status, result, error }: RunRecord): RunResult {
  if (result !== undefined) return result
  const { code, message } = error ?? {
    code: 'invalid_response',
    message: `The run is ${status}, without a result`,
  }
  throw new ServableClientError(code, message, { runId: id })
}
