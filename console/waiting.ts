/** Waits while the page is visible. */

/** Milliseconds after which a lost stream is opened again. */
export const AGAIN_MS = 2000

/** Resolves after so many milliseconds, or earlier if the signal fires or the page is hidden or shown again. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise(resolve => {
    const woken = new AbortController()
    const timer = setTimeout(wake, ms)
    function wake() {
      clearTimeout(timer)
      woken.abort()
      resolve()
    }
    signal.addEventListener('abort', wake, { signal: woken.signal })
    document.addEventListener('visibilitychange', wake, { signal: woken.signal })
    if (signal.aborted) wake()
  })
}

/** Fires when the page is hidden, or with `signal`. */
export function whileShown(signal: AbortSignal): AbortSignal {
  const shown = new AbortController()
  const both = AbortSignal.any([signal, shown.signal])
  document.addEventListener('visibilitychange', () => document.hidden && shown.abort(), { signal: both })
  return both
}

/** Resolves once the page is visible, or the signal fires. */
export async function untilShown(signal: AbortSignal): Promise<void> {
  while (document.hidden && !signal.aborted) await pause(AGAIN_MS, signal)
}
