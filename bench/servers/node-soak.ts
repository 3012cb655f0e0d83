import process from 'node:process'
import { memoryState, type State } from '../../src/index.ts'
import { serve } from '../../src/runtimes/node.ts'
import { postgresState } from '../../src/runtimes/postgres.ts'
import { sqliteState } from '../../src/runtimes/sqlite.ts'
import { failAtRandom } from './failing-sqlite.ts'
import { soakHandler, soakOptions } from './soak.ts'
import { collect } from './socket-gc.ts'

const { PORT = 0, RETENTION_MS = 120_000, HOOK_URL = '', DATABASE } = process.env
const maxAgeMs = Number(RETENTION_MS)

/** Collects garbage, and gives the bytes in use after that. */
function held(): string {
  collect()
  const { heapUsed, external } = process.memoryUsage()
  return String(heapUsed + external)
}

const isShared = DATABASE?.startsWith('postgres://') ?? false

// The runs of a process that was killed end seconds later. They must not be among the oldest, which leave, before anyone has read that.
const maxRuns = DATABASE === undefined ? 1000 : 5000

function stateOf(): State {
  if (DATABASE === undefined) return memoryState({ maxRuns, maxAgeMs })
  if (isShared) return postgresState({ url: DATABASE, listenUrl: DATABASE, maxRuns })
  return sqliteState({ path: DATABASE, maxRuns })
}

// Several processes are behind a proxy.
const behind = isShared ? { trustProxy: 1 } : {}
const handler = soakHandler({ ...soakOptions(stateOf(), maxAgeMs, HOOK_URL), ...behind }, held)
const server = await serve(handler, { port: Number(PORT) })
if (DATABASE !== undefined && !isShared) failAtRandom()
console.log(`listening ${server.url}`)
