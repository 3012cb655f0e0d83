/**
 * Counts the estimated bytes of a store in memory, and chooses what to delete if there are too many.
 *
 * @module
 */

import type { Eviction } from './store.ts'
import { Timeline } from './timeline.ts'

/** A document in the budget. */
export interface BudgetPart extends Eviction {
  readonly collection: string
  readonly id: string
  /** Its position in the order of deletion: the number of the write, from 1. */
  readonly at: number
  readonly bytes: number
}

/** The next to delete: a single document, or all parts of a thing. */
export type EvictionCandidate =
  | { readonly part: BudgetPart }
  | { readonly thing: string; readonly parts: readonly BudgetPart[] }

/** Documents that are deleted together. */
interface Thing {
  bytes: number
  /** The bytes in parts that can be deleted alone. */
  spare: number
  readonly parts: Set<BudgetPart>
  /** Number of parts that allow the thing to be deleted. */
  evictors: number
  /** Number of holders that prevent its deletion for now. */
  holds: number
}

/** The order in which the queues are searched. */
const ORDER = ['alone', 'first', 'last'] as const

/** Counts names and sizes. The store has the documents. */
export class MemoryBudget {
  /** Most bytes. */
  max: number
  #used = 0
  /** The bytes that may be deleted. */
  #evictable = 0
  #count = 0
  readonly #things = new Map<string, Thing>()
  /** The things that this transaction has written. It cannot delete them. */
  readonly #written = new Set<string>()
  readonly #queues = {
    alone: new Timeline<BudgetPart>(),
    first: new Timeline<BudgetPart>(),
    last: new Timeline<BudgetPart>(),
  }

  constructor(max: number) {
    this.max = max
  }

  get used(): number {
    return this.#used
  }

  /** The position of the next write. */
  next(): number {
    return ++this.#count
  }

  /** Begins a transaction: it may delete what earlier transactions wrote. */
  begin(): void {
    if (this.#written.size > 0) this.#written.clear()
  }

  add(part: BudgetPart): void {
    this.#used += part.bytes
    if (part.leaves !== undefined) this.#queues[part.leaves].put(part)
    const name = nameOf(part)
    if (name === undefined) return
    this.#written.add(name)
    const thing = this.#open(name)
    thing.parts.add(part)
    thing.bytes += part.bytes
    if (part.leaves === 'alone') thing.spare += part.bytes
    else if (part.leaves !== undefined) thing.evictors++
    this.#close(name, thing)
  }

  remove(part: BudgetPart): void {
    this.#used -= part.bytes
    if (part.leaves !== undefined) this.#queues[part.leaves].delete(part)
    const name = nameOf(part)
    if (name === undefined) return
    const thing = this.#open(name)
    thing.parts.delete(part)
    thing.bytes -= part.bytes
    if (part.leaves === 'alone') thing.spare -= part.bytes
    else if (part.leaves !== undefined) thing.evictors--
    this.#close(name, thing)
  }

  /** Changes the size of a log by this many bytes. */
  grow(log: string, by: number): void {
    this.#used += by
    if (by > 0) this.#written.add(log)
    const thing = this.#open(log)
    thing.bytes += by
    this.#close(log, thing)
  }

  /** Prevents a thing's deletion until the returned function is called. */
  hold(name: string): () => void {
    const change = (by: number) => {
      const thing = this.#open(name)
      thing.holds += by
      this.#close(name, thing)
    }
    change(1)
    return () => change(-1)
  }

  /** Whether deleting everything that may be deleted would make enough room. */
  get mayFit(): boolean {
    let evictable = this.#evictable
    for (const name of this.#written) {
      const thing = this.#things.get(name)
      // A thing that this transaction wrote stays, but its spare parts need not.
      if (thing !== undefined && mayBeEvicted(thing)) evictable -= thing.bytes - thing.spare
    }
    return this.#used - evictable <= this.max
  }

  /** The next to delete. Undefined if there is room, or if nothing may be deleted. */
  candidate(): EvictionCandidate | undefined {
    if (this.#used <= this.max) return undefined
    for (const leaves of ORDER) {
      for (const part of this.#queues[leaves].oldest()) {
        if (leaves === 'alone') return { part }
        const name = nameOf(part) ?? ''
        const thing = this.#things.get(name)
        if (thing === undefined || thing.holds > 0 || this.#written.has(name)) continue
        return { thing: name, parts: [...thing.parts] }
      }
    }
    return undefined
  }

  #open(name: string): Thing {
    const thing = this.#things.get(name) ?? { bytes: 0, spare: 0, parts: new Set(), evictors: 0, holds: 0 }
    this.#evictable -= evictableBytesOf(thing)
    return thing
  }

  #close(name: string, thing: Thing): void {
    this.#evictable += evictableBytesOf(thing)
    if (thing.bytes === 0 && thing.holds === 0) this.#things.delete(name)
    else this.#things.set(name, thing)
  }
}

/** The name of a document's thing. Undefined if the document is never deleted and has no thing. */
function nameOf({ thing, leaves, collection, id }: BudgetPart): string | undefined {
  return thing ?? (leaves === undefined ? undefined : `${collection}/${id}`)
}

function mayBeEvicted({ evictors, holds }: Thing): boolean {
  return evictors > 0 && holds === 0
}

function evictableBytesOf(thing: Thing): number {
  return mayBeEvicted(thing) ? thing.bytes : thing.spare
}
