/**
 * What the plugin `roles` does for a handler.
 *
 * @module
 */

import type { RequestState, Route } from '../context.ts'
import type { May } from './rights.ts'

/** The roles of a handler. */
export interface Roles {
  readonly may: May
  /**
   * Answers a request about the things of somebody else. Undefined for one about what is its sender's. Rejects with the error of what
   * does not exist without the right.
   */
  act(request: Request, state: RequestState, route: Route): Promise<Response> | undefined
}
