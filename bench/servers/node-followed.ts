/** Serves an agent that says a number of pieces with a pause between them. The environment selects its state. */
import process from 'node:process'
import { createHandler, memoryState } from '../../src/index.ts'
import { serve } from '../../src/runtimes/node.ts'
import { sqliteState } from '../../src/runtimes/sqlite.ts'

const { DATABASE, PORT = '0', PIECES = '100', PAUSE_MS = '10', STORE = 'all' } = process.env

const pacer = {
  kind: 'agent',
  name: 'pacer',
  async *stream() {
    for (let piece = 0; piece < Number(PIECES); piece++) {
      await new Promise(resolve => setTimeout(resolve, Number(PAUSE_MS)))
      yield { type: 'text', text: `piece ${piece} of what a model says ` } as const
    }
    yield { type: 'finish', finishReason: 'stop' } as const
  },
} as const

const handler = createHandler({
  registry: false,
  production: true,
  agents: { pacer },
  state: DATABASE === undefined ? memoryState() : sqliteState({ path: DATABASE }),
  runs: { store: STORE as 'all', maxRunning: 10_000, maxRunningPerOwner: 10_000 },
})
const server = await serve(handler, { port: Number(PORT) })
console.log(`listening ${server.url}`)
