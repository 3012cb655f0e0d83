/**
 * Lets users log in with a page of the service, such as the console.
 *
 * @module
 */

import { type Context, type Middleware, RequestState } from '../context.ts'
import type { Identity } from '../platform.ts'
import { isOfOwnPage } from './cross-site.ts'

/** A way to log in. Its cookies are sent to the whole service. */
export interface Login {
  /** Answers a user who wants to log in: sends the browser to the provider, which sends it back to `callback`. */
  begin(callback: string, request: Request, context: Context): Promise<Response>
  /** Answers a user who comes back to `callback`: sends the browser to `page`, with `?login=failed` if that is so. */
  finish(callback: string, page: string, request: Request, context: Context): Promise<Response>
  /** Returns who has logged in; undefined for nobody. */
  identify(request: Request, context: Context): Promise<Identity | undefined>
  /** Answers a user who logs out. */
  end(): Response
}

/**
 * Identifies the users who have logged in. A login counts only in requests that a page of the service sends, and only without
 * `Authorization`. `publicUrl` is the service's origin, if the request's is another.
 */
export function loggedIn(login: Login, publicUrl: string | undefined): Middleware {
  return async (request, context, next) => {
    if (
      context instanceof RequestState &&
      !request.headers.has('authorization') &&
      isOfOwnPage(request, publicUrl)
    ) {
      const identity = await login.identify(request, context)
      if (identity !== undefined) context.logIn(identity)
    }
    return next()
  }
}
