/** Serves the same graphs over servable's own interface of LangGraph. */
import process from 'node:process'
import { toAgent } from '../../../src/adapters/frameworks/index.ts'
import { sessions } from '../../../src/features/sessions/plugin.ts'
import { bearerAuth, createHandler, memoryState, Registry } from '../../../src/index.ts'
import { langGraph } from '../../../src/protocols/langgraph-api/plugin.ts'
import { serve } from '../../../src/runtimes/node.ts'
import * as graphs from './graphs.ts'

const handler = createHandler({
  serve: Object.entries(graphs).map(([name, graph]) => toAgent(graph, { name })),
  registry: new Registry(),
  state: memoryState(),
  middleware: [bearerAuth({ tokens: { ann: 'ann', bob: 'bob' } })],
  cors: true,
  ...(!process.env.LOG && { logger: false as const }),
  plugins: [sessions(), langGraph()],
})

const server = await serve(handler, { port: Number(process.env.PORT ?? 0) })
console.log(`listening ${server.url}`)
