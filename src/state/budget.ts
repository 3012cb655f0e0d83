/**
 * What a store in memory holds, in bytes by estimate, and who leaves when that is too much.
 *
 * @module
 */

import type { Footing } from './store.ts'
import { Timeline } from './timeline.ts'

/** A document as the budget sees it. */
export interface Part extends Footing {
  readonly collection: string
  readonly id: string
  /** Its place in the order of leaving: when it was written, counted from 1. */
  readonly at: number
  readonly bytes: number
}

/** What leaves next: a document by itself, or the thing of that name with all of its parts. */
export type Leaver = { readonly part: Part } | { readonly thing: string; readonly parts: readonly Part[] }

/** What leaves together. */
interface Thing {
  bytes: number
  /** Of these, in parts that may leave by themselves. */
  spare: number
  readonly parts: Set<Part>
  /** Parts that say that the thing may leave. */
  leavers: number
  /** Those who keep it from leaving for a while. */
  holds: number
}

/** The order in which is looked for someone to leave. */
const ORDER = ['alone', 'first', 'last'] as const

/** Counts. It knows names and sizes; the store has the documents. */
export class Budget {
  /** Most bytes. */
  max: number
  #used = 0
  /** Of these, in what may leave. */
  #leavable = 0
  #count = 0
  readonly #things = new Map<string, Thing>()
  /** What is written in this transaction, which does not leave in it. */
  readonly #written = new Set<string>()
  readonly #queues = { alone: new Timeline<Part>(), first: new Timeline<Part>(), last: new Timeline<Part>() }

  constructor(max: number) {
    this.max = max
  }

  get used(): number {
    return this.#used
  }

  /** The place of what is written next. */
  next(): number {
    return ++this.#count
  }

  /** A transaction begins. */
  begin(): void {
    if (this.#written.size > 0) this.#written.clear()
  }

  add(part: Part): void {
    this.#used += part.bytes
    if (part.leaves !== undefined) this.#queues[part.leaves].put(part)
    const name = nameOf(part)
    if (name === undefined) return
    this.#written.add(name)
    const thing = this.#open(name)
    thing.parts.add(part)
    thing.bytes += part.bytes
    if (part.leaves === 'alone') thing.spare += part.bytes
    else if (part.leaves !== undefined) thing.leavers++
    this.#close(name, thing)
  }

  remove(part: Part): void {
    this.#used -= part.bytes
    if (part.leaves !== undefined) this.#queues[part.leaves].delete(part)
    const name = nameOf(part)
    if (name === undefined) return
    const thing = this.#open(name)
    thing.parts.delete(part)
    thing.bytes -= part.bytes
    if (part.leaves === 'alone') thing.spare -= part.bytes
    else if (part.leaves !== undefined) thing.leavers--
    this.#close(name, thing)
  }

  /** A log has so many bytes more, or less. */
  grow(log: string, by: number): void {
    this.#used += by
    if (by > 0) this.#written.add(log)
    const thing = this.#open(log)
    thing.bytes += by
    this.#close(log, thing)
  }

  /** Keeps a thing from leaving until it is let go. */
  hold(name: string): () => void {
    const change = (by: number) => {
      const thing = this.#open(name)
      thing.holds += by
      this.#close(name, thing)
    }
    change(1)
    return () => change(-1)
  }

  /** Whether there would be room if all left that may. */
  get mayFit(): boolean {
    let leavable = this.#leavable
    for (const name of this.#written) {
      const thing = this.#things.get(name)
      // What is written in this transaction stays; its spare parts need not.
      if (thing !== undefined && mayLeave(thing)) leavable -= thing.bytes - thing.spare
    }
    return this.#used - leavable <= this.max
  }

  /** Who leaves next; undefined where there is room, or nobody may. */
  leaver(): Leaver | undefined {
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
    const thing = this.#things.get(name) ?? { bytes: 0, spare: 0, parts: new Set(), leavers: 0, holds: 0 }
    this.#leavable -= leavableOf(thing)
    return thing
  }

  #close(name: string, thing: Thing): void {
    this.#leavable += leavableOf(thing)
    if (thing.bytes === 0 && thing.holds === 0) this.#things.delete(name)
    else this.#things.set(name, thing)
  }
}

/** The thing of a document; none where it never leaves and nothing leaves with it. */
function nameOf({ thing, leaves, collection, id }: Part): string | undefined {
  return thing ?? (leaves === undefined ? undefined : `${collection}/${id}`)
}

function mayLeave({ leavers, holds }: Thing): boolean {
  return leavers > 0 && holds === 0
}

function leavableOf(thing: Thing): number {
  return mayLeave(thing) ? thing.bytes : thing.spare
}
