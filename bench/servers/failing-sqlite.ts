/** Lets SQLite fail, as a disk does: a single call now and then, and all calls for up to some hundred milliseconds. */

import { StatementSync } from 'node:sqlite'

/** Of so many calls one fails by itself. */
const ONE_OF = 2000

/** Milliseconds between two outages at the most, and of one: less than the patience of any request. */
const MAX_PAUSE_MS = 5000
const MAX_OUTAGE_MS = 400

const upTo = (ms: number) => Math.random() * ms

/** From now on statements fail at random. What undoes a transaction does not: SQLite would have undone it by itself. */
export function failAtRandom(): void {
  let isOut = false
  const begin = () => {
    isOut = true
    setTimeout(end, upTo(MAX_OUTAGE_MS))
  }
  const end = () => {
    isOut = false
    setTimeout(begin, upTo(MAX_PAUSE_MS)).unref()
  }
  end()
  for (const name of ['all', 'run'] as const) {
    const call = StatementSync.prototype[name] as (this: StatementSync, ...values: unknown[]) => unknown
    const failing = function (this: StatementSync, ...values: unknown[]): unknown {
      const isUndo = /^(ROLLBACK|RELEASE)/.test(this.sourceSQL)
      if (!isUndo && (isOut || Math.random() < 1 / ONE_OF)) throw new Error('disk I/O error (of the soak)')
      return call.apply(this, values)
    }
    Object.defineProperty(StatementSync.prototype, name, { value: failing })
  }
}
