/** What a Worker carries that uses some of the parts: the price list, and the limits that hold it. */
import { gzipSync } from 'node:zlib'
import { build, type Metafile } from 'esbuild'
import { root } from './runtimes/process.ts'

/** A Worker. */
export interface Bundle {
  readonly name: string
  /** What it imports, by entry. */
  readonly imports: Readonly<Record<string, readonly string[]>>
  /** Members of the options. */
  readonly options?: string
  /** What stands after the handler. */
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
  'src/metrics/plugin.ts': ['metrics', 'MetricsExporter'],
  'src/admin/plugin.ts': ['admin'],
  'src/openapi/plugin.ts': ['openapi'],
  'src/gateway/plugin.ts': ['eventSocket'],
  'src/a2a/plugin.ts': ['a2a'],
} as const

/** The core with one plugin, and a state where it keeps something. */
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
  'cors(true), rateLimit(), uploads(), trustProxy(1), corrections(), tools(), openapi(),',
  'metrics(new MetricsExporter()), admin(), a2a(), eventSocket()',
].join(' ')

/** The price list. */
export const BUNDLES: readonly Bundle[] = [
  { name: 'core', imports: { [CORE]: ['createHandler'] }, limit: 27 },
  {
    name: 'core, `memoryState()`',
    imports: { [CORE]: ['createHandler', 'memoryState'] },
    options: 'state: memoryState(),',
    limit: 36.3,
  },
  {
    name: 'core, Durable Objects',
    imports: { [CORE]: ['createHandler'], ...OBJECTS },
    ...IN_OBJECTS,
    limit: 41.2,
  },
  withPlugin('`cors()`', CORE, 'cors(true)', 27.7),
  withPlugin('`trustProxy()`', CORE, 'trustProxy(1)', 27.7),
  withPlugin('`rateLimit()`', CORE, 'rateLimit()', 28.5),
  withPlugin('`uploads()`', CORE, 'uploads()', 30.7),
  withPlugin('`corrections()`, `memoryState()`', CORE, 'corrections()', 37.6, true),
  withPlugin('`tools()`', 'src/plugins/tools.ts', 'tools()', 31.2),
  withPlugin('`admin()`, `memoryState()`', 'src/admin/plugin.ts', 'admin()', 44.2, true),
  withPlugin('`metrics()`', 'src/metrics/plugin.ts', 'metrics(new MetricsExporter())', 35.8),
  withPlugin('`openapi()`', 'src/openapi/plugin.ts', 'openapi()', 38.3),
  withPlugin('`eventSocket()`', 'src/gateway/plugin.ts', 'eventSocket()', 46.1),
  withPlugin('`a2a()`, `memoryState()`', 'src/a2a/plugin.ts', 'a2a()', 64.9, true),
  {
    name: 'core, Durable Objects, `eventSocket()`',
    imports: { [CORE]: ['createHandler'], ...OBJECTS, 'src/gateway/plugin.ts': ['eventSocket'] },
    ...IN_OBJECTS,
    options: `${IN_OBJECTS.options} plugins: [eventSocket()],`,
    limit: 60,
  },
  {
    name: 'core, Durable Objects, `a2a()`',
    imports: { [CORE]: ['createHandler'], ...OBJECTS, 'src/a2a/plugin.ts': ['a2a'] },
    ...IN_OBJECTS,
    options: `${IN_OBJECTS.options} plugins: [a2a()],`,
    limit: 69.2,
  },
  {
    name: 'every plugin, Durable Objects',
    imports: { [CORE]: ['createHandler', ...SMALL], ...OBJECTS, ...ROOMS },
    ...IN_OBJECTS,
    options: `${IN_OBJECTS.options} plugins: [${ALL}],`,
    limit: 117,
  },
  { name: '`createHandler` of `servable`', imports: { [FULL]: ['createHandler'] }, limit: 111.6 },
  {
    name: '`createHandler` of `servable`, Durable Objects',
    imports: { [FULL]: ['createHandler'], ...OBJECTS },
    ...IN_OBJECTS,
    limit: 118.3,
  },
]

/** What a Worker is made of. */
export interface Bundled {
  readonly code: string
  readonly kib: number
  readonly metafile: Metafile
}

/** Bundles as a deploy does. */
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
    stdin: { contents, resolveDir: root, loader: 'ts' },
    absWorkingDir: root,
    bundle: true,
    write: false,
    minify: true,
    metafile: true,
    format: 'esm',
    target: 'es2024',
    conditions: ['workerd', 'worker', 'browser'],
    mainFields: ['browser', 'module', 'main'],
    external: ['cloudflare:*', 'node:*'],
    define: { 'process.env.NODE_ENV': '"production"' },
    logLevel: 'silent',
  })
  const code = outputFiles[0]?.text ?? ''
  return { code, kib: gzipSync(code, { level: 9 }).byteLength / 1024, metafile }
}
