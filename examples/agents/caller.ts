import { Agent, ServableError, textOf } from '../../src/index.ts'
import { toolServers } from '../tools.ts'

/** `server.tool`, then its arguments as JSON. */
const CALL = /^\s*([\w-]+\.[\w.-]+)\s*(\S[\s\S]*)?$/

/** Calls a tool of a tool server that is connected: `weather.forecast {"city":"Oslo"}`. */
export const caller: Agent = new Agent({
  name: 'caller',
  description:
    'Calls a tool of a connected tool server: its name and then its arguments, weather.forecast {"city":"Oslo"}',
  async *run(input, { callTool }) {
    const [, name, args = '{}'] = CALL.exec(textOf(input)) ?? []
    if (name === undefined) {
      const tools = await toolServers.servers.tools()
      yield tools.length === 0
        ? 'No tool server is connected: add one at POST /api/admin/mcp.'
        : `Say which tool to call, such as ${tools[0]?.name} {}. There are: ${tools.map(tool => tool.name).join(', ')}.`
      return
    }
    const result = yield* callTool(toolServers.tool(name), parse(args))
    yield typeof result === 'string' ? result : JSON.stringify(result)
  },
})

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new ServableError('invalid_input', 'After the name of the tool its arguments must follow as JSON', {
      cause,
    })
  }
}
