import type { Kind } from '../../agents/contract.ts'
import { ServableError } from '../../base/errors.ts'

/** What is retained: a run, a task, or a session. */
export interface Retained {
  readonly kind: Kind
  /** The name under which it was requested. */
  readonly name: string
  /** The identity that owns it; null if there is none. */
  readonly owner: string | null
}

/** Returns the milliseconds for which something is kept. */
export type RetentionOf = (what: Retained) => number

/** Milliseconds for which something is kept, or a function that returns them: a number of 0 or more. */
export type RetentionMs = number | RetentionOf

/** Calls a deployment's function. If it throws or returns a wrong value, `onError` gets the error and the default counts. */
export function retentionBy(
  given: RetentionOf,
  byDefault: number,
  onError: (error: unknown) => void,
): RetentionOf {
  return what => {
    try {
      const ms: unknown = given(what)
      if (typeof ms === 'number' && ms >= 0 && ms <= Number.MAX_SAFE_INTEGER / 2) return Math.round(ms)
      throw new ServableError('invalid_options', `It gave ${String(ms)}: it must give a number of 0 or more`)
    } catch (error) {
      onError(error)
      return byDefault
    }
  }
}
