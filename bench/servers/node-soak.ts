import process from 'node:process'
import { memoryState } from '../../src/index.ts'
import { serve } from '../../src/runtimes/node.ts'
import { sqliteState } from '../../src/runtimes/sqlite.ts'
import { failAtRandom } from './failing-sqlite.ts'
import { soakHandler, soakOptions } from './soak.ts'
import { collect } from './socket-gc.ts'

const { PORT = 0, RETENTION_MS = 120_000, DATABASE } = process.env
const maxAgeMs = Number(RETENTION_MS)
const retention = { maxRuns: 200, maxAgeMs }

/** Collects garbage, and gives the bytes in use after that. */
function held(): string {
  collect()
  const { heapUsed, external } = process.memoryUsage()
  return String(heapUsed + external)
}

const state = DATABASE === undefined ? memoryState(retention) : sqliteState({ path: DATABASE, ...retention })
const handler = soakHandler(soakOptions(state, maxAgeMs), held)
const server = await serve(handler, { port: Number(PORT) })
if (DATABASE !== undefined) failAtRandom()
console.log(`listening ${server.url}`)
