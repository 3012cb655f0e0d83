import process from 'node:process'
import * as agents from '../../../examples/agents.ts'
import { createHandler, Registry } from '../../../src/index.ts'
import { serve } from '../../../src/runtimes/node.ts'
import { swaggerUi } from '../../../src/runtimes/swagger-ui.ts'

const handler = createHandler({
  serve: Object.values(agents),
  registry: new Registry(),
  swagger: { enabled: true, title: 'Agents & <friends>', assets: swaggerUi() },
})
const server = await serve(handler, { port: Number(process.env.PORT) })
console.log(`listening ${server.url}`)
