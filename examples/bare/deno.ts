// No adapter: the handler itself goes to `Deno.serve`.
// deno run --allow-net --allow-env=PORT examples/bare/deno.ts
import process from 'node:process'
import { createHandler, type Handler } from '../../src/index.ts'
import * as agents from '../agents.ts'

// In your editor, Deno's own types declare it.
declare const Deno: {
  serve(
    options: { hostname: string; port: number; onListen(address: { port: number }): void },
    handler: Handler,
  ): unknown
}

Deno.serve(
  {
    hostname: '127.0.0.1',
    port: Number(process.env.PORT || 8787),
    onListen: ({ port }) => console.log(`listening http://127.0.0.1:${port}`),
  },
  createHandler({ cors: true, serve: Object.values(agents) }),
)
