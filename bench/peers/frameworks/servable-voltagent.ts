/** VoltAgent's agent, served by us. */

import { servable } from '../../../src/adapters/index.ts'
import { createHandler } from '../../../src/index.ts'
import { serve } from '../../../src/runtimes/node.ts'
import { agent } from './voltagent-agent.ts'

const server = await serve(createHandler({ serve: [servable(agent)] }), { port: 0 })
console.log(`listening ${server.url}`)
