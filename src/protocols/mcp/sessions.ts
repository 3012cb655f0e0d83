/**
 * Sessions of the revisions before 2026-07-28. Nothing is kept of them: their ids say what their clients can do. What is known here
 * are the calls at work, so that a notification cancels one. It has to reach the process that does the work.
 *
 * @module
 */

import { deferred } from '../../base/wake.ts'
import { showsForms } from './asking.ts'
import type { Fields } from './rpc.ts'

/** The header that carries the id of a session. */
export const SESSION = 'mcp-session-id'

/** How the ids end whose clients show forms. */
const FORMS = '.forms'

/** The calls of sessions that are at work in this process. */
export class SessionCalls {
  readonly #calls = new Map<string, (value?: undefined) => void>()

  /** The id of a new session. */
  begin(capabilities: Fields): string {
    return crypto.randomUUID() + (showsForms(capabilities) ? FORMS : '')
  }

  /** Whether the client of a request shows forms. */
  showForms({ headers }: Request): boolean {
    return headers.get(SESSION)?.endsWith(FORMS) === true
  }

  /**
   * A call begins. `onCancel` is called on behalf of the request that has begun it: on Workers no other one may touch what it uses.
   * Gives what is to be called when it is over.
   */
  track(request: Request, id: unknown, onCancel: () => void): () => void {
    const key = keyOf(request, id)
    if (key === undefined) return () => {}
    const { promise, resolve } = deferred<void>()
    void promise.then(onCancel)
    this.#calls.set(key, resolve)
    return () => {
      // A later call may have the same id.
      if (this.#calls.get(key) === resolve) this.#calls.delete(key)
    }
  }

  /** Cancels a call, if it is at work here. */
  cancel(request: Request, id: unknown): void {
    this.#calls.get(keyOf(request, id) ?? '')?.()
  }
}

/** Nobody guesses the id of a session, so nobody cancels the calls of another one. */
function keyOf({ headers }: Request, id: unknown): string | undefined {
  const session = headers.get(SESSION)
  return session ? `${session} ${JSON.stringify(id)}` : undefined
}
