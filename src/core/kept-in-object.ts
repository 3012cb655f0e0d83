/**
 * The one run or task that an object stores. This file finds it, reports its status to its list, and deletes it when it expires.
 *
 * @module
 */

import type { ServableError } from '../base/errors.ts'
import type { Document, Reader, Transaction } from '../stores/store.ts'
import type { ObjectContext } from './hosted.ts'
import { createMutex } from './mutex.ts'

/** Milliseconds between checks of a running run or task. An evicted one counts as running for at most this long. */
export const WATCH_MS = 30_000

/** Milliseconds after which a failed report to a list is repeated. */
const RETRY_MS = 10_000

/** Options of {@link KeptInObject}. */
export interface KeptInObjectOptions<T> {
  readonly collection: string
  /** The error if nothing is stored, or no longer. */
  readonly missing: () => ServableError
  /** The status to report to the list, as a short text. The list gets a report when it changes. */
  readonly statusOf: (value: T) => string | undefined
  readonly isAtWork: (value: T) => boolean
  /** Reports the document to its owner's list. */
  readonly report: (document: Document<T>) => Promise<void>
  /** Removes it from its owner's list. */
  readonly unlist: (document: Document<T>) => Promise<void>
  /** Ends it if an eviction has interrupted it, and continues any work left behind. */
  readonly look: (document: Document<T>) => Promise<void>
  /** Deletes all of its data. */
  readonly forget: (tx: Transaction, value: T) => void
  /** The time of a check between its end and its expiry. Default: its expiry. */
  readonly nextAt?: (expiresAt: number, id: string) => number
}

/** The run or task of an object. */
export class KeptInObject<T> {
  readonly #context: ObjectContext
  readonly #options: KeptInObjectOptions<T>
  /** Its id, once it was found: what has an id is found without a search. */
  #id = ''
  /** The last status that the list got. */
  #reported: string | undefined
  /**
   * Runs one task after another. Reports to the list must arrive in order: a late one about a deleted document would list it
   * forever.
   */
  readonly inTurn: (work: () => Promise<void>) => Promise<void> = createMutex()

  constructor(context: ObjectContext, options: KeptInObjectOptions<T>) {
    this.#context = context
    this.#options = options
  }

  /** The stored document. Undefined if there is none. */
  document(): Document<T> | undefined {
    const { collection } = this.#options
    const find = (tx: Reader) => tx.get<T>(collection, this.#id) ?? tx.oldest<T>(collection, 1)[0]
    const document = this.#context.store.read(find)
    this.#id = document?.id ?? ''
    return document
  }

  /** Its id. Throws `missing` if nothing is stored or it has expired. */
  async id(): Promise<string> {
    await this.expire()
    const document = this.document()
    if (document !== undefined) return document.id
    throw this.#options.missing()
  }

  /** Deletes it if it has expired, even before the alarm. */
  async expire(): Promise<void> {
    if (this.#expired() === undefined) return
    await this.inTurn(async () => {
      const document = this.#expired()
      if (document !== undefined) await this.#forget(document)
    })
  }

  /** Deletes it before it expires, unless `check` throws. */
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
    if (await this.#context.letGo()) return
    this.#context.store.write(tx => this.#options.forget(tx, document.value))
  }

  /** Whether its list lacks the current status, for example after an eviction. */
  isUnreported(): boolean {
    const document = this.document()
    return document !== undefined && this.#options.statusOf(document.value) !== this.#reported
  }

  /** Reports its status to the list, and sets the alarm for the next check. */
  settle(): Promise<void> {
    return this.inTurn(() => this.#report())
  }

  /** Handles the alarm: deletes it if it has expired, otherwise checks it. */
  async alarm(): Promise<void> {
    await this.expire()
    const document = this.document()
    if (document === undefined) return
    await this.#options.look(document)
    await this.settle()
  }

  async #report(): Promise<void> {
    const document = this.document()
    if (document === undefined) return
    const { statusOf, report, isAtWork, nextAt = at => at } = this.#options
    const { value, expiresAt } = document
    const status = statusOf(value)
    try {
      if (status !== this.#reported) await report(document)
      this.#reported = status
      if (expiresAt !== undefined) await this.#context.wakeAt(nextAt(expiresAt, document.id))
      else if (isAtWork(value)) await this.#context.wakeBy(Date.now() + WATCH_MS)
    } catch {
      await this.#context.wakeBy(Date.now() + RETRY_MS)
    }
  }

  #expired(): Document<T> | undefined {
    const document = this.document()
    return (document?.expiresAt ?? Number.POSITIVE_INFINITY) <= Date.now() ? document : undefined
  }
}
