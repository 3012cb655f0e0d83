/** Fires a signal with a reason that may be anything: of what some runtimes do not take, nothing is told. */
export function abortWith(controller: AbortController, reason: unknown): void {
  try {
    controller.abort(reason)
  } catch {
    controller.abort()
  }
}
