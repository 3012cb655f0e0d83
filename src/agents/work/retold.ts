/**
 * Passes on what a body says, and leaves out what was told before.
 *
 * @module
 */

import { closeQuietly } from '../reading.ts'
import type { RunEvent } from '../run-types.ts'
import type { Scope } from './scope.ts'

type Said = string | RunEvent

/** Gives what `tell` makes of each item; what that is undefined for is left out. */
export async function* retold<T>(
  work: AsyncIterator<Said, T>,
  tell: (said: Said) => Said | undefined,
): AsyncGenerator<Said, T> {
  let result = await work.next()
  try {
    for (; !result.done; result = await work.next()) {
      const told = tell(result.value)
      if (told !== undefined) yield told
    }
    return result.value
  } finally {
    if (!result.done) closeQuietly(work)
  }
}

/** Leaves out what the run before has told. */
export function catchingUp<T>(work: AsyncIterator<Said, T>, scope: Scope): AsyncGenerator<Said, T> {
  return retold(work, said => (scope.wasTold(said) ? undefined : said))
}
