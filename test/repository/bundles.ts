/** Bundles of Workers that use some of the parts: the price list, with its limits. */
import { gzipSync } from 'node:zlib'
import { build, type Metafile } from 'esbuild'
import { AS_DEPLOYED } from '../runtimes/as-deployed.ts'
import { root } from '../runtimes/process.ts'

/** A Worker. */
export interface Bundle {
  readonly name: string
  /** Its imports, by entry. */
  readonly imports: Readonly<Record<string, readonly string[]>>
  /** Members of the options. */
  readonly options?: string
  /** Code after the handler. */
  readonly more?: string
  /** Most KiB, gzipped. */
  readonly limit: number
}

const CORE = 'src/core-entry.ts'
const FULL = 'src/index.ts'
const OBJECTS = { 'src/runtimes/cloudflare.ts': ['durableState', 'durableObjects'] } as const
const IN_OBJECTS = {
  options: 'state: durableState(),',
  more: 'export const { ServableRun, ServableIndex, ServableGateway, ServableMetrics } = durableObjects(handler)',
} as const

const SMALL = ['cors', 'corrections', 'rateLimit', 'roles', 'trustProxy', 'uploads'] as const
const ROOMS = {
  'src/features/small/tools.ts': ['tools'],
  'src/features/files/plugin.ts': ['files'],
  'src/features/sessions/plugin.ts': ['sessions'],
  'src/features/approvals/plugin.ts': ['approvals'],
  'src/features/queue/plugin.ts': ['queue'],
  'src/features/guards/plugin.ts': ['guards'],
  'src/features/budgets/plugin.ts': ['budgets'],
  'src/features/keys/plugin.ts': ['callerKeys', 'keysAuth'],
  'src/features/webhooks/plugin.ts': ['webhooks'],
  'src/features/schedules/plugin.ts': ['schedules'],
  'src/features/chat-state/plugin.ts': ['chatState'],
  'src/protocols/ai-sdk-ui/plugin.ts': ['aiSdkUi'],
  'src/protocols/ag-ui/plugin.ts': ['agUi'],
  'src/protocols/openai/plugin.ts': ['openai'],
  'src/protocols/anthropic/plugin.ts': ['anthropic'],
  'src/protocols/langgraph-api/plugin.ts': ['langGraph'],
  'src/protocols/mcp/plugin.ts': [
    ...['mcp', 'mcpAuth', 'mcpTasks', 'mcpResources', 'mcpPrompts'],
    ...['ownConversations', 'ownFiles', 'directTools', 'toJsonSchema'],
  ],
  'src/features/otel/plugin.ts': ['otel'],
  'src/features/metrics/plugin.ts': ['metrics', 'MetricsExporter'],
  'src/features/admin/plugin.ts': ['admin'],
  'src/protocols/openapi/plugin.ts': ['openapi'],
  'src/features/console/plugin.ts': ['webConsole'],
  'src/protocols/event-socket/gateway/plugin.ts': ['eventSocket'],
  'src/protocols/a2a/plugin.ts': ['a2a'],
  'src/features/logs/index.ts': ['runLog', 'auditLog'],
} as const

