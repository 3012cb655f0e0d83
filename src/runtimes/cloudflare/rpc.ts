/**
 * Wraps results between a Worker and its Durable Objects, so that errors keep their code.
 *
 * @module
 */

import { asLogged, type ErrorReport, reportError, ServableError, shouldLog } from '../../base/errors.ts'
import { logThrown } from '../../http/failure-log.ts'
import type { Log } from '../../http/log.ts'

/** A value or a failure. RPC would drop the class and code of a thrown error. */
export type RpcAnswer<T> = { readonly ok: true; readonly value: T } | ({ readonly ok: false } & ErrorReport)

/** Returns the value of `work`, or its error. */
export type RpcAnswerer = <T>(work: () => T | Promise<T>) => Promise<RpcAnswer<T>>

/** Creates a wrapper that logs errors in this process, since stacks and causes do not cross RPC. */
export function answering(log: () => Log): RpcAnswerer {
  return async work => {
    try {
      return { ok: true, value: await work() }
    } catch (error) {
      if (shouldLog(error)) logThrown(log(), { event: 'object.failed' }, error)
      return { ok: false, ...reportError(error, false, 'internal_error') }
    }
  }
}

/** Returns the value of an answer. Throws its error, which the other side has logged already. */
export async function unwrap<T>(asked: Promise<RpcAnswer<T>>): Promise<T> {
  const answered = await asked
  if (answered.ok) return answered.value
  const { code, message, ...more } = answered
  throw asLogged(new ServableError(code, message, more))
}
