/** A service that limits the requests to all its processes or isolates together. */
import { createHandler, type Handler, type State } from '../../../src/index.ts'

export const MAX_REQUESTS = 50

/** The handler of the service. */
export function handlerOn(state: State): Handler {
  const key = (request: Request) => request.headers.get('x-client') ?? undefined
  return createHandler({
    registry: false,
    logger: false,
    state,
    a2a: true,
    agents: { echo: { run: async () => ({ text: 'x' }) as never } },
    rateLimit: { max: MAX_REQUESTS, windowMs: 600_000, shared: true, key },
  })
}
