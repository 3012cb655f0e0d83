import type { Middleware } from 'servable'

/**
 * Makes a browser that `proxy.ts` has named a user, who has sessions, runs and files. Other clients need a key if there are keys, and are
 * nobody otherwise.
 */
export function callers(byKey: Middleware | undefined): Middleware {
  return (request, context, next) => {
    const [, id] = COOKIE.exec(request.headers.get('cookie') ?? '') ?? []
    if (id === undefined) return byKey ? byKey(request, context, next) : next()
    context.identity = { id }
    return next()
  }
}

const COOKIE = /(?:^|; )visitor=([\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12})(?:;|$)/