/** The core with one plugin. If the plugin stores data, the Worker has a state. */
function withPlugin(name: string, entry: string, call: string, limit: number, keeps = false): Bundle {
  const imported = [...new Set(call.match(/[A-Za-z]\w+(?=\()/g))]
  const core = ['createHandler', ...(keeps ? ['memoryState'] : []), ...(entry === CORE ? imported : [])]
  return {
    name,
    imports: { [CORE]: core, ...(entry !== CORE && { [entry]: imported }) },
    options: `${keeps ? 'state: memoryState(), ' : ''}plugins: [${call}],`,
    limit,
  }
}

const ALL = [
  'cors(true), rateLimit(), uploads(), trustProxy(1), corrections(), tools(), openapi(), files(), sessions(), approvals(), queue(), guards({}),',
  'callerKeys(), budgets({ maxTokens: 1, windowMs: 1000, key: "all" }), webhooks(), schedules([]), chatState(), aiSdkUi(), agUi(), openai(), anthropic(), langGraph(),',
  'mcp({ tools: true, tasks: mcpTasks(), resources: mcpResources({ ...ownConversations(), ...ownFiles() }), prompts: mcpPrompts(), directTools: directTools({}), toJsonSchema, auth: mcpAuth({ authorizationServers: [], resource: "" }) }),',
  'otel({ tracer: {} }), metrics(new MetricsExporter()), admin(), a2a(), eventSocket(), webConsole(), runLog(), auditLog()',
].join(' ')

/** The price list. */
export const BUNDLES: readonly Bundle[] = [
  { name: 'core', imports: { [CORE]: ['createHandler'] }, limit: 37.4 },
  {
    name: 'core, `memoryState()`',
    imports: { [CORE]: ['createHandler', 'memoryState'] },
    options: 'state: memoryState(),',
    limit: 75.3,
  },
  {
    name: 'core, Durable Objects',
    imports: { [CORE]: ['createHandler'], ...OBJECTS },
    ...IN_OBJECTS,
    limit: 81.4,
  },
  withPlugin('`cors()`', CORE, 'cors(true)', 38.1),
  withPlugin('`roles()`', CORE, 'roles()', 38.7),
  withPlugin('`trustProxy()`', CORE, 'trustProxy(1)', 38.15),
  withPlugin('`rateLimit()`', CORE, 'rateLimit()', 38.7),
  withPlugin('`uploads()`', CORE, 'uploads()', 41.2),
  withPlugin('`corrections()`, `memoryState()`', CORE, 'corrections()', 77.1, true),
  withPlugin('`tools()`', 'src/features/small/tools.ts', 'tools()', 41.65),
  withPlugin('`admin()`, `memoryState()`', 'src/features/admin/plugin.ts', 'admin()', 85.9, true),
  withPlugin('`files()`, `memoryState()`', 'src/features/files/plugin.ts', 'files()', 84.6, true),
  withPlugin('`approvals()`, `memoryState()`', 'src/features/approvals/plugin.ts', 'approvals()', 80, true),
  withPlugin('`queue()`, `memoryState()`', 'src/features/queue/plugin.ts', 'queue()', 80, true),
  withPlugin('`sessions()`, `memoryState()`', 'src/features/sessions/plugin.ts', 'sessions()', 85.7, true),
  withPlugin('`aiSdkUi()`', 'src/protocols/ai-sdk-ui/plugin.ts', 'aiSdkUi()', 45.95),
  withPlugin('`agUi()`', 'src/protocols/ag-ui/plugin.ts', 'agUi()', 49),
  withPlugin('`chatCompletions()`', 'src/protocols/openai/chat-completions.ts', 'chatCompletions()', 45.4),
  withPlugin('`openai()`', 'src/protocols/openai/plugin.ts', 'openai()', 49.6),
  withPlugin('`anthropic()`', 'src/protocols/anthropic/plugin.ts', 'anthropic()', 47.35),
  withPlugin('`langGraph()`', 'src/protocols/langgraph-api/plugin.ts', 'langGraph()', 57.9),
  withPlugin('`mcp()`', 'src/protocols/mcp/plugin.ts', 'mcp({ tools: true })', 50.55),
  withPlugin('`guards()`', 'src/features/guards/plugin.ts', 'guards({})', 47.35),
  withPlugin(
    '`budgets()`, `memoryState()`',
    'src/features/budgets/plugin.ts',
    'budgets({ maxTokens: 1, windowMs: 1000, key: "all" })',
    82.6,
    true,
  ),
  {
    name: '`callerKeys()`, `keysAuth()`, `memoryState()`',
    imports: {
      [CORE]: ['createHandler', 'memoryState'],
      'src/features/keys/plugin.ts': ['callerKeys', 'keysAuth'],
    },
    options:
      '...(keys => ({ state: memoryState(), plugins: [keys], middleware: [keysAuth(keys)] }))(callerKeys()),',
    limit: 83.6,
  },
  {
    name: '`jwtAuth()`, with jose',
    imports: { [CORE]: ['createHandler'], 'src/features/jwt/index.ts': ['jwtAuth'] },
    options: "middleware: [jwtAuth({ issuer: 'https://login.example.com', audience: 'a' })],",
    limit: 49.3,
  },
  withPlugin('`webhooks()`, `memoryState()`', 'src/features/webhooks/plugin.ts', 'webhooks()', 89.45, true),
  withPlugin(
    '`schedules()`, `memoryState()`',
    'src/features/schedules/plugin.ts',
    'schedules([])',
    92.05,
    true,
  ),
  withPlugin(
    '`chatState()`, `memoryState()`',
    'src/features/chat-state/plugin.ts',
    'chatState()',
    76.75,
    true,
  ),
  withPlugin(
    '`mcp()` with `mcpResources()` and `mcpPrompts()`',
    'src/protocols/mcp/plugin.ts',
    'mcp({ tools: true, resources: mcpResources({}), prompts: mcpPrompts() })',
    55.55,
  ),
  withPlugin(
    '`mcp()` with `mcpTasks()`',
    'src/protocols/mcp/plugin.ts',
    'mcp({ tools: true, tasks: mcpTasks() })',
    51.45,
  ),
  withPlugin(
    '`mcp()` with `mcpAuth()`',
    'src/protocols/mcp/plugin.ts',
    "mcp({ tools: true, auth: mcpAuth({ authorizationServers: [], resource: '' }) })",
    51.4,
  ),
  withPlugin('`metrics()`', 'src/features/metrics/plugin.ts', 'metrics(new MetricsExporter())', 47.9),
  withPlugin('`openapi()`', 'src/protocols/openapi/plugin.ts', 'openapi()', 51.8),
  withPlugin('`webConsole()`', 'src/features/console/plugin.ts', 'webConsole()', 187.2),
  withPlugin('`eventSocket()`', 'src/protocols/event-socket/gateway/plugin.ts', 'eventSocket()', 58.85),
  withPlugin('`a2a()`, `memoryState()`', 'src/protocols/a2a/plugin.ts', 'a2a()', 115.9, true),
  withPlugin('`otel()`', 'src/features/otel/plugin.ts', 'otel({ tracer: {} })', 44.4),
  withPlugin('`runLog()`', 'src/features/logs/index.ts', 'runLog()', 38.05),
  withPlugin('`auditLog()`', 'src/features/logs/index.ts', 'auditLog()', 39.15),
  {
    name: '`remoteAgent()`, with the official client',
    imports: { [CORE]: ['createHandler'], 'src/adapters/a2a-client/index.ts': ['remoteAgent'] },
    more: "export const remote = remoteAgent({ url: 'https://a.example' })",
    limit: 83.2,
  },
  {
    name: 'core, Durable Objects, `eventSocket()`',
    imports: {
      [CORE]: ['createHandler'],
      ...OBJECTS,
      'src/protocols/event-socket/gateway/plugin.ts': ['eventSocket'],
    },
    ...IN_OBJECTS,
    options: `${IN_OBJECTS.options} plugins: [eventSocket()],`,
    limit: 100.95,
  },
  {
    name: 'core, Durable Objects, `a2a()`',
    imports: { [CORE]: ['createHandler'], ...OBJECTS, 'src/protocols/a2a/plugin.ts': ['a2a'] },
    ...IN_OBJECTS,
    options: `${IN_OBJECTS.options} plugins: [a2a()],`,
    limit: 121.3,
  },
  {
    name: 'every plugin, Durable Objects',
    imports: { [CORE]: ['createHandler', ...SMALL], ...OBJECTS, ...ROOMS },
    ...IN_OBJECTS,
    options: `${IN_OBJECTS.options} plugins: [${ALL}],`,
    limit: 473.5,
  },
  { name: '`createHandler` of `servable`', imports: { [FULL]: ['createHandler'] }, limit: 172 },
  {
    name: '`createHandler` of `servable`, Durable Objects',
    imports: { [FULL]: ['createHandler'], ...OBJECTS },
    ...IN_OBJECTS,
    limit: 181.3,
  },
]

/** The result of bundling a Worker. */
export interface Bundled {
  readonly code: string
  readonly kib: number
  readonly metafile: Metafile
}

/** Bundles a Worker as a deploy does. */
export async function bundle({ imports, options = '', more = '' }: Bundle): Promise<Bundled> {
  const lines = Object.entries(imports).map(
    ([entry, names]) => `import { ${names.join(', ')} } from './${entry}'`,
  )
  const contents = [
    ...lines,
    `const handler = createHandler({ agents: {}, ${options} })`,
    'export default { fetch: handler }',
    more,
  ].join('\n')
  const { outputFiles, metafile } = await build({
    ...AS_DEPLOYED,
    stdin: { contents, resolveDir: root, loader: 'ts' },
    minify: true,
    metafile: true,
  })
  const code = outputFiles[0]?.text ?? ''
  return { code, kib: gzipSync(code, { level: 9 }).byteLength / 1024, metafile }
}
