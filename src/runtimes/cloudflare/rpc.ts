/**
 * Answers between a Worker and its Durable Objects. They keep an error's code.
 *
 * @module
 */

import { asTold, type ErrorReport, isUntold, reportError, ServableError } from '../../base/errors.ts'
import { logThrown } from '../../http/failure-log.ts'
import type { Log } from '../../http/log.ts'

/** A value or a failure. An error that is thrown across RPC would lose its class and code. */
export type Answer<T> = { readonly ok: true; readonly value: T } | ({ readonly ok: false } & ErrorReport)

/** Answers with the value of `work`, or with its error. */
export type Answerer = <T>(work: () => T | Promise<T>) => Promise<Answer<T>>

/** Makes an answerer. It logs the error here, since stacks and causes do not cross. */
export function answering(log: () => Log): Answerer {
  return async work => {
    try {
      return { ok: true, value: await work() }
    } catch (error) {
      if (isUntold(error)) logThrown(log(), { event: 'object.failed' }, error)
      return { ok: false, ...reportError(error, false, 'internal_error') }
    }
  }
}

/** The value of an answer. Throws its error, which has been logged already. */
export async function unwrap<T>(asked: Promise<Answer<T>>): Promise<T> {
  const answered = await asked
  if (answered.ok) return answered.value
  const { code, message, ...more } = answered
  throw asTold(new ServableError(code, message, more))
}
