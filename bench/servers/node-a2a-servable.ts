import { createHandler, memoryState } from '../../src/index.ts'
import { serve } from '../../src/runtimes/node.ts'
import { echoAgent } from './a2a-echo.ts'

const { PORT = 0, PAUSE_MS = 0 } = process.env
const handler = createHandler({
  registry: false,
  production: true,
  agents: { echo: echoAgent(Number(PAUSE_MS)) },
  a2a: true,
  state: memoryState(),
})
const server = await serve(handler, { port: Number(PORT) })
console.log(`listening ${server.url}`)
