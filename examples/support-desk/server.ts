import process from 'node:process'
import { bearerAuth, createHandler } from 'servable'
import { serve } from 'servable/node'
import { sqliteState } from 'servable/sqlite'
import { desk, orders } from './agents.ts'

const handler = createHandler({
  agents: { orders },
  teams: { desk },
  // Two users. In production take tokens from your secrets, or check them with `bearerAuth({ verify })`.
  middleware: [bearerAuth({ tokens: { 'token-of-ada': 'ada', 'token-of-bob': 'bob' } })],
  // Conversations and stored runs survive a restart.
  state: sqliteState({ path: process.env.DATABASE ?? 'support-desk.db' }),
})

const server = await serve(handler, { port: Number(process.env.PORT ?? 3000) })
console.log(`listening ${server.url}`)

process.once('SIGTERM', async () => {
  await server.close({ graceMs: 30_000 })
  process.exit()
})
