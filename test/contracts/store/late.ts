/** A store in memory that behaves like a remote one: it answers late, and its works run more than once. */

import { type LocalState, localState, memoryState } from '../../../src/core/local-state.ts'
import { memoryStore } from '../../../src/stores/memory.ts'
import { alone, type Presence } from '../../../src/stores/presence.ts'
import type {
  Commit,
  Committed,
  RemoteStore,
  StoreAnswers,
  StoreQueries,
  StoreQuery,
  Version,
  Versioned,
} from '../../../src/stores/remote/remote.ts'
import { createReplay } from '../../../src/stores/remote/replay.ts'
import type { Document, NearStore, Reader, Store, Transaction } from '../../../src/stores/store.ts'

/** A database that several stores may open. */
export interface LateBase {
  /** Opens it under a name of its own. The name is gone after the close. */
  open(): Store
  /** Numbers of looks and commits so far, and of commits that failed since data had changed. */
  readonly counts: { looks: number; commits: number; conflicts: number }
}

/** How the database answers. */
export interface Lateness {
  /** The same seed gives the same answers at the same moments. */
  readonly seed?: number
  /** Whether the next request or answer is lost. Default: none is. */
  readonly isLost?: () => boolean
}

/** Most commits whose answers can be repeated. */
const REMEMBERED = 100

/** Most milliseconds until an answer. */
const LATEST_MS = 2

/** A remote database in memory. */
export function lateBase({ seed = 1, isLost = () => false }: Lateness = {}): LateBase {
  const inner = memoryStore()
  const counts = { looks: 0, commits: 0, conflicts: 0 }
  const living = new Set<string>()
  const far = farOver(inner, { counts, isLost, travel: travelBy(seed) })
  return {
    counts,
    open() {
      const instance = crypto.randomUUID()
      living.add(instance)
      const presence = { instance, isShared: true, isAlive: (other: string) => living.has(other) }
      return storeOver(far, presence, () => living.delete(instance))
    },
  }
}

/** A store that no other process has open. */
export function lateStore(lateness: Lateness = {}): Store {
  const { isLost = () => false, seed = 1 } = lateness
  const counts = { looks: 0, commits: 0, conflicts: 0 }
  return storeOver(farOver(memoryStore(), { counts, isLost, travel: travelBy(seed) }), alone())
}

/** State in such a store, with the defaults of memory. */
export function lateState(store: Store = lateStore()): LocalState {
  const { retention } = memoryState()
  return localState({ store, retention, isVolatile: false })
}

function storeOver(far: RemoteStore, presence: Presence, onClose = () => {}): Store {
  const { read, write, close } = createReplay(far)
  return {
    instance: presence.instance,
    isShared: presence.isShared,
    isAlive: other => presence.isAlive(other),
    read,
    write,
    close() {
      onClose()
      close()
    },
  }
}

/** Waits for the time of a message, so that messages may overtake each other. */
function travelBy(seed: number): () => Promise<void> {
  let random = seed
  return () => {
    random = (random * 48_271) % 2_147_483_647
    const ms = (random % (LATEST_MS + 3)) - 2
    // Half of the messages travel without delay, since suites are long.
    return new Promise(resolve => (ms <= 0 ? setImmediate(resolve) : setTimeout(resolve, ms)))
  }
}

interface Way {
  readonly counts: LateBase['counts']
  readonly isLost: () => boolean
  readonly travel: () => Promise<void>
}

function farOver(inner: NearStore, { counts, isLost, travel }: Way): RemoteStore {
  const base = new Base(inner)
  const go = async <T>(act: () => T): Promise<T> => {
    await travel()
    if (isLost()) throw new Error('the request was lost')
    const answer = act()
    await travel()
    if (isLost()) throw new Error('the answer was lost')
    return answer
  }
  return {
    look(asks) {
      counts.looks++
      return go(() => inner.read(tx => asks.map(ask => base.answer(tx, ask))))
    },
    async commit(commit) {
      counts.commits++
      const done = await go(() => base.commit(commit))
      if (done === undefined) counts.conflicts++
      return done
    },
    now: () => Date.now(),
  }
}

