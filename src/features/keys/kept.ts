/**
 * The stored keys and their transactions. Of a key itself only the digest is stored.
 *
 * @module
 */

import { ServableError } from '../../base/errors.ts'
import type { Transactions } from '../../core/transaction-calls.ts'
import { ownersIn, type Page, readPage } from '../../runs/stored/page.ts'
import { partitionOf } from '../../runs/stored/record.ts'
import { unexpiredIn } from '../../stores/alarm.ts'
import type { Reader, Transaction } from '../../stores/store.ts'

/** The address of all keys in Durable Objects, and the name of their object service. */
export const KEYS_ADDRESS = 'keys'

const KEYS = 'caller-key'

/** Milliseconds for which a key is listed after it was revoked or has expired: 30 days. */
export const ENDED_MS: number = 30 * 24 * 60 * 60 * 1000

/** Milliseconds between two writes of the time of the last use. */
export const USED_MS: number = 60 * 60 * 1000

const AT_ONCE = 100

/** The rate limit of a key. */
export interface Rate {
  /** Most requests in a window. */
  readonly max: number
  /** Milliseconds of a window. */
  readonly windowMs: number
}

/** The settings of a key. Times are in milliseconds since 1970. */
export interface KeyTerms {
  readonly name: string
  readonly scopes: readonly string[]
  /** What its owner may do with the things of others. Undefined: nothing. */
  readonly roles?: readonly string[] | undefined
  /** Undefined: it does not expire. */
  readonly expiresAt?: number | undefined
  /** Undefined: requests are not counted. */
  readonly rate?: Rate | undefined
}

/** A stored key. */
export interface KeptKey extends KeyTerms {
  readonly id: string
  /** The identity of requests with it. */
  readonly owner: string
  /** SHA-256 of the key. Undefined once it is revoked. */
  readonly digest?: string | undefined
  /** The key before the last rotation, which is valid until then. */
  readonly previous?: { readonly digest: string; readonly until: number } | undefined
  readonly createdAt: number
  readonly lastUsedAt?: number | undefined
  readonly rotatedAt?: number | undefined
  readonly revokedAt?: number | undefined
}

/** A key to store. */
export interface NewKey extends KeyTerms {
  readonly id: string
  readonly owner: string
  readonly digest: string
}

/** Changes of a key. Absent members stay; `null` removes one. */
export interface KeyChange {
  readonly name?: string | undefined
  readonly scopes?: readonly string[] | undefined
  readonly roles?: readonly string[] | undefined
  readonly expiresAt?: number | null | undefined
  readonly rate?: Rate | null | undefined
}

/** Which keys to list, newest first. */
export interface KeyQuery {
  readonly owner?: string | undefined
  readonly cursor?: string | undefined
  readonly limit: number
}

/** The type of {@link KEY_TRANSACTIONS}. */
export interface KeyTransactions extends Transactions {
  readonly reads: {
    readonly find: (tx: Reader, id: string) => KeptKey | undefined
    readonly list: (tx: Reader, query: KeyQuery) => Page<KeptKey>
    /** Some of the owners of a tenant. */
    readonly owners: (tx: Reader, tenant: string) => readonly string[]
  }
  readonly writes: {
    readonly issue: (tx: Transaction, key: NewKey, maxKeys: number) => KeptKey
    readonly change: (tx: Transaction, id: string, change: KeyChange) => KeptKey
    readonly rotate: (tx: Transaction, id: string, digest: string, graceMs: number) => KeptKey
    readonly revoke: (tx: Transaction, id: string) => KeptKey
    readonly use: (tx: Transaction, id: string) => void
    readonly forget: (tx: Transaction, owner: string) => readonly string[]
  }
}

