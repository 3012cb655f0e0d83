/**
 * What is stored of a thread beside its session: its metadata, and whose session it is. A thread may be made before its first run, and
 * before an agent is known.
 *
 * @module
 */

import {
  type Keeping,
  type KeptReader,
  type KeptWriter,
  type Kind,
  keeping,
  ServableError,
} from '../../core-entry.ts'

/** A stored thread. */
export interface KeptThread {
  readonly metadata: Readonly<Record<string, unknown>>
  /** Whose session it is. Absent until the first run. */
  readonly of?: { readonly kind: Kind; readonly name: string } | undefined
  /** Milliseconds since 1970. */
  readonly createdAt: number
  readonly updatedAt: number
}

/** A thread with its id. */
export interface Listed extends KeptThread {
  readonly id: string
}

/** The most threads of one owner. */
const MAX_THREADS = 10_000

const THREADS = 'thread'

/** The most threads of a page in the store. */
const PAGE = 1000

/** What is to be known of a thread. */
export interface ThreadChange extends Pick<KeptThread, 'metadata' | 'of'> {
  readonly at: number
  /** Whether it is made if there is none, and only then. */
  readonly isNew?: boolean
}

/** The transactions of threads. */
type ThreadWorks = {
  readonly reads: {
    readonly get: (kept: KeptReader, id: string) => KeptThread | undefined
    readonly all: (kept: KeptReader) => Listed[]
  }
  readonly writes: {
    /** Makes a thread; or adds metadata, and whose session it is if that is not known. Returns the thread before and after it. */
    readonly put: (
      kept: KeptWriter,
      id: string,
      change: ThreadChange,
    ) => { before?: KeptThread; after?: KeptThread }
    /** Deletes a thread, or only one of this agent; without an id up to a page of threads. Returns whether there were any. */
    readonly remove: (kept: KeptWriter, id?: string, of?: KeptThread['of']) => boolean
  }
}

/** They are kept at the address of their owner. */
export const THREADS_KEPT: Keeping<ThreadWorks> = keeping<ThreadWorks>({
  reads: {
    get: (kept, id) => kept.get<KeptThread>(THREADS, id),
    all(kept) {
      const found: Listed[] = []
      for (let after: { readonly id: string; readonly at: number } | undefined; ; ) {
        const page = kept.list<KeptThread>(THREADS, { limit: PAGE, ...(after && { after }) })
        found.push(...page.map(({ id, value }) => ({ id, ...value })))
        after = page.at(-1)
        if (page.length < PAGE || found.length >= MAX_THREADS) return found
      }
    },
  },
  writes: {
    put(kept, id, { metadata, of, at, isNew = false }) {
      const before = kept.get<KeptThread>(THREADS, id)
      if (isNew === (before !== undefined)) return before ? { before } : {}
      if (isNew && kept.count(THREADS) >= MAX_THREADS) {
        throw new ServableError('state_full', `There are ${MAX_THREADS} threads: delete some`)
      }
      const { createdAt = at } = before ?? {}
      const all = { ...before?.metadata, ...metadata }
      const after: KeptThread = { metadata: all, of: before?.of ?? of, createdAt, updatedAt: at }
      kept.put(THREADS, id, after)
      return { ...(before && { before }), after }
    },
    remove(kept, id, of) {
      const isOf = ({ value }: { readonly value: KeptThread }) =>
        of === undefined || (value.of?.kind === of.kind && value.of.name === of.name)
      const value = id === undefined ? undefined : kept.get<KeptThread>(THREADS, id)
      const named = id !== undefined && value !== undefined ? [{ id, value }] : []
      const found = (id === undefined ? kept.list<KeptThread>(THREADS, { limit: PAGE }) : named).filter(isOf)
      for (const each of found) kept.delete(THREADS, each.id)
      return found.length > 0
    },
  },
})
