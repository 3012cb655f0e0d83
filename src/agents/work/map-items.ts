/**
 * Maps the items that a body yields, and drops the ones that the run before has sent.
 *
 * @module
 */

import { closeQuietly } from '../reading.ts'
import type { Yielded } from '../run-types.ts'
import type { Scope } from './scope.ts'

/** Yields what `map` returns for each item, and drops the items for which it returns undefined. */
export async function* mapItems<T>(
  work: AsyncIterator<Yielded, T>,
  map: (item: Yielded) => Yielded | undefined,
): AsyncGenerator<Yielded, T> {
  let result = await work.next()
  try {
    for (; !result.done; result = await work.next()) {
      const mapped = map(result.value)
      if (mapped !== undefined) yield mapped
    }
    return result.value
  } finally {
    if (!result.done) closeQuietly(work)
  }
}

/** Drops the items that the run before has sent. */
export function withoutRepeats<T>(work: AsyncIterator<Yielded, T>, scope: Scope): AsyncGenerator<Yielded, T> {
  return mapItems(work, item => (scope.wasEmitted(item) ? undefined : item))
}
