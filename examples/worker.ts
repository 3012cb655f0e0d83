import { env } from 'cloudflare:workers'
// In your own project import from `servable` and `servable/cloudflare`. This example imports the sources, so that it needs no
// build.
import { agUi } from '../src/ag-ui/plugin.ts'
import { aiSdkUi } from '../src/ai-sdk-ui/plugin.ts'
import { approvals } from '../src/approvals/plugin.ts'
import { webConsole } from '../src/console/plugin.ts'
import { files } from '../src/files/plugin.ts'
import { bearerIdentity, createHandler, MetricsExporter, type Middleware } from '../src/index.ts'
import { directTools, mcp, mcpTasks, toJsonSchema } from '../src/mcp/plugin.ts'
import { openai } from '../src/openai/plugin.ts'
import { durableObjects, durableState, worker, workerAssets } from '../src/runtimes/cloudflare.ts'
import { sessions } from '../src/sessions/plugin.ts'
// The import uses the names. A bundler may drop an import that has only side effects (package.json: `sideEffects`).
import * as agents from './agents.ts'
import { home } from './home.ts'
import { ndjson } from './ndjson.ts'
import { toolServers } from './tools.ts'

const { ADMIN_TOKEN, USER_TOKEN } = env as { readonly ADMIN_TOKEN?: string; readonly USER_TOKEN?: string }

/** Whoever sends the token is `ada`, and has sessions and approvals. Anyone else stays a stranger. */
const users = USER_TOKEN && bearerIdentity({ tokens: { [USER_TOKEN]: 'ada' } })
const identify: Middleware = async (request, context, next) => {
  const identity = users ? await users(request) : undefined
  if (identity) context.identity = identity
  return next()
}

const arithmetic = { name: 'arithmetic', description: 'Sums and products', tools: agents.calculator.tools }

const handler = createHandler({
  cors: true,
  serve: Object.values(agents),
  middleware: [home, identify],
  state: durableState(),
  // The console shows more with these.
  runs: { keepInput: true, measure: true },
  a2a: {
    default: 'echo',
    push: { allow: ['localhost', '127.0.0.1'] },
    ...(ADMIN_TOKEN && {
      extendedCard: { authenticate: bearerIdentity({ tokens: { [ADMIN_TOKEN]: 'admin' } }) },
    }),
  },
  gateway: { recovery: true },
  metricsExporter: new MetricsExporter({ history: true }),
  fileUpload: true,
  swagger: { enabled: true, assets: workerAssets() },
  toolkits: [arithmetic],
  plugins: [
    ndjson(),
    webConsole(),
    files(),
    sessions(),
    approvals(),
    aiSdkUi({ agent: 'echo', resume: true }),
    agUi(),
    openai(),
    mcp({
      tools: true,
      directTools: directTools({ toolkits: [arithmetic] }),
      tasks: mcpTasks(),
      toJsonSchema,
    }),
  ],
  // Off unless there is a token. Put ADMIN_TOKEN=… into .dev.vars, or run `wrangler secret put ADMIN_TOKEN`.
  ...(ADMIN_TOKEN && {
    admin: {
      manager: toolServers,
      authenticate: bearerIdentity({ tokens: { [ADMIN_TOKEN]: 'admin' } }),
      allow: ['localhost', '127.0.0.1'],
    },
  }),
})

export default { fetch: worker(handler) }

export const { ServableRun, ServableIndex, ServableGateway, ServableMetrics } = durableObjects(handler)
