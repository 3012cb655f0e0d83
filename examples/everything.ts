/** What the examples for Workers and for Node serve: every plugin, with agents that work offline. */

import { approvals } from '../src/features/approvals/plugin.ts'
import { budgets } from '../src/features/budgets/plugin.ts'
import { chatState } from '../src/features/chat-state/plugin.ts'
import { webConsole } from '../src/features/console/plugin.ts'
import { files } from '../src/features/files/plugin.ts'
import { guards } from '../src/features/guards/plugin.ts'
import { callerKeys, keysAuth } from '../src/features/keys/plugin.ts'
import { auditLog } from '../src/features/logs/index.ts'
import { queue } from '../src/features/queue/plugin.ts'
import { schedule, schedules } from '../src/features/schedules/plugin.ts'
import { sessions } from '../src/features/sessions/plugin.ts'
import { webhooks } from '../src/features/webhooks/plugin.ts'
import {
  bearerIdentity,
  type HandlerOptions,
  MetricsExporter,
  type Middleware,
  pausing,
  type SwaggerOptions,
} from '../src/index.ts'
// In your own project import from `servable`. This example imports the sources, so that it needs no build.
import { agUi } from '../src/protocols/ag-ui/plugin.ts'
import { aiSdkUi } from '../src/protocols/ai-sdk-ui/plugin.ts'
import { anthropic } from '../src/protocols/anthropic/plugin.ts'
import { langGraph } from '../src/protocols/langgraph-api/plugin.ts'
import {
  directTools,
  mcp,
  mcpPrompts,
  mcpResources,
  mcpTasks,
  ownConversations,
  ownFiles,
  toJsonSchema,
} from '../src/protocols/mcp/plugin.ts'
import { openai } from '../src/protocols/openai/plugin.ts'
// The import uses the names. A bundler may drop an import that has only side effects (package.json: `sideEffects`).
import * as agents from './agents.ts'
import { chatSocket } from './chat-socket.ts'
import { home } from './home.ts'
import { ndjson } from './ndjson.ts'
import { toolServers } from './tools.ts'
import { type TraceVariables, traces } from './traces.ts'

/** Variables of the environment. None of them is needed. */
export interface Variables extends TraceVariables {
  /** Whoever sends this token is `ada`, who has sessions, approvals and webhooks. */
  readonly USER_TOKEN?: string | undefined
  /** Whoever sends this token is the administrator. */
  readonly ADMIN_TOKEN?: string | undefined
}

/** What differs between runtimes. */
interface Place {
  readonly state: NonNullable<HandlerOptions['state']>
  /** The files of the documentation page. */
  readonly assets: NonNullable<SwaggerOptions['assets']>
}

/** Services on this machine, to try things out with. */
const OWN_MACHINE = ['localhost', '127.0.0.1']

const arithmetic = { name: 'arithmetic', description: 'Sums and products', tools: agents.calculator.tools }

const morning = schedule('echo', {
  cron: '0 9 * * MON-FRI',
  timezone: 'Europe/Berlin',
  input: 'Morning',
  owner: 'ada',
})

/** The options of a handler with everything. */
export function everything(variables: Variables, { state, assets }: Place): HandlerOptions {
  const { ADMIN_TOKEN, USER_TOKEN } = variables
  const admin = ADMIN_TOKEN
    ? { authenticate: bearerIdentity({ tokens: { [ADMIN_TOKEN]: 'admin' } }) }
    : undefined
  // Without an administrator, whoever is on this machine manages keys, in development alone.
  const keys = admin || process.env.NODE_ENV === 'development' ? callerKeys(admin) : undefined
  return {
    cors: true,
    serve: Object.values(agents),
    middleware: [
      home,
      ...(keys ? [byKey(keysAuth(keys))] : []),
      ...(USER_TOKEN ? [byToken(USER_TOKEN)] : []),
    ],
    state,
    // The console shows more with these.
    runs: { keepInput: true, keepJournal: true, measure: true },
    a2a: { default: 'echo', push: { allow: OWN_MACHINE }, ...(admin && { extendedCard: admin }) },
    gateway: { recovery: true },
    metricsExporter: new MetricsExporter({ history: true }),
    fileUpload: true,
    swagger: { enabled: true, assets },
    toolkits: [arithmetic],
    plugins: [
      chatSocket(),
      ndjson(),
      webConsole(),
      files(),
      sessions(),
      approvals(),
      queue(),
      pausing(admin),
      ...(keys ? [keys] : []),
      // No agent sees an address: ask `echo` to write to ada@example.com.
      guards({ onInput: { mask: [{ pattern: /[\w.]+@[\w.]+\w/, with: '[address]' }] } }),
      // Enough for a day of trying out.
      budgets({ maxTokens: 10_000_000, windowMs: 86_400_000, key: 'owner', unpriced: 'ignore' }, admin),
      webhooks({ clients: true, allow: OWN_MACHINE }),
      // On Workers an alarm starts it, once the clock of the Worker has rung, or somebody has looked at `/api/schedules`.
      schedules([morning], admin),
      // A bot of Chat SDK may keep its state here: `new Chat({ state })`.
      chatState(),
      auditLog(),
      ...traces(variables),
      aiSdkUi({ agent: 'echo', resume: true }),
      agUi(),
      openai(),
      anthropic(),
      langGraph(),
      mcp({
        tools: true,
        directTools: directTools({ toolkits: [arithmetic] }),
        tasks: mcpTasks(),
        resources: mcpResources({ ...ownConversations(), ...ownFiles() }),
        prompts: mcpPrompts(),
        toJsonSchema,
      }),
    ],
    // Off unless there is an administrator. Put ADMIN_TOKEN=… into .dev.vars, or run `wrangler secret put ADMIN_TOKEN`.
    ...(admin && { admin: { ...admin, manager: toolServers, allow: OWN_MACHINE } }),
  }
}

/** Whoever sends a key is its owner. Anyone else stays a stranger, who may run agents too. */
function byKey(auth: Middleware): Middleware {
  return (request, context, next) => {
    const hasKey = /^Bearer sk_servable_/i.test(request.headers.get('authorization') ?? '')
    return hasKey ? auth(request, context, next) : next()
  }
}

/** Whoever sends the token is `ada`. */
function byToken(token: string): Middleware {
  const identify = bearerIdentity({ tokens: { [token]: 'ada' } })
  return async (request, context, next) => {
    const identity = await identify(request)
    if (identity) context.identity = identity
    return next()
  }
}
