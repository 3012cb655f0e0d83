import { env } from 'cloudflare:workers'
// In your own project import from `servable` and `servable/cloudflare`. This example imports the sources, so that it needs no
// build.
import { agUi } from '../src/ag-ui/plugin.ts'
import { aiSdkUi } from '../src/ai-sdk-ui/plugin.ts'
import { approvals } from '../src/approvals/plugin.ts'
import { budgets } from '../src/budgets/plugin.ts'
import { webConsole } from '../src/console/plugin.ts'
import { files } from '../src/files/plugin.ts'
import { bearerIdentity, createHandler, MetricsExporter, type Middleware } from '../src/index.ts'
import { auditLog } from '../src/logs/index.ts'
import { directTools, mcp, mcpTasks, toJsonSchema } from '../src/mcp/plugin.ts'
import { openai } from '../src/openai/plugin.ts'
import { queue } from '../src/queue/plugin.ts'
import { durableObjects, durableState, scheduled, worker, workerAssets } from '../src/runtimes/cloudflare.ts'
import { schedule, schedules } from '../src/schedules/plugin.ts'
import { sessions } from '../src/sessions/plugin.ts'
import { webhooks } from '../src/webhooks/plugin.ts'
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
    queue(),
    // Enough for a day of trying out.
    budgets({ maxTokens: 10_000_000, windowMs: 86_400_000, key: 'owner', unpriced: 'ignore' }),
    webhooks({ clients: true }),
    // An alarm starts these once the clock of the Worker has rung, or somebody has looked at `/api/schedules`.
    schedules(
      [
        schedule('echo', {
          cron: '0 9 * * MON-FRI',
          timezone: 'Europe/Berlin',
          input: 'Morning',
          owner: 'ada',
        }),
      ],
      ADMIN_TOKEN ? { authenticate: bearerIdentity({ tokens: { [ADMIN_TOKEN]: 'admin' } }) } : {},
    ),
    auditLog(),
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

export default { fetch: worker(handler), scheduled: scheduled(handler) }

export const { ServableRun, ServableIndex, ServableGateway, ServableMetrics } = durableObjects(handler)
