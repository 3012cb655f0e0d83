/** Which calls of tools of tool servers need an approval: as their definition says, and as their agent does. */
import { describe, expect, it } from 'vitest'
import { type ServerToolOptions, ToolServerManager } from '../../../src/adapters/mcp-client/index.ts'
import type { ServerTool, ToolServers } from '../../../src/agents/tool-servers.ts'
import { Agent } from '../../../src/index.ts'
import { drain } from '../../support.ts'
import { requestsIn, work } from '../model-agent/kit.ts'

/** A manager of a server `shop`, whose definition names `refund`. */
function makeManager() {
  const called: unknown[] = []
  const toolOf = (name: string): ServerTool => ({
    name: `shop.${name}`,
    server: 'shop',
    description: null,
    parameters: {},
    needsApproval: name === 'refund',
  })
  const servers = {
    tools: async () => [toolOf('refund'), toolOf('find')],
    needsApproval: async (name: string) => name === 'shop.refund',
    async call(name: string, args: unknown) {
      called.push([name, args])
      return 'done'
    },
  }
  const manager = new ToolServerManager({ register: false })
  manager.use(servers as Partial<ToolServers> as ToolServers)
  return { manager, called }
}

/** The tools that an agent has to ask for, of both. */
async function askedFor(options: ServerToolOptions | undefined, how: 'tool' | 'tools', args: object = {}) {
  const { manager, called } = makeManager()
  const names = ['shop.refund', 'shop.find']
  const tools =
    how === 'tools' ? await manager.tools(options) : names.map(name => manager.tool(name, options))
  const asked: unknown[] = []
  for (const tool of tools) {
    const agent = new Agent({
      name: 'clerk',
      register: false,
      async *run(_, { callTool }) {
        yield String(yield* callTool(tool, args))
      },
    })
    const events = await drain(agent.stream('', { runId: 'r', userId: 'ada', work: work() }))
    asked.push(...requestsIn(events).map(({ toolName }) => toolName))
  }
  expect(called).toEqual(names.filter(name => !asked.includes(name)).map(name => [name, args]))
  return asked
}

describe.each(['tool', 'tools'] as const)('`manager.%s`', how => {
  it.each([
    ['of the definition', undefined, ['shop.refund']],
    ['of the definition, whatever the agent leaves out', { needsApproval: false }, ['shop.refund']],
    ['all', { needsApproval: true }, ['shop.refund', 'shop.find']],
    ['that the agent names', { needsApproval: ['shop.find'] }, ['shop.refund', 'shop.find']],
    [
      'for which a function says so',
      { needsApproval: (name: string) => name === 'shop.find' },
      ['shop.refund', 'shop.find'],
    ],
  ])('asks for those %s', async (_, options, expected) => {
    expect(await askedFor(options, how)).toEqual(expected)
  })

  it('gives the function the arguments and who asks', async () => {
    const needsApproval: ServerToolOptions['needsApproval'] = (_, args, { userId }) =>
      userId === 'ada' && Object(args).amount > 10
    expect(await askedFor({ needsApproval }, how, { amount: 11 })).toEqual(['shop.refund', 'shop.find'])
    expect(await askedFor({ needsApproval }, how, { amount: 9 })).toEqual(['shop.refund'])
  })
})
