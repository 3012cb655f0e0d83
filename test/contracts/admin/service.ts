/** The service of the admin contract: it serves tool servers, and an agent that calls their tools. */

import type {
  OpenStdio,
  ToolServerManager,
  ToolServerManagerOptions,
} from '../../../src/adapters/mcp-client/index.ts'
import { ToolServerManager as Manager } from '../../../src/adapters/mcp-client/index.ts'
import {
  Agent,
  bearerIdentity,
  createHandler,
  type Handler,
  type HandlerOptions,
  type State,
  textOf,
} from '../../../src/index.ts'

export const ADMIN_TOKEN = 'token-of-an-administrator'

/** The token of another one. */
export const OTHER_TOKEN = 'token-of-another-administrator'

/** A key that encrypts stored data. */
export const ENCRYPTION_KEY: string = btoa('0123456789abcdef0123456789abcdef')

const limits: ToolServerManagerOptions = {
  register: false,
  encryptionKey: ENCRYPTION_KEY,
  // A program that a busy machine starts takes seconds.
  connectTimeoutMs: 15_000,
  callTimeoutMs: 2500,
  retryMs: 100,
  maxRetryMs: 400,
}

/** The manager of the service. */
export function newManager(stdio?: OpenStdio): ToolServerManager {
  return new Manager({ ...limits, ...(stdio && { stdio }) })
}

/** Calls the tool that its input names: `server.tool {"its":"arguments"}`. */
const caller = (manager: ToolServerManager) =>
  new Agent({
    name: 'caller',
    register: false,
    async *run(input, { callTool }) {
      const [, name = '', args = '{}'] = /^(\S+) ?(.*)$/s.exec(textOf(input)) ?? []
      const result = yield* callTool(manager.tool(name), JSON.parse(args))
      yield typeof result === 'string' ? result : JSON.stringify(result)
    },
  })

/** Calls the tool that its input names, and is asked what the tool asks. */
const asker = (manager: ToolServerManager) =>
  new Agent({
    name: 'asker',
    register: false,
    async *run(input, context) {
      const [, name = '', args = '{}'] = /^(\S+) ?(.*)$/s.exec(textOf(input)) ?? []
      yield JSON.stringify(yield* manager.call(context, name, JSON.parse(args)))
    },
  })

/** Reads what its input asks for: `server {"kind":"resource","uri":"…"}`. */
const reader = (manager: ToolServerManager) =>
  new Agent({
    name: 'reader',
    register: false,
    async *run(input, { signal, traceparent }) {
      const [, server = '', query = ''] = /^(\S+) (.*)$/s.exec(textOf(input)) ?? []
      yield JSON.stringify(await manager.servers.read(server, JSON.parse(query), { signal, traceparent }))
    },
  })

/** The handler of the service. `more` is what a deployment adds. */
export function handlerOn(
  state: State,
  _settings?: string,
  more: HandlerOptions = {},
  stdio?: OpenStdio,
): Handler {
  const manager = newManager(stdio)
  return createHandler({
    production: false,
    registry: false,
    agents: { caller: caller(manager), reader: reader(manager), asker: asker(manager) },
    state,
    toolkits: [
      {
        name: 'arithmetic',
        description: 'Sums',
        category: 'maths',
        tools: [{ name: 'add', execute: () => 3 }],
        configFields: [{ name: 'key', secret: true }],
      },
    ],
    swagger: { enabled: true },
    admin: {
      manager,
      authenticate: bearerIdentity({ tokens: { [ADMIN_TOKEN]: 'ada', [OTHER_TOKEN]: 'bob' } }),
      allow: ['127.0.0.1'],
      stdio: { commands: ['mcp-server-everything'] },
    },
    ...more,
  })
}
