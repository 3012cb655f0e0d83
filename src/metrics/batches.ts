/**
 * How batches are kept in a store: one document a name, to which each batch adds.
 *
 * @module
 */

import type { Reader, Transaction } from '../state/store.ts'
import { fromKey, inOrder, keyOf, type Snapshot } from './snapshot.ts'
import { OTHER, Stats, type StatsJson } from './stats.ts'

/** What was counted since the last batch, as JSON. */
export interface Batch {
  readonly stats: readonly (readonly [key: string, stats: StatsJson])[]
  /** Runs at work, by key, as of now. */
  readonly active: readonly (readonly [key: string, count: number])[]
  readonly sockets: number
  readonly streams: number
  /** What happened, as JSON, for those who watch elsewhere, and how much more did. */
  readonly events: readonly string[]
  readonly dropped: number
  /** The bounds that hold where it is kept, too. */
  readonly maxNames: number
  readonly maxTools: number
}

/** The collection of what was counted. */
export const METRICS = 'metrics'

/** Names that are read: more are never written, since names are bounded where they are counted. */
const MAX_DOCUMENTS = 10_000

/** Adds a batch to what is kept. */
export function addBatch(
  tx: Transaction,
  { stats, maxNames, maxTools }: Pick<Batch, 'stats' | 'maxNames' | 'maxTools'>,
): void {
  for (const [given, more] of stats) {
    // Names are bounded where they are counted; here those of all who count, and have counted.
    const isKnown = tx.get(METRICS, given) !== undefined || tx.count(METRICS) < maxNames
    const key = isKnown ? given : keyOf(fromKey(given).kind, OTHER)
    const total = Stats.from(more)
    const before = tx.get<StatsJson>(METRICS, key)?.value
    const sum = before === undefined ? total : Stats.from(before)
    if (before !== undefined) sum.merge(total, maxTools)
    tx.put(METRICS, { id: key, partition: '', at: 0, tags: {}, value: sum.toJSON() })
  }
}

/** All that is kept, by key. */
export function readStats(tx: Reader): [key: string, stats: StatsJson][] {
  return tx
    .list<StatsJson>(METRICS, { partition: '', limit: MAX_DOCUMENTS })
    .map(({ id, value }) => [id, value])
}

/** Adds up what several have kept, with what is open in each. */
export function sumUp(
  kept: Iterable<readonly [key: string, stats: StatsJson]>,
  gauges: Iterable<Pick<Batch, 'active' | 'sockets' | 'streams'>>,
): Snapshot {
  const byKey = new Map<string, Stats>()
  for (const [key, json] of kept) {
    const stats = Stats.from(json)
    const before = byKey.get(key)
    if (before === undefined) byKey.set(key, stats)
    else before.merge(stats)
  }
  const active = new Map<string, number>()
  let [sockets, streams] = [0, 0]
  for (const each of gauges) {
    sockets += each.sockets
    streams += each.streams
    for (const [key, count] of each.active) active.set(key, (active.get(key) ?? 0) + count)
  }
  const keys = new Set([...byKey.keys(), ...active.keys()])
  const counted = Array.from(keys, key => ({
    ...fromKey(key),
    stats: byKey.get(key) ?? new Stats(),
    active: active.get(key) ?? 0,
  }))
  return { counted: inOrder(counted), sockets, streams }
}