/** The transactions of keys. Each is one write, so no change is written partially. */
export const KEY_TRANSACTIONS: KeyTransactions = {
  reads: {
    find: (tx, id) => unexpired(tx, id),
    list: (tx, { owner, ...page }) => readPage<KeptKey>(tx, KEYS, filterOf(owner), { ...page, isLive: true }),
    owners: (tx, tenant) => ownersIn<KeptKey>(tx, KEYS, tenant, ({ value }) => value.owner),
  },
  writes: {
    /** Throws `too_many_caller_keys`. With as many keys, one that has ended is deleted for a new one. */
    issue(tx, key, maxKeys) {
      if (tx.count(KEYS) >= maxKeys) makeRoom(tx, maxKeys)
      return put(tx, { ...key, createdAt: tx.now })
    },
    /** Throws `caller_key_not_found` and `caller_key_revoked`, as `rotate` does. */
    change(tx, id, { expiresAt, rate, ...change }) {
      const key = liveIn(tx, id)
      return put(tx, {
        ...key,
        name: change.name ?? key.name,
        scopes: change.scopes ?? key.scopes,
        roles: change.roles ?? key.roles,
        expiresAt: expiresAt === undefined ? key.expiresAt : (expiresAt ?? undefined),
        rate: rate === undefined ? key.rate : (rate ?? undefined),
      })
    },
    rotate(tx, id, digest, graceMs) {
      const key = liveIn(tx, id)
      const { now } = tx
      const previous =
        graceMs > 0 && key.digest !== undefined ? { digest: key.digest, until: now + graceMs } : undefined
      return put(tx, { ...key, digest, previous, rotatedAt: now })
    },
    /** Throws `caller_key_not_found`. A revoked key stays revoked. */
    revoke(tx, id) {
      const key = keyIn(tx, id)
      if (key.revokedAt !== undefined) return key
      return put(tx, { ...key, digest: undefined, previous: undefined, revokedAt: tx.now })
    },
    use(tx, id) {
      const key = unexpired(tx, id)
      if (key === undefined || key.revokedAt !== undefined || !isUseDue(key, tx.now)) return
      put(tx, { ...key, lastUsedAt: tx.now })
    },
    /** Deletes some keys of an owner, and returns their ids. None if there are no more. */
    forget(tx, owner) {
      const query = { ...filterOf(owner), limit: AT_ONCE, looks: AT_ONCE }
      let found = tx.search<KeptKey>(KEYS, query)
      while (found.documents.length === 0 && found.next !== undefined) {
        found = tx.search<KeptKey>(KEYS, { ...query, after: found.next })
      }
      const ids = found.documents.map(({ id }) => id)
      for (const id of ids) tx.delete(KEYS, id)
      return ids
    },
  },
  expiring: [KEYS],
}

/** Whether to write the time of a use: no time is stored, or the stored one is old. */
export function isUseDue({ lastUsedAt }: KeptKey, now: number): boolean {
  return lastUsedAt === undefined || now - lastUsedAt >= USED_MS
}

/** Whether a key is neither revoked nor expired. */
export function isLive({ revokedAt, expiresAt = Number.POSITIVE_INFINITY }: KeptKey, now: number): boolean {
  return revokedAt === undefined && now < expiresAt
}

function filterOf(owner: string | undefined) {
  return { partition: '', ...(owner !== undefined && { tags: { owner: partitionOf(owner) } }) }
}

function unexpired(tx: Reader, id: string): KeptKey | undefined {
  return unexpiredIn<KeptKey>(tx, KEYS, id)?.value
}

function keyIn(tx: Reader, id: string): KeptKey {
  const key = unexpired(tx, id)
  if (key !== undefined) return key
  throw new ServableError('caller_key_not_found', 'There is no such key')
}

function liveIn(tx: Reader, id: string): KeptKey {
  const key = keyIn(tx, id)
  if (key.revokedAt === undefined) return key
  throw new ServableError('caller_key_revoked', 'The key is revoked: issue a new one')
}

/** Deletes the key that has ended first. */
function makeRoom(tx: Transaction, maxKeys: number): void {
  // A valid key expires later than that.
  const [ended] = tx.expired(KEYS, tx.now + ENDED_MS, 1)
  if (ended !== undefined) return tx.delete(KEYS, ended.id)
  throw new ServableError('too_many_caller_keys', `There are ${maxKeys} keys already: revoke one first`)
}

function put(tx: Transaction, key: KeptKey): KeptKey {
  const { id, owner, createdAt: at, revokedAt, expiresAt } = key
  const endsAt = revokedAt ?? expiresAt
  tx.put(KEYS, {
    id,
    partition: '',
    at,
    tags: { owner: partitionOf(owner) },
    value: key,
    expiresAt: endsAt === undefined ? undefined : endsAt + ENDED_MS,
  })
  return key
}
