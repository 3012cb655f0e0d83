// In your own project import your agents. This example uses those of the other examples, which work offline.
import { Agent, bearerIdentity, createHandler, MetricsExporter, textOf } from 'servable'
import { agUi } from 'servable/ag-ui'
import { aiSdkUi } from 'servable/ai-sdk-ui'
import { anthropic } from 'servable/anthropic'
import { approvals } from 'servable/approvals'
import { budgets } from 'servable/budgets'
import { chatState } from 'servable/chat-state'
import { webConsole } from 'servable/console'
import { files } from 'servable/files'
import { guards } from 'servable/guards'
import { callerKeys, keysAuth } from 'servable/keys'
import { langGraph } from 'servable/langgraph-api'
import { auditLog } from 'servable/logs'
import { directTools, mcp, mcpTasks, toJsonSchema } from 'servable/mcp'
import { openai } from 'servable/openai'
import { queue } from 'servable/queue'
import { sessions } from 'servable/sessions'
import { sqliteState } from 'servable/sqlite'
import { swaggerUi } from 'servable/swagger-ui'
import { webhooks } from 'servable/webhooks'
import { calculator } from '../../agents/calculator.ts'
import { caterer } from '../../agents/caterer.ts'
import { desk } from '../../agents/desk.ts'
import { digest } from '../../agents/digest.ts'
import { echo } from '../../agents/echo.ts'
import { summarizer } from '../../agents/summarizer.ts'
import { tailor } from '../../agents/tailor.ts'
import { toolServers } from '../../tools.ts'
import { traces } from '../../traces.ts'
import { callers } from './callers.ts'

/** Repeats the input at typing speed, and gives its files back. */
const typist = new Agent({
  name: 'typist',
  description: 'Says it back, word by word, with a pause after each',
  // A message that comes meanwhile is said back too.
  steering: true,
  // If the server stops in the middle of an answer, the next one goes on.
  resume: true,
  async *run(input, { signal, steering }) {
    for (const word of textOf(input).split(/(?<= )/)) {
      if (signal.aborted) return
      yield word
      for (const message of yield* steering.take()) yield `(${textOf(message.input)}) `
      await new Promise(resolve => setTimeout(resolve, 50))
    }
    const parts = typeof input === 'string' ? [] : input.filter(({ type }) => type !== 'text')
    for (const [place, part] of parts.entries()) {
      yield { type: 'artifact', artifactId: `file-${place + 1}`, parts: [part] }
    }
  },
})

const { ADMIN_TOKEN, DATABASE = 'chat.db', OTEL_EXPORTER_OTLP_ENDPOINT } = process.env

/** Without the variable ADMIN_TOKEN there are no keys and no tool servers, and nobody sees the metrics. */
const admin = ADMIN_TOKEN
  ? { authenticate: bearerIdentity({ tokens: { [ADMIN_TOKEN]: 'admin' } }) }
  : undefined
const keys = admin && callerKeys(admin)

const arithmetic = { name: 'arithmetic', description: 'Sums and products', tools: calculator.tools }

export const handler = createHandler({
  agents: { typist, caterer, tailor, calculator, echo, summarizer },
  teams: { desk },
  workflows: { digest },
  fileUpload: true,
  // Files of messages are in their JSON.
  limits: { maxBodyBytes: 20 * 1024 * 1024 },
  state: sqliteState({ path: DATABASE }),
  middleware: [callers(keys && keysAuth(keys))],
  plugins: [
    aiSdkUi({ resume: true }),
    sessions(),
    approvals(),
    queue(),
    files(),
    webhooks({ clients: true }),
    chatState(),
    budgets({ maxTokens: 1_000_000, windowMs: 86_400_000, key: 'owner' }, admin),
    guards({
      onInput: { mask: [{ pattern: /\b\d{4}(?:\d{12}|(?: \d{4}){3}|(?:-\d{4}){3})\b/, with: '[card]' }] },
    }),
    auditLog(),
    ...(keys ? [keys] : []),
    ...traces({ OTEL_EXPORTER_OTLP_ENDPOINT }),
    agUi(),
    openai({ path: '/api/v1' }),
    anthropic({ path: '/api/anthropic' }),
    langGraph({ path: '/api/langgraph' }),
    mcp({
      path: '/api/mcp',
      tools: true,
      directTools: directTools({ toolkits: [arithmetic], toolServers }),
      tasks: mcpTasks(),
      toJsonSchema,
    }),
    webConsole({ authenticate: (_, identity) => identity }),
    // There are no `schedules`: Next runs nothing by itself. A server of `servable/node` on the same database can have them.
  ],
  // Every path is below /api, where the catch-all route is.
  a2a: { basePath: '/api/a2a', default: 'echo', push: true, ...(admin && { extendedCard: admin }) },
  gateway: { path: '/api/socket.io', recovery: true },
  swagger: { enabled: true, assets: swaggerUi() },
  toolkits: [arithmetic],
  ...(admin && {
    admin: { ...admin, manager: toolServers },
    metricsExporter: new MetricsExporter({ ...admin, history: true }),
  }),
})
