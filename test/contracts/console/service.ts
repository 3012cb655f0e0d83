/** The service of the tests of the console. Every runtime serves it with a state of its own: open to this machine, or guarded. */
import * as examples from '../../../examples/agents.ts'
import { ToolServerManager } from '../../../src/adapters/mcp-client/index.ts'
import { type Authorize, approvals } from '../../../src/features/approvals/plugin.ts'
import { webConsole } from '../../../src/features/console/plugin.ts'
import { files } from '../../../src/features/files/plugin.ts'
import { callerKeys } from '../../../src/features/keys/plugin.ts'
import { sessions } from '../../../src/features/sessions/plugin.ts'
import { webhooks } from '../../../src/features/webhooks/plugin.ts'
import {
  bearerAuth,
  bearerIdentity,
  createHandler,
  type Handler,
  type HandlerOptions,
  type Identity,
  MetricsExporter,
  type Middleware,
  Registry,
  type State,
} from '../../../src/index.ts'
import { agents } from './agents.ts'

/** The token of the administrator, which is no user's. */
export const METRICS_TOKEN = 'token-of-the-metrics'
export const ADMIN_TOKEN = 'token-of-root'

const TOKENS = { 'token-of-ada': 'ada', 'token-of-bob': 'bob' }

/** Everyone on this machine is `dev`. */
const identified: Middleware = (_, context, next) => {
  context.identity = { id: 'dev' }
  return next()
}

/** Everybody decides what their own runs ask. Bob also decides for others what is removed. */
const mayDecide: Authorize = ({ request, run }, { identity }) =>
  run.owner === identity?.id || (identity?.id === 'bob' && request.toolName === 'remove')

/**
 * `open`: for everyone on this machine. `guarded`: for `ada` and `bob`, who have tokens. `known`: for
 * everyone whom the middleware knows, who is `dev`. `counted`: the same, with metrics that have a token of their own. `unstored`: without stored runs.
 */
export function handlerOn(state: State, settings = 'open'): Handler {
  const isGuarded = settings === 'guarded'
  if (settings === 'unstored') {
    return createHandler({
      serve: [...agents],
      registry: new Registry(),
      production: false,
      runs: { store: 'none' },
      plugins: [webConsole()],
    })
  }
  const options: HandlerOptions = {
    serve: [...Object.values(examples), ...agents],
    registry: new Registry(),
    state,
    production: isGuarded,
    middleware: [isGuarded ? bearerAuth({ tokens: TOKENS }) : identified],
    runs: { keepInput: true, measure: true, store: 'all', disconnect: 'continue' },
    fileUpload: true,
    a2a: { default: 'echo' },
    metricsExporter: new MetricsExporter({
      history: true,
      ...(settings === 'counted' && {
        authenticate: bearerIdentity({ tokens: { [METRICS_TOKEN]: 'scraper' } }),
      }),
    }),
    toolkits: [{ name: 'arithmetic', description: 'Sums and products', tools: examples.calculator.tools }],
    admin: {
      manager: new ToolServerManager({ register: false }),
      authenticate: bearerIdentity({ tokens: { [ADMIN_TOKEN]: 'root' } }),
      allow: ['127.0.0.1'],
    },
    plugins: [
      files(),
      sessions(),
      approvals({ authorize: mayDecide }),
      callerKeys({ authenticate: bearerIdentity({ tokens: { [ADMIN_TOKEN]: 'root' } }) }),
      // Its address is refused, so that a test needs no receiver.
      webhooks({
        subscriptions: [
          { id: 'crm', url: 'https://127.0.0.1/hook', secret: btoa('x'.repeat(32)), owners: ['nobody'] },
        ],
      }),
      webConsole({
        ...(settings !== 'open' && { authenticate: (_: Request, identity?: Identity) => identity }),
        ...(isGuarded && { title: 'Agents & <friends>' }),
      }),
    ],
  }
  return createHandler(options)
}
