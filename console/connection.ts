/**
 * Whether the service answers. Each request tells; while the page is visible it asks again when nothing else has told for a while.
 *
 * @module
 */

import { signal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { answered, heard } from './service.ts'
import { pause } from './waiting.ts'

/** Milliseconds after which the service is asked again, and for which an answer may take. */
const BEAT_MS = 2000
const PATIENCE_MS = 2500

const ICON = document.querySelector<HTMLLinkElement>('link[rel=icon]')?.href ?? '/'

/** Since when the service does not answer, in milliseconds since 1970. Undefined while it does. */
export const lostSince = signal<number | undefined>(undefined)

/** When the service answered last. */
let answeredAt = Date.now()

answered.subscribe(({ at, isAnswer }) => {
  if (isAnswer) {
    answeredAt = Math.max(answeredAt, at)
    lostSince.value = undefined
  } else lostSince.value ??= at
})

/** Asks whether the service answers. Any answer will do: a file of an older page may be gone. */
export async function check(signal?: AbortSignal): Promise<void> {
  const patience = AbortSignal.timeout(PATIENCE_MS)
  const asked = fetch(ICON, {
    method: 'HEAD',
    cache: 'no-store',
    credentials: 'omit',
    signal: signal ? AbortSignal.any([signal, patience]) : patience,
  })
  await heard(asked).catch(() => {
    if (patience.aborted && !signal?.aborted) answered.value = { at: Date.now(), isAnswer: false }
  })
}

/** Calls `again` when the service answers again after it did not. */
export function useReconnected(again: () => void): void {
  const latest = useRef(again)
  latest.current = again
  useEffect(() => {
    let wasLost = false
    return lostSince.subscribe(since => {
      const isBack = wasLost && since === undefined
      wasLost = since !== undefined
      if (isBack) latest.current()
    })
  }, [])
}

/** Watches the connection while the component is mounted. */
export function useConnection(): void {
  useEffect(() => {
    const controller = new AbortController()
    const { signal } = controller
    const beat = async () => {
      while (!signal.aborted) {
        const isQuiet = Date.now() - answeredAt >= BEAT_MS
        if (!document.hidden && (isQuiet || lostSince.value !== undefined)) await check(signal)
        await pause(BEAT_MS, signal)
      }
    }
    void beat()
    const look = () => void check(signal)
    addEventListener('online', look, { signal })
    addEventListener('offline', look, { signal })
    return () => controller.abort()
  }, [])
}
