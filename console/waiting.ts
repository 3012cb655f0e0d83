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
