/** Schedules over a store with a clock of its own. */

import { type Schedule, type ScheduleOptions, schedule } from '../../../src/features/schedules/plugin.ts'
import { ScheduleService } from '../../../src/features/schedules/service.ts'
import type { Tick } from '../../../src/features/schedules/starting.ts'
import { bound } from '../../../src/stores/bound.ts'
import { memoryStore } from '../../../src/stores/memory.ts'
import type { Reader, Store, Transaction } from '../../../src/stores/store.ts'

/** A clock that is set by hand. */
export interface Clock {
  now: number
}

/** A store in memory whose clock is given. It counts the documents that it finds, and fails while `isAway`. */
export function storeAt(clock: Clock) {
  const inner = memoryStore()
  const counts = { found: 0, writes: 0 }
  const told: { isAway: boolean } = { isAway: false }
  const seen = <T extends Reader>(tx: Transaction): T =>
    ({
      ...bound(tx),
      now: clock.now,
      expired<V>(...args: Parameters<Reader['expired']>) {
        const found = tx.expired<V>(...args)
        counts.found += found.length
        return found
      },
      list<V>(...args: Parameters<Reader['list']>) {
        const found = tx.list<V>(...args)
        counts.found += found.length
        return found
      },
    }) as unknown as T
  const here = () => {
    if (told.isAway) throw new Error('away')
  }
  const store: Store = {
    ...inner,
    instance: 'kit',
    read: work => {
      here()
      return inner.read(tx => work(seen(tx as Transaction)))
    },
    write: work => {
      here()
      counts.writes++
      return inner.write(tx => work(seen(tx)))
    },
  }
  return { store, counts, told }
}

/** A schedule of the agent `echo`. */
export function every(cron: string, options: Partial<ScheduleOptions> = {}): Schedule {
  return schedule('echo', { cron, input: 'hi', owner: 'ada', ...options })
}

/** A service that starts runs as the run host does: one for each key. */
export class Runs {
  readonly started: string[] = []
  readonly byKey = new Map<string, string>()
  /** What starting fails with. */
  failure: unknown
  /** The process dies after a run was started, and before it was told. */
  dies = false

  readonly start = async ({ name }: Schedule, { key }: Tick): Promise<string> => {
    if (this.failure !== undefined) throw this.failure
    const full = `${name}@${key}`
    const known = this.byKey.get(full)
    const id = known ?? `run-${this.byKey.size + 1}`
    if (known === undefined) this.started.push(full)
    this.byKey.set(full, id)
    if (this.dies) await new Promise(() => {})
    return id
  }
}

/** A process: what it keeps of schedules, and what it was told. */
export function processOf(
  { store, clock, runs }: { store: Store; clock: Clock; runs: Runs },
  schedules: readonly Schedule[],
) {
  const failures: string[] = []
  const wakes: number[] = []
  const kept = new ScheduleService({
    ...{ store, schedules, start: runs.start, retentionMs: 24 * 60 * 60 * 1000 },
    onFailure: (name, error) =>
      void failures.push(`${name}: ${(error as { code?: string }).code ?? String(error)}`),
    wakeBy: at => void wakes.push(at),
  })
  return {
    kept,
    failures,
    wakes,
    /** Looks until nothing is due any more. */
    async catchUp(): Promise<void> {
      for (let turn = 0; turn < 1000; turn++) {
        const at = await kept.look()
        if (at === undefined || at > Date.now()) return
      }
      throw new Error(`something is always due at ${clock.now}`)
    },
    of: async (name: string) => (await kept.known([name]))[0]?.[1],
  }
}
