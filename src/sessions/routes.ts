/**
 * The sessions of the caller: `GET` and `POST /sessions`, `/agents/:name/sessions/:id` and what is below it.
 *
 * @module
 */

import type { Core } from '../core/built-in.ts'
import type { Route } from '../http/context.ts'

/** Makes the routes. */
export function sessionRoutes(_: Core): Route[] {
  return []
}
