/** Loads a list page by page. */
import { useLayoutEffect, useRef, useState } from 'preact/hooks'

/** A page, and the cursor of the next one; null at the end. */
export interface Page<T> {
  readonly items: readonly T[]
  readonly nextCursor: string | null
}

/** All pages so far. */
export interface Pages<T> extends Page<T> {
  readonly error: unknown
  readonly isLoading: boolean
  /** Loads the next page. */
  more(): void
  /** Begins again with the first page. The shown items stay meanwhile. */
  reload(): void
  /** Changes the loaded items. */
  update(change: (items: readonly T[]) => readonly T[]): void
}

/** Loads the first page when it is first mounted, and whenever `key` changes. */
export function usePages<T>(
  key: string,
  load: (cursor: string | undefined, signal: AbortSignal) => Promise<Page<T>>,
): Pages<T> {
  const [state, setState] = useState<Omit<Pages<T>, 'more' | 'reload' | 'update'>>({
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
      const { items, nextCursor } = await load(cursor, now)
      if (now.aborted) return
      setState(before => ({
        items: cursor === undefined ? items : [...before.items, ...items],
        nextCursor,
        error: undefined,
        isLoading: false,
      }))
    } catch (error) {
      if (!now.aborted) setState(before => ({ ...before, error, isLoading: false }))
    }
  }
  // Before the page is painted, so that the request is sent at once.
  useLayoutEffect(() => {
    const controller = new AbortController()
    signal.current = controller.signal
    void read()
    return () => controller.abort()
  }, [key, turn])
  return {
    ...state,
    more: () => void read(state.nextCursor ?? undefined),
    reload: () => setTurn(before => before + 1),
    update: change => setState(before => ({ ...before, items: change(before.items) })),
  }
}
