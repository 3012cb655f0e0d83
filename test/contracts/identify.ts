import type { Middleware } from '../../src/index.ts'

/** Trusts the `x-test-user` header as the identity. */
export const identify: Middleware = (request, context, next) => {
  const id = request.headers.get('x-test-user')
  if (id !== null) context.identity = { id }
  return next()
}
