/** Bundles of Workers that use some of the parts: the price list, with its limits. */
import { gzipSync } from 'node:zlib'
import { build, type Metafile } from 'esbuild'
import { root } from './runtimes/process.ts'
import { AS_DEPLOYED } from './runtimes/worker.ts'

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

const SMALL = ['cors', 'corrections', 'rateLimit', 'trustProxy', 'uploads'] as const
const ROOMS = {
  'src/plugins/tools.ts': ['tools'],
  'src/files/plugin.ts': ['files'],
  'src/sessions/plugin.ts': ['sessions'],
  'src/approvals/plugin.ts': ['approvals'],
  'src/ai-sdk-ui/plugin.ts': ['aiSdkUi'],
  'src/ag-ui/plugin.ts': ['agUi'],
  'src/openai/plugin.ts': ['openai'],
  'src/mcp/plugin.ts': ['mcp', 'mcpAuth', 'mcpTasks', 'directTools', 'toJsonSchema'],
  'src/metrics/plugin.ts': ['metrics', 'MetricsExporter'],
  'src/admin/plugin.ts': ['admin'],
  'src/openapi/plugin.ts': ['openapi'],
  'src/console/plugin.ts': ['webConsole'],
  'src/gateway/plugin.ts': ['eventSocket'],
  'src/a2a/plugin.ts': ['a2a'],
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
  'cors(true), rateLimit(), uploads(), trustProxy(1), corrections(), tools(), openapi(), files(), sessions(), approvals(), aiSdkUi(), agUi(), openai(),',
  'mcp({ tools: true, tasks: mcpTasks(), directTools: directTools({}), toJsonSchema, auth: mcpAuth({ authorizationServers: [], resource: "" }) }),',
  'metrics(new MetricsExporter()), admin(), a2a(), eventSocket(), webConsole()',
].join(' ')

/** The price list. */
export const BUNDLES: readonly Bundle[] = [
  { name: 'core', imports: { [CORE]: ['createHandler'] }, limit: 35.5 },
  {
    name: 'core, `memoryState()`',
    imports: { [CORE]: ['createHandler', 'memoryState'] },
    options: 'state: memoryState(),',
    limit: 55.6,
  },
  {
    name: 'core, Durable Objects',
    imports: { [CORE]: ['createHandler'], ...OBJECTS },
    ...IN_OBJECTS,
    limit: 61.35,
  },
  withPlugin('`cors()`', CORE, 'cors(true)', 36.25),
  withPlugin('`trustProxy()`', CORE, 'trustProxy(1)', 36.25),
  withPlugin('`rateLimit()`', CORE, 'rateLimit()', 37.4),
  withPlugin('`uploads()`', CORE, 'uploads()', 39.25),
  withPlugin('`corrections()`, `memoryState()`', CORE, 'corrections()', 57, true),
  withPlugin('`tools()`', 'src/plugins/tools.ts', 'tools()', 39.75),
  withPlugin('`admin()`, `memoryState()`', 'src/admin/plugin.ts', 'admin()', 64.55, true),
  withPlugin('`files()`, `memoryState()`', 'src/files/plugin.ts', 'files()', 64.8, true),
  withPlugin('`approvals()`, `memoryState()`', 'src/approvals/plugin.ts', 'approvals()', 58.95, true),
  withPlugin('`sessions()`, `memoryState()`', 'src/sessions/plugin.ts', 'sessions()', 63.15, true),
  withPlugin('`aiSdkUi()`', 'src/ai-sdk-ui/plugin.ts', 'aiSdkUi()', 41.5),
  withPlugin('`agUi()`', 'src/ag-ui/plugin.ts', 'agUi()', 41.5),
  withPlugin('`chatCompletions()`', 'src/openai/chat-completions.ts', 'chatCompletions()', 40.55),
  withPlugin('`openai()`', 'src/openai/plugin.ts', 'openai()', 44.5),
  withPlugin('`mcp()`', 'src/mcp/plugin.ts', 'mcp({ tools: true })', 44.7),
  withPlugin(
    '`mcp()` with `mcpTasks()`',
    'src/mcp/plugin.ts',
    'mcp({ tools: true, tasks: mcpTasks() })',
    45.6,
  ),
  withPlugin('`metrics()`', 'src/metrics/plugin.ts', 'metrics(new MetricsExporter())', 45.8),
  withPlugin('`openapi()`', 'src/openapi/plugin.ts', 'openapi()', 48.35),
  withPlugin('`webConsole()`', 'src/console/plugin.ts', 'webConsole()', 127),
  withPlugin('`eventSocket()`', 'src/gateway/plugin.ts', 'eventSocket()', 55.2),
  withPlugin('`a2a()`, `memoryState()`', 'src/a2a/plugin.ts', 'a2a()', 86.4, true),
  {
    name: 'core, Durable Objects, `eventSocket()`',
    imports: { [CORE]: ['createHandler'], ...OBJECTS, 'src/gateway/plugin.ts': ['eventSocket'] },
    ...IN_OBJECTS,
    options: `${IN_OBJECTS.options} plugins: [eventSocket()],`,
    limit: 80.45,
  },
  {
    name: 'core, Durable Objects, `a2a()`',
    imports: { [CORE]: ['createHandler'], ...OBJECTS, 'src/a2a/plugin.ts': ['a2a'] },
    ...IN_OBJECTS,
    options: `${IN_OBJECTS.options} plugins: [a2a()],`,
    limit: 91.25,
  },
  {
    name: 'every plugin, Durable Objects',
    imports: { [CORE]: ['createHandler', ...SMALL], ...OBJECTS, ...ROOMS },
    ...IN_OBJECTS,
    options: `${IN_OBJECTS.options} plugins: [${ALL}],`,
    limit: 287.5,
  },
  { name: '`createHandler` of `servable`', imports: { [FULL]: ['createHandler'] }, limit: 138.05 },
  {
    name: '`createHandler` of `servable`, Durable Objects',
    imports: { [FULL]: ['createHandler'], ...OBJECTS },
    ...IN_OBJECTS,
    limit: 145.6,
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
