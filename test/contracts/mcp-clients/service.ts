/** The service that stock clients of MCP call. Every runtime serves it with a state of its own. */
import { bearerAuth, createHandler, type Handler, type State } from '../../../src/index.ts'
import {
  directTools,
  mcp,
  mcpAuth,
  mcpPrompts,
  mcpResources,
  mcpTasks,
} from '../../../src/protocols/mcp/plugin.ts'
import { define } from '../mcp/word-prompt.ts'
import { agents, arithmetic, tools } from './agents.ts'

/** What a deployment is told. */
export interface Settings {
  /** The address of the endpoint. */
  readonly resource?: string
  /** The address of the authorization server. */
  readonly issuer?: string
}

/** Tokens name their users, but for one that nobody has. */
const userOf = (token: string) => (token === 'wrong' ? undefined : { id: token })

export function handlerOn(state: State, settings = ''): Handler {
  const { resource = 'https://tools.example/mcp', issuer = 'https://login.example' }: Settings = JSON.parse(
    settings || '{}',
  )
  return createHandler({
    production: true,
    registry: false,
    agents,
    state,
    middleware: [bearerAuth({ verify: userOf })],
    plugins: [
      mcp({
        tools,
        resources: mcpResources({
          'words://all': { read: () => 'lamp, oil' },
          'words://of/{user}': {
            read: ({ identity, params }) =>
              params.user === identity?.id ? new Uint8Array([3, 3, 3]) : undefined,
            list: ({ identity }) => [{ uri: `words://of/${identity?.id}` }],
          },
          // It is another one whenever somebody looks.
          'words://newest': { read: () => crypto.randomUUID() },
        }),
        prompts: mcpPrompts({
          define,
        }),
        directTools: directTools({ toolkits: [arithmetic] }),
        tasks: mcpTasks({ afterMs: 300, pollIntervalMs: 100 }),
        instructions: 'Ask before you pay.',
        auth: mcpAuth({
          resource,
          authorizationServers: [issuer],
          verify(token) {
            const user = userOf(token)
            return user && { ...user, audience: resource }
          },
        }),
      }),
    ],
  })
}
