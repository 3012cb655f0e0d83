import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'

const E = {
  core: "import { createHandler } from './src/core-entry.ts'",
  a2a: "import { a2a } from './src/a2a/plugin.ts'",
  es: "import { eventSocket } from './src/gateway/plugin.ts'",
  m: "import { metrics, MetricsExporter } from './src/metrics/plugin.ts'",
  o: "import { openapi } from './src/openapi/plugin.ts'",
  ad: "import { admin } from './src/admin/plugin.ts'",
  t: "import { tools } from './src/plugins/tools.ts'",
  small:
    "import { cors, corrections, rateLimit, uploads, trustProxy, memoryState } from './src/core-entry.ts'",
  do: "import { durableState, durableObjects } from './src/runtimes/cloudflare.ts'",
}
async function size(imports: string[], plugins: string, more = '', tail = '') {
  const code = `${imports.join('\n')}\nexport const h = createHandler({ agents: {}, ${more} plugins: [${plugins}] }); export default { fetch: h }; ${tail}`
  const r = await build({
    stdin: { contents: code, resolveDir: process.cwd(), loader: 'ts' },
    bundle: true,
    minify: true,
    format: 'esm',
    write: false,
    metafile: true,
    conditions: ['workerd', 'worker'],
    external: ['cloudflare:*', 'node:*'],
    logLevel: 'error',
  })
  return gzipSync(r.outputFiles[0]!.contents, { level: 9 }).length / 1024
}
const base = await size([E.core], '')
const row = (n: string, v: number) => console.log(n.padEnd(30), v.toFixed(1), '+' + (v - base).toFixed(1))
row('core', base)
row('memoryState', await size([E.core, E.small], '', 'state: memoryState(),'))
const DO = ['state: durableState(),', 'export const { ServableRun } = durableObjects(h)'] as const
const d = await size([E.core, E.do], '', ...DO)
row('core + DO', d)
row('cors', await size([E.core, E.small], 'cors(true)'))
row('trustProxy', await size([E.core, E.small], 'trustProxy(1)'))
row('corrections', await size([E.core, E.small], 'corrections()'))
row('rateLimit', await size([E.core, E.small], 'rateLimit()'))
row('uploads', await size([E.core, E.small], 'uploads()'))
row('tools', await size([E.core, E.t], 'tools()'))
row('metrics', await size([E.core, E.m], 'metrics(new MetricsExporter())'))
row('admin', await size([E.core, E.ad], 'admin()'))
row('openapi', await size([E.core, E.o], 'openapi()'))
row('eventSocket', await size([E.core, E.es], 'eventSocket()'))
row('a2a', await size([E.core, E.a2a], 'a2a()'))
row('DO + eventSocket', await size([E.core, E.do, E.es], 'eventSocket()', ...DO))
row('DO + a2a', await size([E.core, E.do, E.a2a], 'a2a()', ...DO))
row(
  'all as plugins + DO',
  await size(
    Object.values(E),
    'cors(true), rateLimit(), uploads(), trustProxy(1), corrections(), tools(), openapi(), metrics(new MetricsExporter()), admin(), a2a(), eventSocket()',
    ...DO,
  ),
)
row('servable', await size(["import { createHandler } from './src/index.ts'"], ''))
row('servable + DO', await size(["import { createHandler } from './src/index.ts'", E.do], '', ...DO))
