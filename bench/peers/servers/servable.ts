/** As the README says it, with an agent that is served by name. */

import { Agent, createHandler, textOf } from '../../../src/index.ts'
import { serve } from '../../../src/runtimes/node.ts'
import { echo } from '../echo.ts'

new Agent({
  name: 'echo',
  run: (input, { signal }) => echo(textOf(input), signal),
})

const server = await serve(createHandler(), { port: 0 })
console.log(`listening ${server.url}`)
