import type { RunEvent, RunResult } from '../agents/contract.ts'
import type { RunRecord } from '../runs/record.ts'
import type { AskedRun } from './asked-run.ts'
import type { Call, Caller } from './call.ts'
import type { CallOptions } from './options.ts'
import { leavable } from './reconnect.ts'
import { type Place, type RunSource, runEvents } from './run-events.ts'
import { segment } from './sent.ts'

/**
 * The events of a run as they come, each once and in order. The last one is `finish` or `error`: a failed run is told as an
 * event and not thrown. It can be read once. Nothing is sent before the first read.
 */
export interface RunEvents extends AsyncIterableIterator<RunEvent, undefined> {
  /** The run; undefined until the service has answered, which it has with the first event. */
  readonly runId: string | undefined
  /** The number of the last event given, from 1; `client.runs.stream(runId, { after })` goes on after it. */
  readonly lastEventId: number
  /** Stops reading, also while a `next()` waits, which then is done. */
  return(): Promise<IteratorReturnResult<undefined>>
}

/** The events of a run that the service keeps, and its result. */
export interface RunStream<Result = RunResult> extends RunEvents {
  /**
   * Reads what is left of the stream, without giving it to anyone, and gives the result. Rejects with the code of a run that
   * failed, and with `stream_broken` where the stream was left before its run began.
   */
  result(): Promise<Result>
}

/** The stream of a run that this call starts. Leaving it cancels the run. */
export function streamRun(caller: Caller, run: AskedRun, options: CallOptions): RunEvents {
  const source: RunSource = {
    get runId() {
      return run.id
    },
    open: (call, after) => (run.id ? resume(call, run.id, after) : run.post(call, 'stream')),
    left: run.cancel,
  }
  return createEvents(call => caller.open(call, run.isFollowed ? undefined : 1), options, 0, source)
}

/** The stream of a run that there is. Leaving it is nothing to the run. */
export function readRun(
  caller: Caller,
  id: string,
  after: number,
  options: CallOptions | undefined,
): RunEvents {
  let hasEnded = false
  return createEvents(caller.open, options, after, {
    runId: id,
    open: (call, last) => resume(call, id, last),
    async isOver(call) {
      // What ended between the stream and the record is seen by one more try.
      if (hasEnded) return true
      const { status } = await call.json<RunRecord>(await call.send(runPath(id)))
      hasEnded = status !== 'running'
      return false
    },
  })
}

function createEvents(
  open: (options?: CallOptions) => Call,
  options: CallOptions | undefined,
  after: number,
  source: RunSource,
): RunEvents {
  const place: Place = { last: after }
  const events = leavable(open, options, call => runEvents(source, call, place))
  return {
    ...events,
    get runId() {
      return source.runId
    },
    get lastEventId() {
      return place.last
    },
  }
}

/** The stream again, from where it has come. */
function resume(call: Call, id: string, last: number): Promise<Response> {
  return call.send(runPath(id, '/stream'), { headers: { 'last-event-id': `${last}` } })
}

/** Where a run is. */
export function runPath(id: string, more = ''): string {
  return `/runs/${segment(id)}${more}`
}
