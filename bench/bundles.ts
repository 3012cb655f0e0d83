/** Size of the bundles of a deployment in bytes, minified and gzipped: `node bench/bundles.ts`. */
import { gzipSync } from 'node:zlib'
import { BUNDLES, bundle } from '../test/bundles.ts'
import { bundleWorker } from '../test/runtimes/worker.ts'

const kib = (bytes: number) => bytes / 1024
const line = (what: string, gzipped: number, plain: number, beyond?: number) => {
  const more = beyond === undefined ? '' : ` | ${beyond < 0.05 ? '' : `+ ${beyond.toFixed(1)}`}`
  console.log(`| ${what} | ${gzipped.toFixed(1)} | ${kib(plain).toFixed(1)}${more} |`)
}

console.log('| Worker | KiB gzip | KiB before | over the core |\n|---|---|---|---|')
let core = 0
for (const one of BUNDLES) {
  const bundled = await bundle(one)
  core ||= bundled.kib
  line(one.name, bundled.kib, bundled.code.length, bundled.kib - core)
}

console.log('\n| entry | KiB gzip | KiB before |\n|---|---|---|')
for (const [what, entry] of [
  ['every built-in part and `servable/model-agent`, with the AI SDK', 'bench/worker/ai.ts'],
  ['`servable/mcp-client` alone, with the official client', 'src/mcp-client/index.ts'],
  ['`servable/a2a-client` alone, with the official client', 'src/a2a-client/index.ts'],
  ['`servable/adapters` alone', 'src/adapters/index.ts'],
  ['`servable/client` alone', 'src/client/index.ts'],
] as const) {
  const code = await bundleWorker(entry, { minify: true })
  line(what, kib(gzipSync(code, { level: 9 }).byteLength), code.length)
}
