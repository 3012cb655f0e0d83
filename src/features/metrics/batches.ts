/**
 * Stores batches of counts. There is one document for each name, and each batch adds to it.
 *
 * @module
 */

import type { Expiring } from '../../stores/alarm.ts'
import type { Reader, Transaction } from '../../stores/store.ts'
import { addSteps, type StepJson } from './history.ts'
import { fromKey, inOrder, keyOf, type MetricsSnapshot, OTHER, Stats, type StatsJson } from './stats.ts'

/** The counts since the last batch, as JSON. */
export interface Batch {
  readonly stats: readonly (readonly [key: string, stats: StatsJson])[]
  /** The same by time, if the last hour is kept. */
  readonly history?: readonly StepJson[] | undefined
  /** Running runs, by key. */
  readonly active: readonly (readonly [key: string, count: number])[]
  readonly sockets: number
  readonly streams: number
  /** Live events as JSON, for viewers of other isolates. */
  readonly events: readonly string[]
  /** Number of dropped events. */
  readonly dropped: number
  /** The limit also applies at the storage. */
  readonly maxNames: number
}

/** The collection of counts. */
export const METRICS = 'metrics'

/** Most documents that are read. Names are limited when they are counted, so there are never more. */
const MAX_DOCUMENTS = 10_000

/** Adds a batch to the stored counts. */
export function addBatch(
  tx: Transaction,
  { stats, history, maxNames }: Pick<Batch, 'stats' | 'history' | 'maxNames'>,
): void {
  addSteps(tx, history)
  for (const [given, more] of stats) {
    // Each process limits its own names. This limit is for the names of all processes together.
    const isKnown = tx.get(METRICS, given) !== undefined || tx.count(METRICS) < maxNames
    const key = isKnown ? given : keyOf(fromKey(given).kind, OTHER)
    const total = Stats.from(more)
    const before = tx.get<StatsJson>(METRICS, key)?.value
    const sum = before === undefined ? total : Stats.from(before)
    if (before !== undefined) sum.merge(total)
    tx.put(METRICS, { id: key, partition: '', at: 0, tags: {}, value: sum.toJSON() })
  }
}

/** Returns all stored counts by key. */
export function readStats(tx: Reader): [key: string, stats: StatsJson][] {
  return tx
    .list<StatsJson>(METRICS, { partition: '', limit: MAX_DOCUMENTS })
    .map(({ id, value }) => [id, value])
}

/** Adds up stored counts, and the gauges of several isolates. */
export function sumUp(
  kept: Iterable<readonly [key: string, stats: StatsJson]>,
  gauges: Iterable<Pick<Batch, 'active' | 'sockets' | 'streams'>>,
): MetricsSnapshot {
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

/**
 * The numbers of an isolate's or process's batches that were added. There is one document for each isolate, so that a batch needs
 * one write.
 */
interface BatchNumbers {
  /** All batches up to this number have been added or are no longer expected. */
  readonly upTo: number
  /** Added batches after that number, in order. */
  readonly beyond: readonly number[]
}

const ISOLATES = 'metrics-isolate'

/** What expires of batches. */
export const NOTED: Expiring = { expiring: [ISOLATES] }

/** Milliseconds for which the document is kept after the last batch. The sender of a batch has given up long before. */
const REMEMBER_MS = 60 * 60 * 1000

/** Most added batches after a missing one. An isolate keeps no more unsent batches than that. */
const MAX_BEYOND = 1000

/** Records that a batch is added. Numbers begin with 1. Returns false if the batch was added before and is sent again. */
export function noteBatch(tx: Transaction, isolate: string, number: number): boolean {
  const { upTo, beyond } = tx.get<BatchNumbers>(ISOLATES, isolate)?.value ?? { upTo: 0, beyond: [] }
  if (number <= upTo || beyond.includes(number)) return false
  const value = withNumber(upTo, [...beyond, number])
  // All documents have the same time, because they are never listed by time.
  tx.put(ISOLATES, { id: isolate, partition: '', at: 0, tags: {}, value, expiresAt: tx.now + REMEMBER_MS })
  return true
}

function withNumber(from: number, numbers: number[]): BatchNumbers {
  const beyond = numbers.sort((one, other) => one - other)
  let upTo = beyond.length > MAX_BEYOND ? (beyond[0] ?? from) : from
  while (beyond[0] !== undefined && beyond[0] <= upTo + 1) upTo = Math.max(upTo, beyond.shift() ?? upTo)
  return { upTo, beyond }
}
