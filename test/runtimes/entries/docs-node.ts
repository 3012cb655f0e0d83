import process from 'node:process'
import * as agents from '../../../examples/agents.ts'
import {
  apiKeyAuth,
  bearerAuth,
  createHandler,
  type HandlerOptions,
  type Middleware,
  Registry,
  ServableError,
} from '../../../src/index.ts'
import { serve } from '../../../src/runtimes/node.ts'
import { swaggerUi } from '../../../src/runtimes/swagger-ui.ts'
import { mounted } from '../../contracts/mounted.ts'

const options: HandlerOptions = {
  serve: Object.values(agents),
  registry: new Registry(),
  swagger: { enabled: true, title: 'Agents & <friends>', assets: swaggerUi() },
}
const tokens = { 'token-of-ada': 'ada' }

/** Identifies its users by a cookie or a token. */
const signedIn: Middleware = (request, context, next) => {
  const { headers } = request
  const isAda = headers.get('cookie') === 'sid=ada' || headers.get('authorization') === 'Bearer token-of-ada'
  if (!context.isOpen && !isAda) throw new ServableError('unauthorized', 'Sign in')
  if (isAda) context.identity = { id: 'ada' }
  return next()
}

/** Handlers for authenticated users only, each with another kind of authentication. */
const guarded = {
  bearer: createHandler({ ...options, prefix: '/bearer/api', middleware: [bearerAuth({ tokens })] }),
  key: createHandler({ ...options, prefix: '/key/api', middleware: [apiKeyAuth({ tokens })] }),
  own: createHandler({
    ...options,
    prefix: '/own/api',
    middleware: [signedIn],
    securitySchemes: {
      session: { type: 'apiKey', in: 'cookie', name: 'sid' },
      token: { type: 'http', scheme: 'bearer' },
    },
  }),
}

const handler = createHandler({
  ...options,
  fallback: mounted(guarded, () => new Response('nothing', { status: 404 })),
})
const server = await serve(handler, { port: Number(process.env.PORT) })
console.log(`listening ${server.url}`)
