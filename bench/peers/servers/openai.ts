/** The README's server with the interface of OpenAI. */

import { Agent, createHandler, textOf } from '../../../src/index.ts'
import { openai } from '../../../src/openai/plugin.ts'
import { serve } from '../../../src/runtimes/node.ts'
import { echo } from '../echo.ts'

new Agent({ name: 'echo', run: (input, { signal }) => echo(textOf(input), signal) })

const server = await serve(createHandler({ plugins: [openai()] }), { port: 0 })
console.log(`listening ${server.url}`)
