// No adapter: the handler itself goes to `Bun.serve`.
import process from 'node:process'
import { createHandler, type Handler } from '../../src/index.ts'
import * as agents from '../agents.ts'

// In your own project, `@types/bun` declares it.
declare const Bun: {
  serve(options: { hostname: string; port: number; idleTimeout: number; fetch: Handler }): { port: number }
}

const server = Bun.serve({
  hostname: '127.0.0.1',
  port: Number(process.env.PORT || 8787),
  // Bun would close a response that is silent for ten seconds.
  idleTimeout: 0,
  fetch: createHandler({ cors: true, serve: Object.values(agents) }),
})
console.log(`listening http://127.0.0.1:${server.port}`)
