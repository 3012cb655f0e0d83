/**
 * Finds the keys of requests. What it has found, it remembers for a short time, so that not every request asks the state.
 *
 * @module
 */

import { isServableError, ServableError } from '../../base/errors.ts'
import type { Calls } from '../../core/transaction-calls.ts'
import { isSame, sha256 } from '../../web/digest.ts'
import { BoundedMap } from './bounded-map.ts'
import { idOf } from './codec.ts'
import { isLive, isUseDue, KEYS_PLACE, type KeptKey, type KeyTransactions } from './kept.ts'

/** Most keys that are remembered, and most ids of which it is remembered that there is no key. */
export const MAX_KNOWN = 10_000
export const MAX_UNKNOWN = 1000

/** What was found under an id, and until when that is believed. */
interface Found {
  readonly key: KeptKey | undefined
  readonly until: number
}

/** What a keyring needs. */
export interface KeyringParts {
  readonly calls: Calls<KeyTransactions>
  /** Milliseconds for which it remembers. 0: not at all. */
  readonly cacheMs: number
  /** Whether a request may wait for what another one has asked. An answer of an object belongs to the request that has asked. */
  readonly joins: boolean
  /** Those of all handlers that have the plugin. */
  readonly changes: Changes
}

/** Counts changes of keys in this process: what was read before one is not believed any more. */
export interface Changes {
  count: number
}

/** The keys of a handler. */
export class Keyring {
  readonly calls: Calls<KeyTransactions>
  readonly #cacheMs: number
  readonly #joins: boolean
  readonly #changes: Changes
  /** The count of changes when the first of what is remembered was read. */
  #since: number
  readonly #known = new BoundedMap<Found>(MAX_KNOWN)
  readonly #unknown = new BoundedMap<Found>(MAX_UNKNOWN)
  readonly #asking = new Map<string, Promise<KeptKey | undefined>>()
  /** Keys whose use was written from here, and when. */
  readonly #used = new BoundedMap<number>(MAX_KNOWN)

  constructor({ calls, cacheMs, joins, changes }: KeyringParts) {
    this.calls = calls
    this.#cacheMs = cacheMs
    this.#joins = joins
    this.#changes = changes
    this.#since = changes.count
  }

  /** How many ids are remembered. */
  get size(): number {
    return this.#known.size + this.#unknown.size
  }

  /** The key of this text. Undefined for none that is good now. Throws `state_unavailable`. */
  async check(text: string): Promise<KeptKey | undefined> {
    const id = idOf(text)
    if (id === undefined) return undefined
    const [key, digest] = await Promise.all([this.find(id), sha256(text)])
    return key !== undefined && isOf(key, digest, Date.now()) ? key : undefined
  }

  /** The key of this id, whatever has become of it. Throws `state_unavailable`. */
  async find(id: string): Promise<KeptKey | undefined> {
    this.#heedChanges()
    const found = this.#known.get(id) ?? this.#unknown.get(id)
    const now = Date.now()
    // A clock that was set back makes nothing last longer.
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
    const key = await this.calls.find(KEYS_PLACE, id).catch(unavailable)
    if (count === this.#changes.count && this.#cacheMs > 0) {
      const [own, other] = key === undefined ? [this.#unknown, this.#known] : [this.#known, this.#unknown]
      other.delete(id)
      // From before it was asked for: it was so then, at the latest.
      own.set(id, { key, until: now + this.#cacheMs })
    }
    return key
  }

  /** Changes keys. Whatever comes of it, what was read before is not believed any more. */
  async change<T>(change: (calls: Calls<KeyTransactions>) => Promise<T>): Promise<T> {
    try {
      return await change(this.calls)
    } finally {
      this.#changes.count++
    }
  }

  /** Deletes all keys of an owner. Gives whether there were any. */
  async forget(owner: string): Promise<boolean> {
    for (let hasFound = false; ; hasFound = true) {
      const ids = await this.change(calls => calls.forget(KEYS_PLACE, owner))
      if (ids.length === 0) return hasFound
    }
  }

  #heedChanges(): void {
    if (this.#since === this.#changes.count) return
    this.#since = this.#changes.count
    for (const each of [this.#known, this.#unknown, this.#asking]) each.clear()
  }

  /** Writes that a key was used, at most once an hour. Undefined if that is written. Never rejects. */
  use(key: KeptKey): Promise<void> | undefined {
    const now = Date.now()
    const lastUsedAt = Math.max(key.lastUsedAt ?? 0, this.#used.get(key.id) ?? 0)
    if (!isUseDue({ ...key, lastUsedAt }, now)) return undefined
    this.#used.set(key.id, now)
    // If this fails, the next hour's use is written.
    return this.calls.use(KEYS_PLACE, key.id).catch(() => {})
  }
}

/** Whether a digest is that of the key, or of the one before it for as long as that is good. In constant time. */
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
