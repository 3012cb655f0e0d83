/**
 * Sizes of the bundles of a deployment, minified and gzipped: `node bench/bundles.ts`. What it measures becomes the tables of
 * prices.
 */
import { gzipSync } from 'node:zlib'
import { BUILT } from '../src/features/console/built.ts'
import { BUNDLES, bundle } from '../test/repository/bundles.ts'
import { bundleWorker } from '../test/runtimes/worker.ts'
import { keep, type Weight } from './prices.ts'

const ENTRIES = {
  'the core with `worker()`': 'bench/worker/plain-core.ts',
  'the core with `worker()` and Durable Objects': 'bench/worker/core-objects.ts',
  'every built-in part': 'bench/worker/index.ts',
  'every built-in part and `servable/model-agent`, with the AI SDK': 'bench/worker/ai.ts',
  '`servable/mcp-client` alone, with the official client': 'src/adapters/mcp-client/index.ts',
  '`servable/a2a-client` alone, with the official client': 'src/adapters/a2a-client/index.ts',
  '`servable/adapters` alone': 'src/adapters/frameworks/index.ts',
  '`servable/client` alone': 'src/client/index.ts',
}

function weigh(name: string, code: string): Weight {
  const weight = { gzip: gzipSync(code, { level: 9 }).byteLength, plain: code.length }
  console.log(`${name}: ${(weight.gzip / 1024).toFixed(2)} KiB`)
  return weight
}

const bundles: Record<string, Weight> = {}
for (const one of BUNDLES) bundles[one.name] = weigh(one.name, (await bundle(one)).code)
const entries: Record<string, Weight> = {}
for (const [name, entry] of Object.entries(ENTRIES))
  entries[name] = weigh(name, await bundleWorker(entry, { minify: true }))
// Their names end with a digest.
const files = Object.fromEntries(
  Object.entries(BUILT.files).map(([name, { text }]) => [name.replace(/-.*(?=\.)/, ''), weigh(name, text)]),
)
keep({ bundles, entries, files })
