/** A store that writes, and whose answer is lost on its way. */
import { memoryStore } from '../../src/state/memory.ts'
import { unavailable } from '../../src/state/patient.ts'
import type { Store } from '../../src/state/store.ts'

/** Makes one. `lose` has the answers of so many writes from then on be lost. */
export function losingStore(
  isFar = false,
): Readonly<{ store: Store; lose: (count: number) => void; hasLost: () => boolean }> {
  const inner = memoryStore()
  let left = 0
  const store: Store = {
    instance: inner.instance,
    isShared: false,
    isFar,
    isAlive: name => inner.isAlive(name),
    read: async work => inner.read(work),
    async write(work) {
      const value = inner.write(work)
      if (left > 0) {
        left--
        throw unavailable(new Error('the answer was lost'))
      }
      return value
    },
    close() {},
  }
  const lose = (count: number) => {
    left = count
  }
  return { store, lose, hasLost: () => left === 0 }
}
