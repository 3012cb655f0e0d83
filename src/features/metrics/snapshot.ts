/** The counts at one time. */

import type { Kind } from '../../agents/contract.ts'
import { KINDS } from '../../agents/registry.ts'
import type { Stats } from './stats.ts'

/** The counts of one name, and the number of its running runs. */
export interface Counted {
  readonly kind: Kind
  readonly name: string
  readonly stats: Stats
  readonly active: number
}

/** The counts of all names, sorted by kind and name. */
export interface MetricsSnapshot {
  readonly counted: readonly Counted[]
  readonly sockets: number
  readonly streams: number
}

/** Joins a kind and a name to a key. */
export function keyOf(kind: Kind, name: string): string {
  return `${kind}:${name}`
}

/** Splits such a key. */
export function fromKey(key: string): { kind: Kind; name: string } {
  const at = key.indexOf(':')
  return { kind: key.slice(0, at) as Kind, name: key.slice(at + 1) }
}

/** Sorts counts by kind and name. */
export function inOrder(counted: readonly Counted[]): Counted[] {
  return counted.toSorted(
    (a, b) =>
      KINDS.indexOf(a.kind) - KINDS.indexOf(b.kind) || (a.name < b.name ? -1 : a.name > b.name ? 1 : 0),
  )
}
