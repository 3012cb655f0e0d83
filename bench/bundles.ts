/** Bytes of what a deployment carries, minified and gzipped: `node bench/bundles.ts`. */
import { gzipSync } from 'node:zlib'
import { bundleWorker } from '../test/runtimes/worker.ts'

const bundles = [
  ['a handler', 'bench/worker/core.ts'],
  [
    'every built-in part: A2A, socket, metrics, admin, documentation, Durable Objects',
    'bench/worker/index.ts',
  ],
  ['that and `servable/model-agent` (with the AI SDK)', 'bench/worker/ai.ts'],
  ['`servable/mcp-client` alone (with the official client)', 'src/mcp-client/index.ts'],
  ['`servable/adapters` alone', 'src/adapters/index.ts'],
  ['`servable/client` alone', 'src/client/index.ts'],
] as const

for (const [what, entry] of bundles) {
  const code = await bundleWorker(entry, { minify: true })
  const kib = (bytes: number) => (bytes / 1024).toFixed(1)
  console.log(
    `${kib(gzipSync(code, { level: 9 }).byteLength).padStart(7)} KiB (${kib(code.length)} before gzip)  ${what}`,
  )
}
