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

/** A thread to make. */
export interface NewThread extends Pick<KeptThread, 'metadata' | 'of'> {
  readonly at: number
}

/** The transactions of threads. */
type ThreadWorks = {
  readonly reads: {
    readonly get: (kept: KeptReader, id: string) => KeptThread | undefined
    readonly all: (kept: KeptReader) => Listed[]
  }
  readonly writes: {
    /** Makes a thread, if there is none. Returns the one that was there. */
    readonly make: (kept: KeptWriter, id: string, thread: NewThread) => KeptThread | undefined
    /** Adds metadata, and whose session it is if that is not known. Returns the thread after it. */
    readonly change: (kept: KeptWriter, id: string, thread: NewThread) => KeptThread | undefined
    /** Deletes a thread, or only one of this agent. Returns whether it was there. */
    readonly remove: (kept: KeptWriter, id: string, of?: KeptThread['of']) => boolean
    /** Deletes up to a page of threads. Returns whether there were any. */
    readonly clear: (kept: KeptWriter) => boolean
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
    make(kept, id, { metadata, of, at }) {
      const before = kept.get<KeptThread>(THREADS, id)
      if (before !== undefined) return before
      if (kept.count(THREADS) >= MAX_THREADS) {
        throw new ServableError('state_full', `There are ${MAX_THREADS} threads: delete some`)
      }
      kept.put(THREADS, id, { metadata, of, createdAt: at, updatedAt: at } satisfies KeptThread)
      return undefined
    },
    change(kept, id, { metadata, of, at }) {
      const before = kept.get<KeptThread>(THREADS, id)
      if (before === undefined) return undefined
      const after: KeptThread = {
        ...before,
        metadata: { ...before.metadata, ...metadata },
        of: before.of ?? of,
        updatedAt: at,
      }
      kept.put(THREADS, id, after)
      return after
    },
    remove(kept, id, of) {
      const before = kept.get<KeptThread>(THREADS, id)
      const isThere =
        before !== undefined &&
        (of === undefined || (before.of?.kind === of.kind && before.of.name === of.name))
      if (isThere) kept.delete(THREADS, id)
      return isThere
    },
    clear(kept) {
      const page = kept.list(THREADS, { limit: PAGE })
      for (const { id } of page) kept.delete(THREADS, id)
      return page.length > 0
    },
  },
})
