/** A service with agents of its own, in this process, and remote agents that reach it. */
import { type RemoteAgentOptions, remoteAgent } from '../../../src/adapters/a2a-client/index.ts'
import {
  Agent,
  type AgentConfig,
  createHandler,
  type Handler,
  type HandlerOptions,
  type RunEvent,
  type RunOptions,
  type ServableAgent,
} from '../../../src/index.ts'

export const BASE = 'http://remote.test'

/** A service that answers at {@link BASE}. */
export function service(run: AgentConfig['run'], options: HandlerOptions = {}): Handler {
  const agent = new Agent({ name: 'there', run, register: false })
  return createHandler({ registry: false, logger: false, serve: [agent], a2a: {}, ...options })
}

/** A request that a service got. */
export interface Got {
  readonly url: string
  readonly headers: Headers
  /** The method of JSON-RPC, or the path. */
  readonly method: string
  readonly body: Readonly<Record<string, unknown>>
}

/** Notes what a service gets. */
export function noting(handler: (request: Request) => Response | Promise<Response>) {
  const got: Got[] = []
  const fetch: NonNullable<RemoteAgentOptions['fetch']> = async (url, init) => {
    const request = new Request(url, init)
    const text = await request.clone().text()
    const body = text === '' ? {} : JSON.parse(text)
    const { pathname } = new URL(url)
    got.push({ url: String(url), headers: request.headers, method: body.method ?? pathname, body })
    return handler(request)
  }
  return { got, fetch, methods: () => got.map(({ method }) => method) }
}

/** A remote agent that reaches the service through `fetch`. */
export function remote(options: Partial<RemoteAgentOptions>): ServableAgent {
  return remoteAgent({
    url: BASE,
    name: 'here',
    allow: ['remote.test'],
    register: false,
    pollMs: 5,
    ...options,
  })
}

/** The events of a run. */
export async function eventsOf(
  agent: ServableAgent,
  input: Parameters<ServableAgent['run']>[0] = 'hi',
  options?: RunOptions,
) {
  const events: RunEvent[] = []
  for await (const event of agent.stream!(input, options)) events.push(event)
  return events
}
