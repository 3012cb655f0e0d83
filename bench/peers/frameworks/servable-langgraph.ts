/** LangGraph's graph behind our handler. */

import { toAgent } from '../../../src/adapters/frameworks/index.ts'
import { createHandler } from '../../../src/index.ts'
import { serve } from '../../../src/runtimes/node.ts'
import { graph } from './langgraph-graph.ts'

const server = await serve(createHandler({ serve: [toAgent(graph)] }), { port: 0 })
console.log(`listening ${server.url}`)
