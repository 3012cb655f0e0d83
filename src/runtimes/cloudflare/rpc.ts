/**
 * What crosses between a Worker and its Durable Objects: answers that keep an error's code.
 *
 * @module
 */

import { asTold, type ErrorCode, type Issue, isUntold, reportError, ServableError } from '../../errors.ts'
import { logThrown } from '../../http/failure-log.ts'
import type { Log } from '../../http/log.ts'

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
