import type { EventSourceMessage } from 'eventsource-parser'
import type { RunEvent } from '../agents/contract.ts'
import { parseObject } from './body.ts'
import type { Call } from './call.ts'
import { aboutRun, invalidResponse } from './error.ts'
import { reconnect } from './reconnect.ts'

/** Where the events of a run come from. */
export interface RunSource {
  /** Known once the service has answered. */
  readonly runId: string | undefined
  /** Asks for the stream after an event. */
  open(call: Call, after: number): Promise<Response>
  /** Whether the run has ended before the event to begin after, so that there is no more to come. */
  isOver?(call: Call): Promise<boolean>
  /** The reader has left before the end. Never rejects. */
  left?(): Promise<void>
}

/** How far a reader has come. */
export interface Place {
  /** The number of the last event given. */
  last: number
}

/**
 * The events of a run from a place on, each once and in order, the last one `finish` or `error`. A reader that leaves, or
 * aborts, before that is told to the source, and waited for.
 */
export async function* runEvents(
  source: RunSource,
  call: Call,
  place: Place,
): AsyncGenerator<RunEvent, undefined> {
  const { signal } = call
  let isDone = false
  signal.addEventListener('abort', () => {
    if (!isDone) void source.left?.()
  })
  try {
    const messages = reconnect(
      call,
      () => source.open(call, place.last),
      () => source.isOver?.(call),
    )
    for await (const message of messages) {
      const event = nextEvent(message, place)
      if (!event) continue
      call.tries.progress()
      isDone = /^(finish|error)$/.test(event.type)
      yield event
      if (isDone) return
    }
    isDone = true
  } catch (error) {
    isDone = !signal.aborted
    throw isDone ? aboutRun(error, source.runId, true) : signal.reason
  } finally {
    call.unlink()
    if (!isDone) await source.left?.()
  }
}

/** The event of a message; undefined for one that is known: a stream that begins anew tells it again. */
function nextEvent({ id, data }: EventSourceMessage, place: Place): RunEvent | undefined {
  const number = Number(id)
  if (number <= place.last) return undefined
  const event = number === place.last + 1 ? (parseObject(data) as RunEvent | undefined) : undefined
  if (event?.type) {
    place.last = number
    return event
  }
  throw invalidResponse(`Event ${place.last + 1} is broken`)
}
