/**
 * Creates object services, and calls them.
 *
 * @module
 */

import { ServableError } from '../base/errors.ts'
import { bound } from '../stores/bound.ts'
import type { Document, Reader, Transaction } from '../stores/store.ts'
import type { CallService, ObjectContext, ObjectService } from './hosted.ts'
import type { Transactions, TransactionWork } from './transaction-calls.ts'

/** The methods of an object service, as callers see them. */
export type ServiceCalls<Methods> = {
  readonly [Name in keyof Methods]: Methods[Name] extends (...args: infer Args) => infer Result
    ? (...args: Args) => Promise<Awaited<Result>>
    : never
}

/** Makes the calls of an object service. */
export function remote<Methods>(ask: CallService): ServiceCalls<Methods> {
  const calls = new Proxy(
    {},
    {
      get:
        (_, method: string) =>
        (...args: unknown[]) =>
          ask(method, ...args),
    },
  )
  return calls as ServiceCalls<Methods>
}

/** Calls a method of an object service by name. Throws `invalid_options` if it does not have that method. */
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

/** Most expired documents that are deleted at once. */
const EXPIRED_AT_ONCE = 100

/**
 * Creates the object service for transactions. It runs them in an object, and deletes expired documents there. `onExpired` is
 * called with each deleted document.
 */
export function objectServiceOf(
  { store, wakeBy }: Pick<ObjectContext, 'store' | 'wakeBy'>,
  { reads = {}, writes = {}, expiring = [], inMemory, forget }: Transactions,
  onExpired?: (document: Document) => Promise<void>,
): ObjectService {
  const look = (work: TransactionWork<Reader>, args: readonly unknown[]) =>
    store.read(tx => work(tx, ...args))
  const write = async (work: TransactionWork<Transaction>, args: readonly unknown[]) => {
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
    inMemory,
    ask(method, args) {
      const reading = ownOf<TransactionWork<Reader>>(reads, method)
      if (reading !== undefined) return look(reading, args)
      const writing = ownOf<TransactionWork<Transaction>>(writes, method)
      return writing === undefined ? callIn({}, method, args) : write(writing, args)
    },
    async alarm() {
      const { expired, soonest } = store.write(tx => takeExpired(tx, expiring, forget))
      await Promise.all(expired.map(document => onExpired?.(document)))
      if (soonest !== undefined) await wakeBy(soonest)
    },
  }
}

/** Deletes expired documents, and returns the time at which the next one expires. */
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

/** Returns the same transaction, which calls `onPut` for each written document. */
function notePuts(
  tx: Transaction,
  onPut: (collection: string, document: Pick<Document, 'expiresAt'>) => void,
): Transaction {
  return {
    ...bound(tx),
    put(collection, document, eviction) {
      onPut(collection, document)
      tx.put(collection, document, eviction)
    },
  }
}
