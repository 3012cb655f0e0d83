/** The README's server with the interfaces of OpenAI, the AI SDK and MCP. */

import { Agent, createHandler, textOf } from '../../../src/index.ts'
import { aiSdkUi } from '../../../src/protocols/ai-sdk-ui/plugin.ts'
import { mcp } from '../../../src/protocols/mcp/plugin.ts'
import { openai } from '../../../src/protocols/openai/plugin.ts'
import { serve } from '../../../src/runtimes/node.ts'
import { echo } from '../echo.ts'

new Agent({
  name: 'echo',
  description: 'Says the input back',
  run: (input, { signal }) => echo(textOf(input), signal),
})

const plugins = [openai(), aiSdkUi(), mcp({ tools: ['echo'] })]
const server = await serve(createHandler({ plugins }), { port: 0 })
console.log(`listening ${server.url}`)
