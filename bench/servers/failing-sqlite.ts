/** Makes SQLite fail as a bad disk does: sometimes a single call, and sometimes all calls for up to some hundred milliseconds. */

import { StatementSync } from 'node:sqlite'

/** One of this many calls fails. */
const ONE_OF = 2000

/** Most milliseconds between two outages, and of one outage. An outage is shorter than the patience of any request. */
const MAX_PAUSE_MS = 5000
const MAX_OUTAGE_MS = 400

const upTo = (ms: number) => Math.random() * ms

/** Makes statements fail at random from now on. Rollbacks do not fail, since SQLite would roll back by itself. */
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
