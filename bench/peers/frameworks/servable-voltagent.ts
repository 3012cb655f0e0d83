/** VoltAgent's agent behind our handler. */

import { toAgent } from '../../../src/adapters/frameworks/index.ts'
import { createHandler } from '../../../src/index.ts'
import { serve } from '../../../src/runtimes/node.ts'
import { agent } from './voltagent-agent.ts'

const server = await serve(createHandler({ serve: [toAgent(agent)] }), { port: 0 })
console.log(`listening ${server.url}`)
