import type { RunEvent } from '../agents/contract.ts'
import { aboutRun, mayPass, ServableClientError } from './error.ts'
import { reconnect } from './reconnect.ts'
import type { Link } from './signal.ts'
import type { Settings } from './transport.ts'
import { createTries } from './tries.ts'

/** Where the events of a run come from. */
export interface RunSource {
  /** Known once the service has answered. */
  readonly runId: string | undefined
  /** Asks for the stream after an event. */
  open(after: number, signal: AbortSignal): Promise<Response>
  /** Whether a lost connection can be taken up again. */
  readonly canResume: boolean
  /** Whether the run has ended before the event to begin after, so that there is no more to come. */
  isOver?(signal: AbortSignal): Promise<boolean>
  /** The reader has left before the end. Never rejects. */
  left(): Promise<void>
}

/** How far a reader has come. */
export interface Place {
  /** The number of the last event given. */
  last: number
}

/** Why a stream ends whose reader has left. */
export const LEFT: unique symbol = Symbol('left')

/**
 * The events of a run from a place on, each once and in order, the last one `finish` or `error`. A reader that leaves, or
 * aborts, before that is told to the source, and waited for.
 */
export async function* runEvents(
  source: RunSource,
  settings: Settings,
  link: Link,
  place: Place,
): AsyncGenerator<RunEvent, void> {
  const { signal } = link
  const leave = () => void source.left()
  signal.addEventListener('abort', leave)
  let isDone = false
  try {
    for await (const event of newEvents(source, settings, signal, place)) {
      isDone = event.type === 'finish' || event.type === 'error'
      if (isDone) signal.removeEventListener('abort', leave)
      yield event
      if (isDone) return
    }
    isDone = true
  } catch (error) {
    if (error === LEFT) return
    isDone = !signal.aborted
    throw error === signal.reason ? error : brokenOff(error, source)
  } finally {
    signal.removeEventListener('abort', leave)
    link.unlink()
    if (!isDone) await source.left()
  }
}

async function* newEvents(
  source: RunSource,
  settings: Settings,
  signal: AbortSignal,
  place: Place,
): AsyncGenerator<RunEvent, void> {
  const tries = createTries(source.canResume ? settings : { ...settings, maxTries: 1 }, signal)
  const open = () => source.open(place.last, signal)
  const isOver = async () => (await source.isOver?.(signal)) ?? false
  for await (const { id, data } of reconnect({ open, settings, signal, tries, isOver })) {
    const number = Number(id)
    if (!Number.isSafeInteger(number) || number > place.last + 1)
      throw garbled('its events are not numbered one by one')
    // A stream that begins anew tells again what is known.
    if (number <= place.last) continue
    place.last = number
    tries.progress()
    yield parse(data)
  }
}

function parse(data: string): RunEvent {
  try {
    const event: unknown = JSON.parse(data)
    if (typeof Object(event).type === 'string') return event as RunEvent
  } catch {
    // Told below.
  }
  throw garbled('an event is no JSON object with a `type`')
}

function garbled(how: string): ServableClientError {
  return new ServableClientError('invalid_response', `The stream is not one of runs: ${how}`)
}

/** A run that has begun goes on without us. */
function brokenOff(error: unknown, { runId, canResume }: RunSource): unknown {
  if (runId === undefined || !mayPass(error)) return aboutRun(error, runId)
  const hint = canResume ? ': `client.runs` can read it again' : ', and a plain run cannot be read again'
  const { status, retryAfter } = error
  const more = { cause: error, runId, status, retryAfter }
  return new ServableClientError('stream_broken', `The stream broke off before the run's end${hint}`, more)
}