/** The database's side: documents and logs with versions. */
class Base {
  readonly #store: NearStore
  #last = 0
  /** A document that is written again is another object. */
  readonly #versions = new WeakMap<Document, Version>()
  readonly #logs = new Map<string, Version>()
  readonly #done = new Map<string, Committed | undefined>()

  constructor(store: NearStore) {
    this.#store = store
  }

  answer(tx: Reader, ask: StoreQuery): StoreAnswers[keyof StoreQueries] {
    const versioned = (documents: readonly Document[]) => documents.map(document => this.#versioned(document))
    switch (ask.what) {
      case 'get': {
        const document = tx.get(ask.collection, ask.id)
        return document && this.#versioned(document)
      }
      case 'list':
        return versioned(tx.list(ask.collection, ask))
      case 'search': {
        const { documents, next } = tx.search(ask.collection, ask)
        return { documents: versioned(documents), next }
      }
      case 'count':
        return tx.count(ask.collection, ask.partition)
      case 'countMatching':
        return tx.countMatching(ask.collection, ask)
      case 'withPrefix':
        return versioned(tx.withPrefix(ask.collection, ask.prefix, ask.limit))
      case 'expired':
        return versioned(tx.expired(ask.collection, ask.now, ask.limit))
      case 'oldest':
        return versioned(tx.oldest(ask.collection, ask.limit, ask.partition))
      case 'log':
        return { ...this.#head(tx, ask.log), entries: tx.read(ask.log, ask.after, ask.limit) }
    }
  }

  commit(commit: Commit): Committed | undefined {
    if (this.#done.has(commit.id)) return this.#done.get(commit.id)
    const version = ++this.#last
    const isDone = this.#store.transact(tx => this.#isAsSeen(tx, commit) && this.#write(tx, commit, version))
    const committed = isDone ? { version } : undefined
    this.#done.set(commit.id, committed)
    const [oldest] = this.#done.keys()
    if (this.#done.size > REMEMBERED && oldest !== undefined) this.#done.delete(oldest)
    return committed
  }

  #write(tx: Transaction, { documents, logs }: Commit, version: Version): true {
    for (const { collection, id, document, text, eviction } of documents) {
      if (document === undefined) tx.delete(collection, id)
      else {
        tx.put(collection, { ...sent(document), text }, eviction)
        this.#versions.set(tx.get(collection, id)!, version)
      }
    }
    for (const { log, isDeleted, entries, isSealed } of logs) {
      if (isDeleted) {
        this.#logs.delete(log)
        tx.deleteLog(log)
      }
      if (entries.length > 0 && !this.#logs.has(log)) this.#logs.set(log, version)
      for (const [index, entry] of entries.entries()) {
        tx.append(log, entry, isSealed && index === entries.length - 1)
      }
    }
    return true
  }

  #isAsSeen(tx: Reader, { seen }: Commit): boolean {
    const areDocuments = seen.documents.every(({ collection, id, version }) => {
      const document = tx.get(collection, id)
      return version === (document && this.#versioned(document).version)
    })
    return (
      areDocuments &&
      seen.logs.every(({ log, version, head }) => {
        const now = this.#head(tx, log)
        if (now.version !== version) return false
        return head === undefined || (head.length === now.length && head.isSealed === now.isSealed)
      })
    )
  }

  #versioned(document: Document): Versioned {
    const version = this.#versions.get(document) ?? ++this.#last
    this.#versions.set(document, version)
    return { document, version }
  }

  #head(tx: Reader, log: string) {
    return { version: this.#logs.get(log), length: tx.length(log), isSealed: tx.isSealed(log) }
  }
}

/** A document as the other side gets it. The two sides share no objects. */
function sent(document: Document): Document {
  return frozen(JSON.parse(JSON.stringify(document)) as Document)
}

function frozen<T>(value: T): T {
  if (typeof value === 'object' && value !== null) {
    for (const each of Object.values(value)) frozen(each)
    Object.freeze(value)
  }
  return value
}
