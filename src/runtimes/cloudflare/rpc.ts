/**
 * What crosses between a Worker and its Durable Objects: answers that keep an error's code, and logs as byte streams.
 *
 * @module
 */

import { asTold, type ErrorCode, type Issue, isUntold, reportError, ServableError } from '../../errors.ts'
import { logThrown } from '../../http/failure-log.ts'
import type { Log } from '../../http/log.ts'
import type { Follower } from '../../runs/host.ts'
import type { LogEntry } from '../../state/store.ts'
import { KEEP_ALIVE_MS } from '../../web/sse.ts'

/** A value, or what made it impossible: an error thrown across RPC would lose its class and code. */
export type Answer<T> =
  | { readonly ok: true; readonly value: T }
  | {
      readonly ok: false
      readonly code: ErrorCode
      readonly message: string
      readonly issues: readonly Issue[]
    }

/** Answers with what `work` gives, or with what it throws. */
export type Answerer = <T>(work: () => T | Promise<T>) => Promise<Answer<T>>

/** Makes an answerer. A stack and causes do not cross, so the log is told of them here. */
export function answering(log: () => Log): Answerer {
  return async work => {
    try {
      return { ok: true, value: await work() }
    } catch (error) {
      if (isUntold(error)) logThrown(log(), { event: 'object.failed' }, error)
      const { code, message, issues } = reportError(error, false, 'internal_error')
      return { ok: false, code, message, issues }
    }
  }
}

/** The value of an answer; its error is thrown, of which the log has been told. */
export async function unwrap<T>(asked: Promise<Answer<T>>): Promise<T> {
  const answered = await asked
  if (answered.ok) return answered.value
  throw asTold(new ServableError(answered.code, answered.message, { issues: answered.issues }))
}

/** A log as bytes, one line an entry. RPC carries byte streams only; back-pressure and cancelling cross with it. */
export function streamOf(follower: Follower): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder()
  let isWaiting = false
  let timer: ReturnType<typeof setInterval> | undefined
  const stop = () => {
    if (timer !== undefined) clearInterval(timer)
  }
  return new ReadableStream({
    type: 'bytes',
    start(controller) {
      // The other side's leaving is met by writing alone: an empty line is no entry.
      timer = setInterval(() => {
        if (isWaiting) controller.enqueue(encoder.encode('\n'))
      }, KEEP_ALIVE_MS)
    },
    async pull(controller) {
      isWaiting = true
      const entries = await follower.next()
      isWaiting = false
      if (entries !== undefined) {
        return controller.enqueue(encoder.encode(entries.map(({ seq, data }) => `${seq} ${data}\n`).join('')))
      }
      stop()
      controller.close()
    },
    cancel() {
      stop()
      follower.leave()
    },
  })
}

/** Reads such a stream. JSON holds no line breaks, so a line is an entry. */
export function followerOf(stream: ReadableStream<Uint8Array>): Follower {
  const reader = stream.getReader()
  const decoder = new TextDecoder()
  let rest = ''
  return {
    async next() {
      while (true) {
        const { done, value } = await reader.read()
        if (done) return undefined
        const pieces = (rest + decoder.decode(value, { stream: true })).split('\n')
        rest = pieces.pop() ?? ''
        const lines = pieces.filter(line => line !== '')
        if (lines.length > 0) return lines.map(toEntry)
      }
    },
    // What crosses from an object is not here until it is read.
    ready: () => [],
    leave() {
      void reader.cancel().then(undefined, () => {})
    },
  }
}

function toEntry(line: string): LogEntry {
  const space = line.indexOf(' ')
  return { seq: Number(line.slice(0, space)), data: line.slice(space + 1) }
}
