/** Loads the data of a part of the page. */
import { useEffect, useState } from 'preact/hooks'
import { useReconnected } from './connection.ts'
import { isRefusal } from './service.ts'

/** The state of the loading. During a reload, the last value stays. */
export interface Loaded<T> {
  readonly value: T | undefined
  readonly error: unknown
  readonly isLoading: boolean
  /** Loads again. */
  reload(): void
}

/** Loads when it is first mounted, and whenever `key` changes. Late results for an earlier key are dropped. */
export function useLoaded<T>(key: string, load: (signal: AbortSignal) => Promise<T>): Loaded<T> {
  const [state, setState] = useState<Omit<Loaded<T>, 'reload'>>({
    value: undefined,
    error: undefined,
    isLoading: true,
  })
  const [turn, setTurn] = useState(0)
  useEffect(() => {
    const controller = new AbortController()
    const set = (next: Omit<Loaded<T>, 'reload'>) => {
      if (!controller.signal.aborted) setState(next)
    }
    setState(before => ({ ...before, isLoading: true }))
    load(controller.signal).then(
      value => set({ value, error: undefined, isLoading: false }),
      error => set({ value: undefined, error, isLoading: false }),
    )
    return () => controller.abort()
  }, [key, turn])
  useReconnected(() => {
    if (state.error !== undefined && !isRefusal(state.error)) setTurn(before => before + 1)
  })
  return { ...state, reload: () => setTurn(before => before + 1) }
}
