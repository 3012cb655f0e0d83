import { env } from 'cloudflare:workers'
import { bearerIdentity, createHandler, MetricsExporter } from 'servable'
import { agUi } from 'servable/ag-ui'
import { aiSdkUi } from 'servable/ai-sdk-ui'
import { anthropic } from 'servable/anthropic'
import { approvals } from 'servable/approvals'
import { budgets } from 'servable/budgets'
import { chatState } from 'servable/chat-state'
import { durableObjects, durableState, scheduled, worker, workerAssets } from 'servable/cloudflare'
import { webConsole } from 'servable/console'
import { files } from 'servable/files'
import { guards } from 'servable/guards'
import { callerKeys, keysAuth } from 'servable/keys'
import { langGraph } from 'servable/langgraph-api'
import { auditLog, runLog } from 'servable/logs'
import { directTools, mcp, mcpTasks } from 'servable/mcp'
import { openai } from 'servable/openai'
import { queue } from 'servable/queue'
import { schedule, schedules } from 'servable/schedules'
import { sessions } from 'servable/sessions'
import { webhooks } from 'servable/webhooks'
import { counter, initials, pair, toolServers, wordCount } from './agents.ts'
import { tracesTo } from './traces.ts'

const { USER_TOKEN, ADMIN_TOKEN, OTEL_EXPORTER_OTLP_ENDPOINT } = env as Record<string, string | undefined>
if (!USER_TOKEN || !ADMIN_TOKEN) throw new Error('Set the secrets USER_TOKEN and ADMIN_TOKEN')

const isAdmin = bearerIdentity({ tokens: { [ADMIN_TOKEN]: { id: 'admin', scopes: ['admin'] } } })

const keys = callerKeys({ authenticate: isAdmin, sharedRates: true })

const texts = { name: 'text', description: 'Texts', tools: [wordCount] }

const handler = createHandler({
  serve: [counter, pair, initials],
  middleware: [keysAuth(keys, { tokens: { [USER_TOKEN]: 'ada' } })],
  state: durableState(),
  cors: ['https://app.example.com'],
  rateLimit: { max: 600, key: (_, { identity }) => identity?.id, shared: true },
  fileUpload: true,
  a2a: { default: 'counter', push: true, extendedCard: { authenticate: isAdmin } },
  gateway: { recovery: true },
  metricsExporter: new MetricsExporter({ authenticate: isAdmin, history: true }),
  swagger: { enabled: true, title: 'A Worker with everything', assets: workerAssets() },
  toolkits: [texts],
  admin: { manager: toolServers, authenticate: isAdmin },
  plugins: [
    keys,
    files(),
    sessions(),
    queue(),
    budgets({ maxTokens: 1_000_000, windowMs: 86_400_000, key: 'owner' }, { authenticate: isAdmin }),
    webhooks({ clients: true }),
    approvals({ authorize: (_, { identity }) => identity?.id === 'ada' }),
    chatState(),
    schedules([schedule(counter, { cron: '0 9 * * MON-FRI', input: 'Good morning', owner: 'ada' })], {
      authenticate: isAdmin,
    }),
    guards({
      onInput: { mask: [{ pattern: /\b\d{4}(?:\d{12}|(?: \d{4}){3}|(?:-\d{4}){3})\b/, with: '[card]' }] },
    }),
    auditLog(),
    runLog(),
    ...(OTEL_EXPORTER_OTLP_ENDPOINT ? [tracesTo(OTEL_EXPORTER_OTLP_ENDPOINT)] : []),
    aiSdkUi({ agent: 'counter', resume: true }),
    agUi(),
    openai(),
    anthropic(),
    langGraph(),
    webConsole({ authenticate: (_, identity) => identity }),
    mcp({
      tools: ['counter', 'pair', 'initials'],
      directTools: directTools({ toolkits: [texts], toolServers }),
      tasks: mcpTasks(),
    }),
  ],
})

export default { fetch: worker(handler), scheduled: scheduled(handler) }

export const { ServableRun, ServableIndex, ServableGateway, ServableMetrics } = durableObjects(handler)
