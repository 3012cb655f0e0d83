import type { RunEvent, RunResult } from '../agents/contract.ts'
import type { RunRecord } from '../runs/stored/record.ts'
import type { ClientCall, ClientCaller } from './call.ts'
import type { ClientRun } from './client-run.ts'
import type { CallOptions } from './options.ts'
import { leavable } from './reconnect.ts'
import { type RunPosition, type RunSource, runEvents } from './run-events.ts'
import { segment } from './sent.ts'

/**
 * The events of a run as they come, each once and in order. The last one is `finish` or `error`: a failed run gives an event
 * and does not throw. The events can be read once. The client sends nothing before the first read.
 */
export interface RunEvents extends AsyncIterableIterator<RunEvent, undefined> {
  /** The run's id. Undefined until the service has answered; the first event always has it. */
  readonly runId: string | undefined
  /** The number of the last event given, from 1. `client.runs.stream(runId, { after })` continues after it. */
  readonly lastEventId: number
  /** Stops reading, even while `next()` waits, which then resolves as done. */
  return(): Promise<IteratorReturnResult<undefined>>
}

/** The events of a stored run, and its result. */
export interface RunStream<Result = RunResult> extends RunEvents {
  /**
   * Reads the rest of the stream, drops its events and returns the result. Rejects with the code of a run that failed, and with
   * `stream_broken` if the reader left the stream before the run began.
   */
  result(): Promise<Result>
}

/** The stream of a run that this call starts. Leaving it cancels the run. */
export function streamRun(caller: ClientCaller, run: ClientRun, options: CallOptions): RunEvents {
  const source: RunSource = {
    get runId() {
      return run.id
    },
    open: (call, after) => (run.id ? resume(call, run.id, after) : run.post(call, 'stream')),
    left: run.cancel,
  }
  return createEvents(call => caller.open(call, run.isFollowed ? undefined : 1), options, 0, source)
}

/** The stream of an existing run. The client does not cancel the run when its reader leaves. The service may. */
export function readRun(
  caller: ClientCaller,
  id: string,
  after: number,
  options: CallOptions | undefined,
): RunEvents {
  let hasEnded = false
  return createEvents(caller.open, options, after, {
    runId: id,
    open: (call, last) => resume(call, id, last),
    async isOver(call) {
      // The run may end between the stream and the record. One more try reads the events in between.
      if (hasEnded) return true
      const { status } = await call.json<RunRecord>(await call.send(runPath(id)))
      hasEnded = status !== 'queued' && status !== 'running'
      return false
    },
  })
}

function createEvents(
  open: (options?: CallOptions) => ClientCall,
  options: CallOptions | undefined,
  after: number,
  source: RunSource,
): RunEvents {
  const position: RunPosition = { last: after }
  const events = leavable(open, options, call => runEvents(source, call, position))
  return {
    ...events,
    get runId() {
      return source.runId
    },
    get lastEventId() {
      return position.last
    },
  }
}

/** Requests the stream again, from its current position. */
function resume(call: ClientCall, id: string, last: number): Promise<Response> {
  return call.send(runPath(id, '/stream'), { headers: { 'last-event-id': `${last}` } })
}

/** The path of a run. */
export function runPath(id: string, more = ''): string {
  return `/runs/${segment(id)}${more}`
}
