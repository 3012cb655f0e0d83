/** What was counted, at one moment. */

import type { Kind } from '../agents/contract.ts'
import { KINDS } from '../agents/registry.ts'
import type { Stats } from './stats.ts'

/** Of one name: what was counted, and how many of its runs are at work. */
export interface Counted {
  readonly kind: Kind
  readonly name: string
  readonly stats: Stats
  readonly active: number
}

/** Of all names, in the order of kinds and names. */
export interface Snapshot {
  readonly counted: readonly Counted[]
  readonly sockets: number
  readonly streams: number
}

/** A kind and a name as one word. */
export function keyOf(kind: Kind, name: string): string {
  return `${kind}:${name}`
}

/** Takes such a word apart. */
export function fromKey(key: string): { kind: Kind; name: string } {
  const at = key.indexOf(':')
  return { kind: key.slice(0, at) as Kind, name: key.slice(at + 1) }
}

/** Puts what was counted in order. */
export function inOrder(counted: readonly Counted[]): Counted[] {
  return counted.toSorted(
    (a, b) =>
      KINDS.indexOf(a.kind) - KINDS.indexOf(b.kind) || (a.name < b.name ? -1 : a.name > b.name ? 1 : 0),
  )
}
