/**
 * What bots of Chat SDK keep, as pure transactions. Values are JSON text, so that every store gives a copy back.
 *
 * @module
 */

import type { Calls, Transactions } from '../../core/transaction-calls.ts'
import type { Document, Reader, Transaction } from '../../stores/store.ts'

const COLLECTION = 'chat-state'

/** What a key names. The same key may be one of each. */
export type KeptKind = 'value' | 'list' | 'queue' | 'lock' | 'subscription'

/** A lock, as a bot holds it. */
export interface ChatLock {
  readonly threadId: string
  readonly token: string
  /** Milliseconds since 1970, by the store's clock. */
  readonly expiresAt: number
}

/** An entry of a list or a queue. */
interface Item {
  readonly text: string
  /** From this time on it is not taken. Milliseconds since 1970, by the clock of the bot. */
  readonly expiresAt?: number
}

/** How many entries are kept: the newest ones. */
interface Most {
  readonly items: number
  /** Characters of all. The newest entry is kept, however long it is. */
  readonly length: number
}

/** The transactions. `ttlMs` is how long it is kept; undefined: until it is deleted. */
export interface ChatStateTransactions extends Transactions {
  readonly reads: {
    /** The JSON text of a value. */
    get(tx: Reader, key: string): string | undefined
    has(tx: Reader, kind: KeptKind, key: string): boolean
    /** The JSON texts of a list. */
    list(tx: Reader, key: string): readonly string[]
    /** The number of entries that can be taken. */
    depth(tx: Reader, key: string, at: number): number
  }
  readonly writes: {
    set(tx: Transaction, key: string, text: string, ttlMs?: number): void
    /** Returns whether there was none. */
    setIfNew(tx: Transaction, key: string, text: string, ttlMs?: number): boolean
    subscribe(tx: Transaction, key: string): void
    /** Deletes all that the key names of these kinds. */
    remove(tx: Transaction, key: string, kinds: readonly KeptKind[]): void
    append(tx: Transaction, key: string, text: string, most: Most, ttlMs?: number): void
    /** Returns the number of entries that can be taken then. */
    enqueue(tx: Transaction, key: string, item: Item, at: number, most: Most): number
    /** Takes the oldest entry that has not expired. */
    dequeue(tx: Transaction, key: string, at: number): string | undefined
    /** Takes the lock unless another token has it. Returns when it expires. */
    lock(tx: Transaction, key: string, token: string, ttlMs: number): number | undefined
    /** Returns whether this token has the lock. It then has it for so long. */
    extend(tx: Transaction, key: string, token: string, ttlMs: number): boolean
    /** Gives the lock back if this token has it. */
    unlock(tx: Transaction, key: string, token: string): void
  }
}

const idOf = (kind: KeptKind, key: string) => `${kind}:${key}`

/** The document, unless it has expired. */
function read<T>(tx: Reader, kind: KeptKind, key: string): Document<T> | undefined {
  const found = tx.get<T>(COLLECTION, idOf(kind, key))
  return found === undefined || (found.expiresAt ?? Number.POSITIVE_INFINITY) <= tx.now ? undefined : found
}

function put(tx: Transaction, kind: KeptKind, key: string, value: unknown, ttlMs?: number): void {
  const expiresAt = ttlMs === undefined ? undefined : tx.now + ttlMs
  // A value that expires is a cache or a note: in a store of limited size it goes after the runs that have ended.
  const eviction = kind === 'value' && ttlMs !== undefined ? ({ leaves: 'last' } as const) : {}
  const document = { id: idOf(kind, key), partition: kind, at: tx.now, tags: {}, value, expiresAt }
  tx.put(COLLECTION, document, eviction)
}

const itemsOf = (tx: Reader, kind: 'list' | 'queue', key: string): readonly Item[] =>
  read<readonly Item[]>(tx, kind, key)?.value ?? []

const waiting = (tx: Reader, key: string, at: number): readonly Item[] =>
  itemsOf(tx, 'queue', key).filter(({ expiresAt = Number.POSITIVE_INFINITY }) => expiresAt > at)

/** The newest of the entries, within the bounds. */
function newest(all: readonly Item[], { items, length }: Most): readonly Item[] {
  let from = all.length - 1
  let used = all[from]?.text.length ?? 0
  while (from > 0 && all.length - from < items) {
    used += all[from - 1]?.text.length ?? 0
    if (used > length) break
    from--
  }
  return all.slice(Math.max(from, 0))
}

/** Whether the token has the lock. */
const holds = (tx: Reader, key: string, token: string) => read(tx, 'lock', key)?.value === token

export const CHAT_STATE_TRANSACTIONS: ChatStateTransactions = {
  expiring: [COLLECTION],
  reads: {
    get: (tx, key) => read<string>(tx, 'value', key)?.value,
    has: (tx, kind, key) => read(tx, kind, key) !== undefined,
    list: (tx, key) => itemsOf(tx, 'list', key).map(({ text }) => text),
    depth: (tx, key, at) => waiting(tx, key, at).length,
  },
  writes: {
    set: (tx, key, text, ttlMs) => put(tx, 'value', key, text, ttlMs),
    setIfNew(tx, key, text, ttlMs) {
      const isNew = read(tx, 'value', key) === undefined
      if (isNew) put(tx, 'value', key, text, ttlMs)
      return isNew
    },
    subscribe: (tx, key) => put(tx, 'subscription', key, true),
    remove(tx, key, kinds) {
      for (const kind of kinds) tx.delete(COLLECTION, idOf(kind, key))
    },
    append(tx, key, text, most, ttlMs) {
      put(tx, 'list', key, newest([...itemsOf(tx, 'list', key), { text }], most), ttlMs)
    },
    enqueue(tx, key, item, at, most) {
      const kept = newest([...waiting(tx, key, at), item], most)
      putQueue(tx, key, kept, at)
      return kept.length
    },
    dequeue(tx, key, at) {
      const [first, ...rest] = waiting(tx, key, at)
      if (first !== undefined) putQueue(tx, key, rest, at)
      return first?.text
    },
    lock(tx, key, token, ttlMs) {
      if ((read(tx, 'lock', key)?.value ?? token) !== token) return undefined
      put(tx, 'lock', key, token, ttlMs)
      return tx.now + ttlMs
    },
    extend(tx, key, token, ttlMs) {
      const isHeld = holds(tx, key, token)
      if (isHeld) put(tx, 'lock', key, token, ttlMs)
      return isHeld
    },
    unlock(tx, key, token) {
      if (holds(tx, key, token)) tx.delete(COLLECTION, idOf('lock', key))
    },
  },
}

/** Writes a queue until its last entry has expired. */
function putQueue(tx: Transaction, key: string, items: readonly Item[], at: number): void {
  const untils = items.map(({ expiresAt = Number.POSITIVE_INFINITY }) => expiresAt - at)
  const ttlMs = Math.max(0, ...untils)
  if (items.length === 0) tx.delete(COLLECTION, idOf('queue', key))
  else put(tx, 'queue', key, items, Number.isFinite(ttlMs) ? ttlMs : undefined)
}

/** The calls of the transactions. */
export type ChatStateCalls = Calls<ChatStateTransactions>
