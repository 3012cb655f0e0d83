/** Waits for time to pass, as long as the page is seen. */

/** Milliseconds after which a lost stream is asked for again. */
export const AGAIN_MS = 2000

/** Resolves after so many milliseconds; sooner where the signal fires, or where the page is hidden or seen again. */
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
