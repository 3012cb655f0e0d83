/**
 * Makes keepers, and calls them.
 *
 * @module
 */

import { ServableError } from '../base/errors.ts'
import { bound } from '../stores/bound.ts'
import type { Document, Reader, Transaction } from '../stores/store.ts'
import type { Ask, ObjectService, Seat } from './hosted.ts'
import type { Transactions, Work } from './transaction-calls.ts'

/** The methods of a keeper, as those who ask see them. */
export type Remote<Methods> = {
  readonly [Name in keyof Methods]: Methods[Name] extends (...args: infer Args) => infer Result
    ? (...args: Args) => Promise<Awaited<Result>>
    : never
}

/** Calls methods of a keeper in an object. */
export function remote<Methods>(ask: Ask): Remote<Methods> {
  const calls = new Proxy(
    {},
    {
      get:
        (_, method: string) =>
        (...args: unknown[]) =>
          ask(method, ...args),
    },
  )
  return calls as Remote<Methods>
}

/** Calls a method of a keeper, whoever asks. Throws `invalid_options` for one that it does not have. */
export function callIn(methods: object, method: string, args: readonly unknown[]): unknown {
  const work = ownOf<(...args: readonly unknown[]) => unknown>(methods, method)
  if (work !== undefined) return work(...args)
  throw new ServableError(
    'invalid_options',
    `The Durable Object has no \`${method}\`: its version is not that of the caller. Deploy both together`,
  )
}

function ownOf<T>(works: object, name: string): T | undefined {
  return Object.hasOwn(works, name) ? (works as Readonly<Record<string, T>>)[name] : undefined
}

/** Documents that are deleted in one go once they have expired. */
const EXPIRED_AT_ONCE = 100

/**
 * The keeper of transactions: runs them in an object, and deletes there what has expired. `onExpired` is told of each document
 * that was deleted so.
 */
export function objectServiceOf(
  { store, wakeBy }: Pick<Seat, 'store' | 'wakeBy'>,
  { reads = {}, writes = {}, expiring = [], passing, forget }: Transactions,
  onExpired?: (document: Document) => Promise<void>,
): ObjectService {
  const look = (work: Work<Reader>, args: readonly unknown[]) => store.read(tx => work(tx, ...args))
  const write = async (work: Work<Transaction>, args: readonly unknown[]) => {
    let soonest = Number.POSITIVE_INFINITY
    const result = store.write(tx => {
      soonest = Number.POSITIVE_INFINITY
      const noting = notePuts(tx, (collection, { expiresAt = soonest }) => {
        if (expiring.includes(collection)) soonest = Math.min(soonest, expiresAt)
      })
      return work(noting, ...args)
    })
    if (Number.isFinite(soonest)) await wakeBy(soonest)
    return result
  }
  return {
    passing,
    ask(method, args) {
      const reading = ownOf<Work<Reader>>(reads, method)
      if (reading !== undefined) return look(reading, args)
      const writing = ownOf<Work<Transaction>>(writes, method)
      return writing === undefined ? callIn({}, method, args) : write(writing, args)
    },
    async alarm() {
      const { expired, soonest } = store.write(tx => takeExpired(tx, expiring, forget))
      await Promise.all(expired.map(document => onExpired?.(document)))
      if (soonest !== undefined) await wakeBy(soonest)
    },
  }
}

/** Deletes what has expired, and says when the next document does. */
function takeExpired(
  tx: Transaction,
  collections: readonly string[],
  forget: Transactions['forget'] = (from, name, id) => from.delete(name, id),
): { readonly expired: readonly Document[]; readonly soonest: number | undefined } {
  const { now } = tx
  const expired = collections.flatMap(name => {
    const documents = tx.expired(name, now, EXPIRED_AT_ONCE)
    for (const { id } of documents) forget(tx, name, id)
    return documents
  })
  const next = collections.flatMap(name => tx.expired(name, Number.MAX_SAFE_INTEGER, 1))
  const moments = next.flatMap(({ expiresAt }) => expiresAt ?? [])
  return { expired, soonest: moments.length === 0 ? undefined : Math.min(...moments) }
}

/** The same transaction; `onPut` is told of each document that is written. */
function notePuts(
  tx: Transaction,
  onPut: (collection: string, document: Pick<Document, 'expiresAt'>) => void,
): Transaction {
  return {
    ...bound(tx),
    put(collection, document, footing) {
      onPut(collection, document)
      tx.put(collection, document, footing)
    },
  }
}
