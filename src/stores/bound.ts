import type { Transaction } from './store.ts'

/** The same transaction as a plain object, so that callers can replace some of its methods. */
export function bound(tx: Transaction): Transaction {
  return {
    now: tx.now,
    get: tx.get.bind(tx),
    list: tx.list.bind(tx),
    search: tx.search.bind(tx),
    count: tx.count.bind(tx),
    countMatching: tx.countMatching.bind(tx),
    withPrefix: tx.withPrefix.bind(tx),
    expired: tx.expired.bind(tx),
    oldest: tx.oldest.bind(tx),
    read: tx.read.bind(tx),
    length: tx.length.bind(tx),
    isSealed: tx.isSealed.bind(tx),
    put: tx.put.bind(tx),
    delete: tx.delete.bind(tx),
    append: tx.append.bind(tx),
    deleteLog: tx.deleteLog.bind(tx),
    ...(tx.recentCount && { recentCount: tx.recentCount.bind(tx) }),
    ...(tx.assumeNew && { assumeNew: tx.assumeNew.bind(tx) }),
    ...(tx.call && { call: tx.call.bind(tx) }),
  }
}
