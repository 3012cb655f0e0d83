/**
 * The store as a third-party plugin sees it: its own documents at one address.
 *
 * @module
 */

import { ServableError } from '../base/errors.ts'
import type { Document, Reader, Transaction } from '../stores/store.ts'
import type { ObjectAddress } from './hosted.ts'
import type {
  Calls,
  CallTransactions,
  Transactions,
  TransactionsOver,
  TransactionWork,
} from './transaction-calls.ts'

/** A stored document of a plugin. */
export interface KeptDocument<T = unknown> {
  readonly id: string
  /** Time of the last write, in milliseconds since 1970. */
  readonly at: number
  readonly value: T
}

/** Which documents to list. */
export interface KeptQuery {
  /** 1 to 1,000. */
  readonly limit: number
  /** Only documents after this one: the last one of the page before. */
  readonly after?: Pick<KeptDocument, 'id' | 'at'>
}

/** A read transaction. */
export interface KeptReader {
  get<T>(collection: string, id: string): T | undefined
  /** Newest first. */
  list<T>(collection: string, query: KeptQuery): KeptDocument<T>[]
  count(collection: string): number
}

/** A write transaction. */
export interface KeptWriter extends KeptReader {
  /** Adds a document of any JSON value, or replaces the one with the same id. The document ends at `expiresAt`. */
  put(collection: string, id: string, value: unknown, options?: { readonly expiresAt?: number }): void
  delete(collection: string, id: string): void
}

/**
 * The data of a plugin: transactions by name. Each is a pure function of the stored data and its arguments. It may run more than
 * once, so it must start nothing and change nothing else. Arguments and results are JSON. With Durable Objects it runs in the
 * object at the address of the call.
 */
export type PluginTransactions = TransactionsOver<KeptReader, KeptWriter>

/** Most documents of a list. */
const MAX_LISTED = 1000

/** Runs the transactions on the store. All documents of a plugin are in one collection of its own. */
function overStore(plugin: string, { reads = {}, writes = {} }: PluginTransactions): Transactions {
  const name = `plugin:${plugin}`
  const over =
    <R, S>(make: (tx: R, address: string) => S) =>
    (work: unknown) =>
      ((tx: R, address: string, ...args: unknown[]) =>
        atOnce((work as TransactionWork<S>)(make(tx, address), ...args))) as never
  const each = (works: object, wrap: (work: unknown) => never) =>
    Object.fromEntries(Object.entries(works).map(([key, work]) => [key, wrap(work)]))
  return {
    reads: each(
      reads,
      over((tx: Reader, address) => readerAt(tx, name, address)),
    ),
    writes: each(
      writes,
      over((tx: Transaction, address) => writerAt(tx, name, address)),
    ),
    expiring: [name],
  }
}

/** Throws for a promise: code after the first `await` would run outside of the transaction. */
function atOnce(result: unknown): unknown {
  if (!(result instanceof Promise)) return result
  result.catch(() => {})
  throw new ServableError('internal_error', 'Reads and writes of a plugin must not be async')
}

/** Values are stored as JSON text. So on every store a plugin gets a copy, and later changes of a value are not stored. */
function readerAt(tx: Reader, name: string, address: string): KeptReader {
  const partitionOf = (collection: string) => pathOf(address, collection)
  const isThere = ({ expiresAt = Number.POSITIVE_INFINITY }: Document) => expiresAt > tx.now
  return {
    get<T>(collection: string, id: string) {
      const document = tx.get<string>(name, pathOf(address, collection, id))
      return document !== undefined && isThere(document) ? (JSON.parse(document.value) as T) : undefined
    },
    list<T>(collection: string, { limit, after }: KeptQuery) {
      const most = Math.max(1, Math.min(Math.trunc(limit) || 1, MAX_LISTED))
      const partition = partitionOf(collection)
      const found: Document<string>[] = []
      let from = after && { at: after.at, id: pathOf(address, collection, after.id) }
      let page: Document<string>[]
      do {
        page = tx.list<string>(name, { partition, after: from, limit: most })
        found.push(...page.filter(isThere))
        from = page.at(-1)
      } while (page.length === most && found.length < most)
      return found
        .slice(0, most)
        .map(({ id, at, value }) => ({ id: lastOf(id), at, value: JSON.parse(value) as T }))
    },
    count(collection) {
      const partition = partitionOf(collection)
      if (tx.expired(name, tx.now, 1).length === 0) return tx.count(name, partition)
      return tx.list(name, { partition, limit: Number.MAX_SAFE_INTEGER }).filter(isThere).length
    },
  }
}

function writerAt(tx: Transaction, name: string, address: string): KeptWriter {
  return {
    ...readerAt(tx, name, address),
    put(collection, id, given, { expiresAt } = {}) {
      const value = toJson(given)
      const partition = pathOf(address, collection)
      tx.put(name, { id: pathOf(address, collection, id), partition, at: tx.now, tags: {}, value, expiresAt })
    },
    delete: (collection, id) => tx.delete(name, pathOf(address, collection, id)),
  }
}

function toJson(value: unknown): string {
  // Undefined for values that JSON cannot express, despite the type.
  const text = JSON.stringify(value) as string | undefined
  if (text !== undefined) return text
  throw new ServableError('internal_error', '`put` takes JSON values only')
}

/** The data of a plugin and its calls. Made by {@link keeping}. */
export interface Keeping<T extends PluginTransactions = PluginTransactions> {
  readonly works: T
  /** Returns the transactions over the store itself, for the handler. */
  over(plugin: string): Transactions
  /** Returns their calls, for the handler. */
  calls(callTransactions: CallTransactions, plugin: string): Calls<T, string>
}

/**
 * Declares the data of a plugin. Pass the result as `kept`, and to `core.calls`. Throws `invalid_options` if a read and a write
 * have the same name.
 *
 * @example
 * const counts = keeping({
 *   reads: { of: (kept, name: string) => kept.get<number>('count', name) ?? 0 },
 *   writes: { add: (kept, name: string) => kept.put('count', name, (kept.get<number>('count', name) ?? 0) + 1) },
 * })
 */
export function keeping<const T extends PluginTransactions>(works: T): Keeping<T> {
  const { reads = {}, writes = {} }: PluginTransactions = works
  const twice = Object.keys(writes).find(name => Object.hasOwn(reads, name))
  if (twice !== undefined) {
    throw new ServableError(
      'invalid_options',
      `\`keeping\`: \`${twice}\` is both a read and a write: rename one of them`,
    )
  }
  return {
    works,
    over: plugin => overStore(plugin, works),
    calls: (callTransactions, plugin) => callsOf(callTransactions, plugin, works),
  }
}

function callsOf<T extends PluginTransactions>(
  callTransactions: CallTransactions,
  plugin: string,
  works: T,
): Calls<T, string> {
  const calls = callTransactions(plugin, overStore(plugin, works)) as Readonly<
    Record<string, (address: ObjectAddress, ...args: unknown[]) => unknown>
  >
  const named = Object.entries(calls).map(([name, call]) => [
    name,
    (address: string, ...args: unknown[]) =>
      call({ name: `plugin:${plugin}`, key: address }, address, ...args),
  ])
  return Object.fromEntries(named) as Calls<T, string>
}

/** Joins names unambiguously. */
function pathOf(...names: readonly string[]): string {
  return JSON.stringify(names)
}

function lastOf(path: string): string {
  return (JSON.parse(path) as string[]).at(-1) ?? ''
}
