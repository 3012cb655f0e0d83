/** Loads a list page by page. */
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { useReconnected } from './connection.ts'
import { isRefusal } from './service.ts'

/** A page, and the cursor of the next one; null at the end. */
export interface Page<T> {
  readonly items: readonly T[]
  readonly nextCursor: string | null
  /** The number of items in the whole list, if the service tells it. */
  readonly count?: number | undefined
}

/** Items with a fresh first page. */
type Join<T> = (before: readonly T[], fresh: readonly T[]) => readonly T[]

/** All pages so far. */
export interface Pages<T> extends Page<T> {
  readonly error: unknown
  readonly isLoading: boolean
  /** Loads the next page. */
  more(): void
  /** Begins again with the first page. The shown items stay meanwhile. */
  reload(): void
  /** Reads the first page again. `join` gives the items with it. */
  refresh(join: Join<T>): void
  /** Changes the loaded items. */
  update(change: (items: readonly T[]) => readonly T[]): void
}

/** Loads the first page when it is first mounted, and whenever `key` changes. */
export function usePages<T>(
  key: string,
  load: (cursor: string | undefined, signal: AbortSignal) => Promise<Page<T>>,
): Pages<T> {
  const [state, setState] = useState<Omit<Pages<T>, 'more' | 'reload' | 'refresh' | 'update'>>({
    items: [],
    nextCursor: null,
    error: undefined,
    isLoading: true,
  })
  const [turn, setTurn] = useState(0)
  const signal = useRef<AbortSignal>(undefined!)
  const read = async (cursor?: string) => {
    const now = signal.current
    setState(before => ({ ...before, isLoading: true }))
    try {
      const { items, nextCursor, count } = await load(cursor, now)
      if (now.aborted) return
      setState(before => ({
        items: cursor === undefined ? items : [...before.items, ...items],
        nextCursor,
        count: count ?? (cursor === undefined ? undefined : before.count),
        error: undefined,
        isLoading: false,
      }))
    } catch (error) {
      if (!now.aborted) setState(before => ({ ...before, error, isLoading: false }))
    }
  }
  const refresh = async (join: Join<T>) => {
    const now = signal.current
    // A failed read is repeated with the next news.
    const page = await load(undefined, now).catch(() => undefined)
    if (page === undefined || now.aborted) return
    setState(before => ({
      ...before,
      items: join(before.items, page.items),
      count: page.count,
      error: undefined,
    }))
  }
  useReconnected(() => {
    if (state.error !== undefined && !isRefusal(state.error)) setTurn(before => before + 1)
  })
  // Before the page is painted, so that the request is sent at once.
  useLayoutEffect(() => {
    const controller = new AbortController()
    signal.current = controller.signal
    void read()
    return () => controller.abort()
  }, [key, turn])
  return {
    ...state,
    refresh: join => void refresh(join),
    more: () => void read(state.nextCursor ?? undefined),
    reload: () => setTurn(before => before + 1),
    update: change =>
      setState(before => {
        const items = change(before.items)
        const { count } = before
        return {
          ...before,
          items,
          count: count === undefined ? undefined : count + items.length - before.items.length,
        }
      }),
  }
}
