import type { Middleware } from 'servable'

/**
 * Makes each browser a user of its own, so that it has its sessions, runs and files to itself. A real app has its login here: it
 * sets the identity of who is signed in, and refuses everyone else.
 */
export const visitors: Middleware = (request, context, next) => {
  const known = COOKIE.exec(request.headers.get('cookie') ?? '')?.[1]
  const id = known ?? crypto.randomUUID()
  if (known === undefined) {
    const secure = request.url.startsWith('https:') ? '; Secure' : ''
    const cookie = `visitor=${id}; Path=/; Max-Age=31536000; HttpOnly; SameSite=Lax${secure}`
    context.responseHeaders.append('set-cookie', cookie)
  }
  context.identity = { id }
  return next()
}

const COOKIE = /(?:^|; )visitor=([\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12})(?:;|$)/
