/**
 * The one thing that an object keeps, a run or a task: finding it, and letting it go when its time has come.
 *
 * @module
 */

import type { ServableError } from '../../errors.ts'
import { partitionOf } from '../../runs/record.ts'
import type { Document } from '../../state/store.ts'
import { findBindings, type IndexStub } from './bindings.ts'
import type { ObjectStore } from './sql.ts'

/** What is kept, and how its end is told. */
export interface KeptOptions<T> {
  readonly collection: string
  /** What is thrown where there is none, or none any more. */
  readonly missing: () => ServableError
  /** Takes it off its owner's list. */
  readonly unlist: (document: Document<T>) => Promise<void>
}

/** What an object keeps. */
export class Kept<T> {
  readonly #store: ObjectStore
  readonly #options: KeptOptions<T>
  /** Does one thing after the other. */
  readonly inTurn: (work: () => Promise<void>) => Promise<void> = createTurns()

  constructor(store: ObjectStore, options: KeptOptions<T>) {
    this.#store = store
    this.#options = options
  }

  /** As it is stored; undefined where there is none. */
  document(): Document<T> | undefined {
    if (this.#store.isEmpty()) return undefined
    return this.#store.transact(tx => tx.oldest<T>(this.#options.collection, 1))[0]
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
      if (document === undefined) return
      await this.#options.unlist(document)
      await this.#store.clear()
    })
  }

  #expired(): Document<T> | undefined {
    const document = this.document()
    return (document?.expiresAt ?? Number.POSITIVE_INFINITY) <= Date.now() ? document : undefined
  }
}

/** The object that lists what an owner has. */
export function indexOf(owner: string | null): IndexStub {
  return findBindings().index.getByName(partitionOf(owner))
}

/**
 * Does one thing after the other. What an object tells its index must arrive in order: a late word of a run that has
 * been forgotten would list it for good.
 */
function createTurns(): (work: () => Promise<void>) => Promise<void> {
  let last: Promise<void> = Promise.resolve()
  return work => {
    const turn = last.then(work)
    last = turn.catch(() => {})
    return turn
  }
}
