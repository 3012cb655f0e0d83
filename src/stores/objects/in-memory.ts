/**
 * Collections that exist in memory only. Their documents describe work that ends with the object's memory, or that can be
 * read from the store again. They are small: they hold the work of one object.
 *
 * @module
 */

import { bound } from '../bound.ts'
import type { Document, Transaction } from '../store.ts'
import { comparePositions } from '../timeline.ts'

/** The operations on such a collection. Nothing lists or searches it. */
type Documents = Pick<Transaction, 'get' | 'put' | 'delete' | 'count' | 'expired' | 'oldest'>

/** The documents of such collections, by collection and id. */
export class InMemoryCollections {
  readonly #collections = new Map<string, Map<string, Document>>()
  /** The steps that undo what the transaction has done so far. */
  #undo: (() => void)[] = []

  /** Keeps a collection in memory from now on. */
  add(collection: string): void {
    if (!this.#collections.has(collection)) this.#collections.set(collection, new Map())
  }

  clear(): void {
    for (const documents of this.#collections.values()) documents.clear()
  }

  /** Runs `work`. Undoes its changes to these collections if it throws. */
  transact<T>(work: () => T): T {
    this.#undo = []
    try {
      return work()
    } catch (error) {
      for (const undo of this.#undo.toReversed()) undo()
      throw error
    }
  }

  /** The given transaction, with these collections taken from memory. */
  over(kept: Transaction): Transaction {
    if (this.#collections.size === 0) return kept
    const within = (collection: string): Documents => {
      const documents = this.#collections.get(collection)
      return documents === undefined ? kept : this.#in(documents)
    }
    return {
      ...bound(kept),
      get: (collection, id) => within(collection).get(collection, id),
      put: (collection, document, eviction) => within(collection).put(collection, document, eviction),
      delete: (collection, id) => within(collection).delete(collection, id),
      count: (collection, partition) => within(collection).count(collection, partition),
      expired: (collection, now, limit) => within(collection).expired(collection, now, limit),
      oldest: (collection, limit, partition) => within(collection).oldest(collection, limit, partition),
    }
  }

  #in(documents: Map<string, Document>): Documents {
    const all = (partition: string | undefined) =>
      [...documents.values()].filter(each => partition === undefined || each.partition === partition)
    const set = (id: string, document: Document | undefined) => {
      const before = documents.get(id)
      this.#undo.push(() => (before === undefined ? documents.delete(id) : documents.set(id, before)))
      if (document === undefined) documents.delete(id)
      else documents.set(id, document)
    }
    return {
      // The caller knows the type of the document that it put there.
      get: <T>(_: string, id: string) => documents.get(id) as Document<T> | undefined,
      put: (_, document) => set(document.id, document),
      delete: (_, id) => set(id, undefined),
      count: (_, partition) => all(partition).length,
      expired: <T>(_: string, now: number, limit: number) =>
        all(undefined)
          .filter(each => expiryOf(each) <= now)
          .sort((one, other) => expiryOf(one) - expiryOf(other))
          .slice(0, limit) as Document<T>[],
      oldest: <T>(_: string, limit: number, partition?: string) =>
        all(partition).sort(comparePositions).slice(0, limit) as Document<T>[],
    }
  }
}

function expiryOf({ expiresAt = Number.POSITIVE_INFINITY }: Document): number {
  return expiresAt
}
