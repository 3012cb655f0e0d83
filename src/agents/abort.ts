/** Fires a signal with any reason. Where the runtime refuses the reason, the signal fires without one. */
export function abortWith(controller: AbortController, reason: unknown): void {
  try {
    controller.abort(reason)
  } catch {
    controller.abort()
  }
}
