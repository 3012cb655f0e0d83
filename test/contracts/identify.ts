import type { Middleware } from '../../src/index.ts'

/** Takes the word of the `x-test-user` header for who asks. */
export const identify: Middleware = (request, context, next) => {
  const id = request.headers.get('x-test-user')
  if (id !== null) context.identity = { id }
  return next()
}
