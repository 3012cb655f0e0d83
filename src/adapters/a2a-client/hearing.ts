/**
 * Hears what a remote agent says, over a stream or by looking at its task, and over connections that are lost.
 *
 * @module
 */

import type { Message } from '@a2a-js/sdk'
import { abortWith } from '../../agents/abort.ts'
import { passed } from '../../agents/work/step.ts'
import { isRetired } from '../../base/retired.ts'
import { failed, isLost, isUnknownMethod, reasonOf } from './failure.ts'
import type { Payload, RemoteService } from './service.ts'
import type { Translator } from './translator.ts'

/** Tries in a row without an answer. */
const MAX_TRIES = 5

/** A wait grows by this, up to so many times the first one. */
const GROWTH = 1.5
const MAX_GROWTH = 5

/** Hears one task to its end. Whoever reads it stops once the translator has an `end`. */
export class Hearing {
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
   * Sends a message, once, and hears what comes of it. If the caller leaves before the answer, nobody knows the task. So the
   * request goes on until its answer names the task, for at most `patienceMs`.
   */
  async *send(message: Message, patienceMs: number): AsyncGenerator<Payload> {
    const before = this.#service.sent()
    const isSent = () => this.#service.sent() > before
    const sending = untilAnswered(this.#signal, patienceMs, isSent)
    try {
      for await (const payload of this.#hear(this.#send(message, sending.signal))) {
        sending.answered()
        yield payload
      }
    } finally {
      sending.end()
    }
  }

  /** Hears a task that is known. */
  async *follow(): AsyncGenerator<Payload> {
    yield* this.#hear(this.#again())
  }

  async *#hear(first: AsyncGenerator<Payload>): AsyncGenerator<Payload> {
    let source = first
    for (let tries = 1; ; tries++) {
      try {
        for await (const payload of source) {
          tries = 0
          yield payload
        }
      } catch (error) {
        this.#signal.throwIfAborted()
        // Without a task nobody knows what came of the message.
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
        // Another way does not send it twice then.
        if (!isUnknownMethod(error)) throw error
        this.#hasStreams = false
      })
      if (first?.done === false) yield* withFirst(first.value, stream)
      if (this.#hasStreams) return
      this.#signal.throwIfAborted()
    }
    yield await this.#service.send(message, signal)
    yield* this.#look()
  }

  /** Subscribes to the task, or looks at it where that cannot be. */
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
      // Without the task as it is, nobody knows what was missed.
      this.#hasStreams = false
      await stream.return(undefined)
    }
    yield* this.#look()
  }

  async *#look(): AsyncGenerator<Payload> {
    for (let looks = 0; this.#translator.taskId !== undefined; looks++) {
      if (looks > 0) await passed(waitFor(looks, this.#pollMs), this.#signal)
      yield { $case: 'task', value: await this.#service.get(this.#translator.taskId, this.#signal) }
    }
  }
}

/** Asks for something that changes nothing, as often as a task is looked at that is lost. */
export async function patiently<T>(ask: () => Promise<T>, signal: AbortSignal, pollMs: number): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await ask()
    } catch (error) {
      signal.throwIfAborted()
      if (!isLost(error) || tries >= MAX_TRIES) throw error
    }
    await passed(waitFor(tries, pollMs), signal)
  }
}

/** The signal of a message: it fires with the caller's. While a message that was sent has no answer, it fires `ms` after that. */
function untilAnswered(caller: AbortSignal, ms: number, isSent: () => boolean) {
  const controller = new AbortController()
  let isAnswered = false
  let timer: ReturnType<typeof setTimeout> | undefined
  const stop = () => abortWith(controller, caller.reason)
  const leave = () => {
    // Of a run that retires, another worker looks for the task.
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

/** A stream whose first payload was read. It is closed wherever its reader leaves. */
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
