/**
 * Finds the keys of requests. It caches them for a short time, so that not every request reads the state.
 *
 * @module
 */

import { isServableError, ServableError } from '../../base/errors.ts'
import type { Calls } from '../../core/transaction-calls.ts'
import { isSame, sha256 } from '../../web/digest.ts'
import { idOf } from './codec.ts'
import { isLive, isUseDue, KEYS_ADDRESS, type KeptKey, type KeyTransactions } from './kept.ts'

/** Most keys in the cache, and most ids without a key. */
export const MAX_KNOWN = 10_000
export const MAX_UNKNOWN = 1000

/** The cached result for an id, and when it expires. */
interface Found {
  readonly key: KeptKey | undefined
  readonly until: number
}

/** The parts of a keyring. */
export interface KeyringParts {
  readonly calls: Calls<KeyTransactions>
  /** Milliseconds in the cache. 0: no cache. */
  readonly cacheMs: number
  /** Whether requests may share one read. On Workers, the answer of an object belongs to the request that asked. */
  readonly joins: boolean
  /** The changes of all handlers with the plugin. */
  readonly changes: Changes
}

/** Counts changes of keys in this process. A change invalidates earlier reads. */
export interface Changes {
  count: number
}

/** The keys of a handler. */
export class Keyring {
  readonly calls: Calls<KeyTransactions>
  readonly #cacheMs: number
  readonly #joins: boolean
  readonly #changes: Changes
  /** The count of changes at the oldest cached read. */
  #since: number
  readonly #known = new BoundedMap<Found>(MAX_KNOWN)
  readonly #unknown = new BoundedMap<Found>(MAX_UNKNOWN)
  readonly #asking = new Map<string, Promise<KeptKey | undefined>>()
  /** The time of the last use that was written from here, by key. */
  readonly #used = new BoundedMap<number>(MAX_KNOWN)

  constructor({ calls, cacheMs, joins, changes }: KeyringParts) {
    this.calls = calls
    this.#cacheMs = cacheMs
    this.#joins = joins
    this.#changes = changes
    this.#since = changes.count
  }

  /** Number of cached ids. */
  get size(): number {
    return this.#known.size + this.#unknown.size
  }

  /** The valid key of this text. Undefined if there is none. Throws `state_unavailable`. */
  async check(text: string): Promise<KeptKey | undefined> {
    const id = idOf(text)
    if (id === undefined) return undefined
    const [key, digest] = await Promise.all([this.find(id), sha256(text)])
    return key !== undefined && isOf(key, digest, Date.now()) ? key : undefined
  }

  /** The key of this id, even if it has ended. Throws `state_unavailable`. */
  async find(id: string): Promise<KeptKey | undefined> {
    this.#heedChanges()
    const found = this.#known.get(id) ?? this.#unknown.get(id)
    const now = Date.now()
    // A clock that was set back does not extend the cache.
    if (found !== undefined && found.until > now && found.until <= now + this.#cacheMs) return found.key
    if (!this.#joins) return this.#ask(id, now)
    const asked = this.#asking.get(id) ?? this.#ask(id, now)
    this.#asking.set(id, asked)
    try {
      return await asked
    } finally {
      if (this.#asking.get(id) === asked) this.#asking.delete(id)
    }
  }

  async #ask(id: string, now: number): Promise<KeptKey | undefined> {
    const { count } = this.#changes
    const key = await this.calls.find(KEYS_ADDRESS, id).catch(unavailable)
    if (count === this.#changes.count && this.#cacheMs > 0) {
      const [own, other] = key === undefined ? [this.#unknown, this.#known] : [this.#known, this.#unknown]
      other.delete(id)
      // The time before the read, so that the cache expires early rather than late.
      own.set(id, { key, until: now + this.#cacheMs })
    }
    return key
  }

  /** Changes keys. Earlier reads are invalidated even if the change fails. */
  async change<T>(change: (calls: Calls<KeyTransactions>) => Promise<T>): Promise<T> {
    try {
      return await change(this.calls)
    } finally {
      this.#changes.count++
    }
  }

  /** Deletes all keys of an owner. Returns whether there were any. */
  async forget(owner: string): Promise<boolean> {
    for (let hasFound = false; ; hasFound = true) {
      const ids = await this.change(calls => calls.forget(KEYS_ADDRESS, owner))
      if (ids.length === 0) return hasFound
    }
  }

  #heedChanges(): void {
    if (this.#since === this.#changes.count) return
    this.#since = this.#changes.count
    for (const each of [this.#known, this.#unknown, this.#asking]) each.clear()
  }

  /** Writes the use of a key, at most once an hour. Undefined if it was written recently. Never rejects. */
  use(key: KeptKey): Promise<void> | undefined {
    const now = Date.now()
    const lastUsedAt = Math.max(key.lastUsedAt ?? 0, this.#used.get(key.id) ?? 0)
    if (!isUseDue({ ...key, lastUsedAt }, now)) return undefined
    this.#used.set(key.id, now)
    // If this fails, the next hour's use is written.
    return this.calls.use(KEYS_ADDRESS, key.id).catch(() => {})
  }
}

/** Whether a digest is that of the key, or of the previous one while that is valid. In constant time. */
function isOf(key: KeptKey, given: string, now: number): boolean {
  const { digest = '', previous } = key
  const isCurrent = isSame(digest, given)
  const isPrevious = isSame(previous?.digest ?? '', given)
  return isLive(key, now) && (isCurrent || (isPrevious && now < (previous?.until ?? 0)))
}

function unavailable(cause: unknown): never {
  if (isServableError(cause) && cause.code === 'state_unavailable') throw cause
  throw new ServableError('state_unavailable', 'The key cannot be checked now: try again later', { cause })
}

/** A map with a limited number of entries. When it is full, the entry that was set first is removed. */
export class BoundedMap<V> {
  readonly #entries = new Map<string, V>()
  readonly #max: number

  constructor(max: number) {
    this.#max = max
  }

  get size(): number {
    return this.#entries.size
  }

  get(name: string): V | undefined {
    return this.#entries.get(name)
  }

  set(name: string, value: V): V {
    this.#entries.delete(name)
    this.#entries.set(name, value)
    const [oldest] = this.#entries.keys()
    if (this.#entries.size > this.#max && oldest !== undefined) this.#entries.delete(oldest)
    return value
  }

  clear(): void {
    this.#entries.clear()
  }

  delete(name: string): void {
    this.#entries.delete(name)
  }
}
