import type { EventSourceMessage } from 'eventsource-parser'
import type { RunEvent } from '../agents/contract.ts'
import { parseObject } from './body.ts'
import type { ClientCall } from './call.ts'
import { aboutRun, invalidResponse } from './error.ts'
import { reconnect } from './reconnect.ts'

/** The source of a run's events. */
export interface RunSource {
  /** Undefined until the service has answered. */
  readonly runId: string | undefined
  /** Requests the stream after an event. */
  open(call: ClientCall, after: number): Promise<Response>
  /** Whether the run has already ended, so that no more events come. */
  isOver?(call: ClientCall): Promise<boolean>
  /** Called if the reader leaves before the end. Never rejects. */
  left?(): Promise<void>
}

/** The progress of a reader. */
export interface RunPosition {
  /** The number of the last event given. */
  last: number
}

/**
 * The events of a run after a position, each once and in order. The last one is `finish` or `error`. If the reader leaves or
 * aborts before that, this calls `left` of the source and waits for it.
 */
export async function* runEvents(
  source: RunSource,
  call: ClientCall,
  position: RunPosition,
): AsyncGenerator<RunEvent, undefined> {
  const { signal } = call
  let isDone = false
  signal.addEventListener('abort', () => {
    if (!isDone) void source.left?.()
  })
  try {
    const messages = reconnect(
      call,
      () => source.open(call, position.last),
      () => source.isOver?.(call),
    )
    for await (const message of messages) {
      const event = nextEvent(message, position)
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

/** The event of a message. Undefined for a known event, since a new connection may repeat events. */
function nextEvent({ id, data }: EventSourceMessage, position: RunPosition): RunEvent | undefined {
  const number = Number(id)
  if (number <= position.last) return undefined
  const event = number === position.last + 1 ? (parseObject(data) as RunEvent | undefined) : undefined
  if (event?.type) {
    position.last = number
    return event
  }
  throw invalidResponse(`Event ${position.last + 1} is broken`)
}
