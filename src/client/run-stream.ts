import type { RunEvent, RunResult } from '../agents/contract.ts'
import { ServableClientError } from './error.ts'
import type { CallOptions } from './options.ts'
import { resultWhenEnded } from './result.ts'
import type { RunCall } from './run-call.ts'
import { LEFT, type Place, type RunSource, runEvents } from './run-events.ts'
import { type Link, linkSignal } from './signal.ts'
import type { Transport } from './transport.ts'

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
   * failed.
   */
  result(): Promise<Result>
}

/** The stream of a run that this call starts. Leaving it cancels the run. */
export function streamRun(transport: Transport, call: RunCall, options: CallOptions): RunEvents {
  return createEvents(transport, options, 0, {
    get runId() {
      return call.runId
    },
    canResume: call.isFollowed,
    open: (after, signal) =>
      call.runId === undefined
        ? call.post('stream', signal)
        : resume(transport, call.runId, after, options, signal),
    left: () => call.cancel(),
  })
}

/** The stream of a run that there is. Leaving it is nothing to the run. */
export function readRun(transport: Transport, id: string, after: number, options: CallOptions): RunEvents {
  let hasEnded = false
  return createEvents(transport, options, after, {
    runId: id,
    canResume: true,
    open: (last, signal) => resume(transport, id, last, options, signal),
    // What ended between the stream and the record is seen by one more try.
    async isOver(signal) {
      if (hasEnded) return true
      const response = await transport.send({ method: 'GET', path: pathOf(id), options }, signal)
      const { status } = await transport.json<{ status: string }>(response, signal)
      hasEnded = status !== 'running'
      return false
    },
    left: () => Promise.resolve(),
  })
}

/** The same stream, with the result of its run. */
export function withResult<Result>(
  transport: Transport,
  events: RunEvents,
  options: CallOptions,
): RunStream<Result> {
  const result = async () => {
    while (!(await events.next()).done);
    const { runId } = events
    if (runId === undefined)
      throw new ServableClientError('stream_broken', 'The stream was left before its run began')
    return (await resultWhenEnded(transport, runId, options)) as Result
  }
  return Object.assign(events, { result })
}

function createEvents(
  { settings }: Transport,
  options: CallOptions,
  after: number,
  source: RunSource,
): RunEvents {
  const place: Place = { last: after }
  let begun: { link: Link; events: AsyncGenerator<RunEvent, void> } | undefined
  // Not before the first read: a stream that is never read holds nothing.
  const begin = () => {
    const link = linkSignal(options)
    return { link, events: runEvents(source, settings, link, place) }
  }
  return {
    get runId() {
      return source.runId
    },
    get lastEventId() {
      return place.last
    },
    next() {
      begun ??= begin()
      return begun.events.next() as Promise<IteratorResult<RunEvent, undefined>>
    },
    async return() {
      begun ??= begin()
      begun.link.leave(LEFT)
      await begun.events.return()
      return { done: true, value: undefined }
    },
    [Symbol.asyncIterator]() {
      return this
    },
  }
}

function resume(
  transport: Transport,
  id: string,
  last: number,
  options: CallOptions,
  signal: AbortSignal,
): Promise<Response> {
  const headers = { 'last-event-id': String(last) }
  return transport.send({ method: 'GET', path: `${pathOf(id)}/stream`, headers, options }, signal)
}

function pathOf(id: string): string {
  return `/runs/${encodeURIComponent(id)}`
}
