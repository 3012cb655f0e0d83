import { memoryState } from '../../src/index.ts'
import { serve } from '../../src/runtimes/node.ts'
import { soakHandler, soakOptions } from './soak.ts'
import { collect } from './socket-gc.ts'

const { PORT = 0, RETENTION_MS = 120_000 } = process.env
const maxAgeMs = Number(RETENTION_MS)
const handler = soakHandler(soakOptions(memoryState({ maxAgeMs }), maxAgeMs), collect)
const server = await serve(handler, { port: Number(PORT) })
console.log(`listening ${server.url}`)
