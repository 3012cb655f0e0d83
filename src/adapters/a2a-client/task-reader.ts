/**
 * Reads the answers of a remote agent, from a stream or by polling its task, and continues after lost connections.
 *
 * @module
 */

import type { Message } from '@a2a-js/sdk'
import { abortWith, isRetired } from '../../base/abort.ts'
import { passed } from '../../base/wake.ts'
import { failed, isLost, isUnknownMethod, reasonOf } from './failure.ts'
import type { Payload, RemoteService } from './service.ts'
import type { Translator } from './translator.ts'

/** Most tries in a row without an answer. */
const MAX_TRIES = 5

/** Each wait is this many times the one before. */
const GROWTH = 1.5
/** The longest wait is this many times the first one. */
const MAX_GROWTH = 5

/** Reads one task to its end. The caller stops reading once the translator has an `end`. */
export class TaskReader {
  readonly #service: RemoteService
  readonly #translator: Translator
  readonly #signal: AbortSignal
  readonly #pollMs: number
  #hasStreams: boolean

  constructor(service: RemoteService, translator: Translator, signal: AbortSignal, pollMs: number) {
    this.#service = service
    this.#translator = translator
    this.#signal = signal
    this.#pollMs = pollMs
    this.#hasStreams = service.hasStreams
  }

  /**
   * Sends a message once, and yields the answers. If the caller aborts before the first answer, the task is not known yet. So the
   * request continues until its answer names the task, for at most `graceMs`.
   */
  async *send(message: Message, graceMs: number): AsyncGenerator<Payload> {
    const before = this.#service.sent()
    const isSent = () => this.#service.sent() > before
    const sending = untilAnswered(this.#signal, graceMs, isSent)
    try {
      for await (const payload of this.#read(this.#send(message, sending.signal))) {
        sending.answered()
        yield payload
      }
    } finally {
      sending.end()
    }
  }

  /** Yields the answers of a task that is already known. */
  async *follow(): AsyncGenerator<Payload> {
    yield* this.#read(this.#again())
  }

  async *#read(first: AsyncGenerator<Payload>): AsyncGenerator<Payload> {
    let source = first
    for (let tries = 1; ; tries++) {
      try {
        for await (const payload of source) {
          tries = 0
          yield payload
        }
      } catch (error) {
        this.#signal.throwIfAborted()
        // Without a task, the result of the message cannot be found.
        if (!isLost(error) || this.#translator.taskId === undefined || tries >= MAX_TRIES) throw error
      }
      if (this.#translator.taskId === undefined)
        throw failed('The remote agent ended its answer before it said anything')
      if (tries >= MAX_TRIES) throw failed('The remote agent ends its streams before its task has ended')
      await passed(waitFor(tries, this.#pollMs), this.#signal)
      source = this.#again()
    }
  }

  async *#send(message: Message, signal: AbortSignal): AsyncGenerator<Payload> {
    if (this.#hasStreams) {
      const stream = this.#service.stream(message, signal)
      const first = await stream.next().catch(error => {
        // The service has not handled the message, so sending it in another way does not send it twice.
        if (!isUnknownMethod(error)) throw error
        this.#hasStreams = false
      })
      if (first?.done === false) yield* withFirst(first.value, stream)
      if (this.#hasStreams) return
      this.#signal.throwIfAborted()
    }
    yield await this.#service.send(message, signal)
    yield* this.#poll()
  }

  /** Subscribes to the task, or polls it if the service has no streams. */
  async *#again(): AsyncGenerator<Payload> {
    const id = this.#translator.taskId
    if (this.#hasStreams && id !== undefined) {
      const stream = this.#service.subscribe(id, this.#signal)
      const first = await stream.next().catch(error => {
        // A task that has ended has no stream.
        if (reasonOf(error) === undefined) throw error
      })
      if (first?.done === false && first.value.$case === 'task') {
        yield* withFirst(first.value, stream)
        return
      }
      // A stream that does not begin with the current task may have gaps.
      this.#hasStreams = false
      await stream.return(undefined)
    }
    yield* this.#poll()
  }

  async *#poll(): AsyncGenerator<Payload> {
    for (let polls = 0; this.#translator.taskId !== undefined; polls++) {
      if (polls > 0) await passed(waitFor(polls, this.#pollMs), this.#signal)
      yield { $case: 'task', value: await this.#service.get(this.#translator.taskId, this.#signal) }
    }
  }
}

/** Repeats a request without side effects while its connection is lost, up to 5 times. */
export async function withRetries<T>(
  request: () => Promise<T>,
  signal: AbortSignal,
  pollMs: number,
): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await request()
    } catch (error) {
      signal.throwIfAborted()
      if (!isLost(error) || tries >= MAX_TRIES) throw error
    }
    await passed(waitFor(tries, pollMs), signal)
  }
}

/** The signal of a message. It fires with the caller's signal, or `ms` later while a sent message has no answer. */
function untilAnswered(caller: AbortSignal, ms: number, isSent: () => boolean) {
  const controller = new AbortController()
  let isAnswered = false
  let timer: ReturnType<typeof setTimeout> | undefined
  const stop = () => abortWith(controller, caller.reason)
  const leave = () => {
    // After a run retires, another worker looks for the task.
    if (!isSent() || isAnswered || isRetired(caller)) stop()
    else timer = setTimeout(stop, ms)
  }
  if (caller.aborted) stop()
  else caller.addEventListener('abort', leave)
  return {
    signal: controller.signal,
    answered() {
      isAnswered = true
    },
    end() {
      clearTimeout(timer)
      caller.removeEventListener('abort', leave)
    },
  }
}

/** A stream whose first payload was read. It closes the stream wherever its reader stops. */
async function* withFirst(first: Payload, rest: AsyncGenerator<Payload>): AsyncGenerator<Payload> {
  try {
    yield first
    yield* rest
  } finally {
    await rest.return(undefined)
  }
}

function waitFor(tries: number, ms: number): number {
  return ms * Math.min(MAX_GROWTH, GROWTH ** Math.max(0, tries - 1))
}
