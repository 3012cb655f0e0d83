import type { Store, Transaction } from '../../../src/stores/store.ts'

/** A store that records everything that is written. */
export interface Recorded extends Store {
  written(): string
}

const WRITES: ReadonlySet<string | symbol> = new Set(['put', 'append'])

export function recorded(store: Store): Recorded {
  const writes: string[] = []
  const watch = (tx: Transaction): Transaction => {
    const get = (target: Transaction, name: keyof Transaction): unknown => {
      if (name === 'now') return target.now
      const call = target[name] as ((...values: unknown[]) => unknown) | undefined
      if (call === undefined) return undefined
      return (...values: unknown[]) => {
        if (WRITES.has(name)) writes.push(JSON.stringify(values).slice(0, 10_000))
        return call.apply(target, values)
      }
    }
    return new Proxy(tx, { get: (target, name) => get(target, name as keyof Transaction) })
  }
  return {
    ...store,
    write: (work, patienceMs) => store.write(tx => work(watch(tx)), patienceMs),
    written: () => writes.join('\n'),
  }
}
