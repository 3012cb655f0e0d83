import process from 'node:process'
import { memoryState } from '../../src/index.ts'
import { serve } from '../../src/runtimes/node.ts'
import { soakHandler, soakOptions } from './soak.ts'
import { collect } from './socket-gc.ts'

const { PORT = 0, RETENTION_MS = 120_000 } = process.env
const maxAgeMs = Number(RETENTION_MS)

/** Collects garbage, and says how many bytes are held then. */
function held(): string {
  collect()
  const { heapUsed, external } = process.memoryUsage()
  return String(heapUsed + external)
}

const handler = soakHandler(soakOptions(memoryState({ maxRuns: 200, maxAgeMs }), maxAgeMs), held)
const server = await serve(handler, { port: Number(PORT) })
console.log(`listening ${server.url}`)
