import type { Middleware } from 'servable'

/** Makes a browser that `proxy.ts` has named a user, who has sessions, runs and files. Other clients are nobody. */
export const visitors: Middleware = (request, context, next) => {
  const [, id] = COOKIE.exec(request.headers.get('cookie') ?? '') ?? []
  if (id !== undefined) context.identity = { id }
  return next()
}

const COOKIE = /(?:^|; )visitor=([\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12})(?:;|$)/
