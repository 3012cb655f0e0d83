/**
 * Creates object services, and calls them.
 *
 * @module
 */

import { ServableError } from '../base/errors.ts'
import { nextExpiry, notePuts, takeExpired } from '../stores/alarm.ts'
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

/**
 * Creates the object service for transactions. It runs them in an object, and deletes expired documents there. `onExpired` is
 * called with each deleted document.
 */
export function objectServiceOf(
  { store, wakeBy }: Pick<ObjectContext, 'store' | 'wakeBy'>,
  transactions: Transactions,
  onExpired?: (document: Document) => Promise<void>,
): ObjectService {
  const { reads = {}, writes = {}, inMemory } = transactions
  const look = (work: TransactionWork<Reader>, args: readonly unknown[]) =>
    store.read(tx => work(tx, ...args))
  const write = async (work: TransactionWork<Transaction>, args: readonly unknown[]) => {
    let soonest = Number.POSITIVE_INFINITY
    const result = store.write(tx => {
      soonest = Number.POSITIVE_INFINITY
      const onPut = (expiresAt: number) => {
        soonest = Math.min(soonest, expiresAt)
      }
      return work(notePuts(tx, transactions, onPut), ...args)
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
      const { expired, soonest } = store.write(tx => {
        const expired = takeExpired(tx, transactions)
        return { expired, soonest: nextExpiry(tx, transactions) }
      })
      await Promise.all(expired.map(document => onExpired?.(document)))
      if (soonest !== undefined) await wakeBy(soonest)
    },
  }
}
