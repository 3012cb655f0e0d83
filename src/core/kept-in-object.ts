/**
 * The one run or task that an object stores. This file finds it, reports its status to its list, and deletes it when its time
 * has come.
 *
 * @module
 */

import type { ServableError } from '../base/errors.ts'
import type { Document, Transaction } from '../stores/store.ts'
import type { Seat } from './hosted.ts'
import { createMutex } from './mutex.ts'

/** Milliseconds between looks at what is at work: so long at the most is an evicted one thought to be running. */
export const WATCH_MS = 30_000

/** Milliseconds after which a list that could not be told is told again. */
const RETRY_MS = 10_000

/** What is kept, and who is told of it. */
export interface KeptOptions<T> {
  readonly collection: string
  /** What is thrown where there is none, or none any more. */
  readonly missing: () => ServableError
  /** What its list is to know of it, in a few words; undefined for nothing. */
  readonly storyOf: (value: T) => string | undefined
  readonly isAtWork: (value: T) => boolean
  /** Tells its owner's list where it stands. */
  readonly tell: (document: Document<T>) => Promise<void>
  /** Takes it off its owner's list. */
  readonly unlist: (document: Document<T>) => Promise<void>
  /** Ends it where an eviction interrupted it, and goes on with what was left behind. */
  readonly look: (document: Document<T>) => Promise<void>
  /** Deletes all that is kept of it. */
  readonly forget: (tx: Transaction, value: T) => void
  /** The moment at which it is to be looked at though it has ended: before the one at which it goes. */
  readonly nextAt?: (expiresAt: number) => number
}

/** What an object keeps. */
export class KeptInObject<T> {
  readonly #seat: Seat
  readonly #options: KeptOptions<T>
  /** What its list has heard last. */
  #told: string | undefined
  /**
   * Does one thing after the other. What an object tells its list must arrive in order: a late word of what has been forgotten
   * would list it for good.
   */
  readonly inTurn: (work: () => Promise<void>) => Promise<void> = createMutex()

  constructor(seat: Seat, options: KeptOptions<T>) {
    this.#seat = seat
    this.#options = options
  }

  /** As it is stored; undefined where there is none. */
  document(): Document<T> | undefined {
    return this.#seat.store.read(tx => tx.oldest<T>(this.#options.collection, 1))[0]
  }

  /** Its id. Throws where there is none, or none any more. */
  async id(): Promise<string> {
    await this.expire()
    const document = this.document()
    if (document !== undefined) return document.id
    throw this.#options.missing()
  }

  /** Lets it go where its time has come, also before its alarm. */
  async expire(): Promise<void> {
    if (this.#expired() === undefined) return
    await this.inTurn(async () => {
      const document = this.#expired()
      if (document !== undefined) await this.#forget(document)
    })
  }

  /** Lets it go before its time, unless `check` throws. */
  async delete(check: (document: Document<T>) => Promise<void>): Promise<void> {
    await this.expire()
    await this.inTurn(async () => {
      const document = this.document()
      if (document === undefined) throw this.#options.missing()
      await check(document)
      await this.#forget(document)
    })
  }

  async #forget(document: Document<T>): Promise<void> {
    await this.#options.unlist(document)
    if (await this.#seat.letGo()) return
    this.#seat.store.write(tx => this.#options.forget(tx, document.value))
  }

  /** Its list does not know where it stands: an eviction may have ended it. */
  isUntold(): boolean {
    const document = this.document()
    return document !== undefined && this.#options.storyOf(document.value) !== this.#told
  }

  /** Tells its list where it stands, and sees to it that it is looked at again. */
  settle(): Promise<void> {
    return this.inTurn(() => this.#tell())
  }

  /** Looks after it. */
  async alarm(): Promise<void> {
    await this.expire()
    const document = this.document()
    if (document === undefined) return
    await this.#options.look(document)
    await this.settle()
  }

  async #tell(): Promise<void> {
    const document = this.document()
    if (document === undefined) return
    const { storyOf, tell, isAtWork, nextAt = at => at } = this.#options
    const { value, expiresAt } = document
    const story = storyOf(value)
    try {
      if (story !== this.#told) await tell(document)
      this.#told = story
      if (expiresAt !== undefined) await this.#seat.wakeAt(nextAt(expiresAt))
      else if (isAtWork(value)) await this.#seat.wakeBy(Date.now() + WATCH_MS)
    } catch {
      await this.#seat.wakeBy(Date.now() + RETRY_MS)
    }
  }

  #expired(): Document<T> | undefined {
    const document = this.document()
    return (document?.expiresAt ?? Number.POSITIVE_INFINITY) <= Date.now() ? document : undefined
  }
}
