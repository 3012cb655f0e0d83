/** A real tool server from the official package: a pure fetch, for every runtime. */
import {
  acceptedContent,
  createMcpHandler,
  inputRequired,
  McpServer,
  ResourceTemplate,
} from '@modelcontextprotocol/server'
import * as z from 'zod'

/** What a tool server records of its callers. */
export interface Seen {
  readonly calls: string[]
  /** Calls of `wait` that were cancelled. */
  cancelled: number
  /** Values of the `authorization` header. */
  readonly credentials: Set<string | null>
}

export interface ToolServerFixture {
  fetch(request: Request): Promise<Response>
  readonly seen: Seen
  /** Adds a tool, and notifies listeners. */
  grow(name: string): void
}

/** How a tool server is. */
export interface ToolServerWays {
  readonly token?: string
  /** Whether it has a tool that asks questions. */
  readonly asks?: boolean
}

/** Adds a tool that asks for a size and then for a colour, and remembers the size in its state. */
function addAsking(server: McpServer, seen: Seen): void {
  const inputSchema = z.object({ item: z.string() })
  server.registerTool('order', { inputSchema }, ({ item }, { mcpReq }) => {
    seen.calls.push(item)
    const { inputResponses } = mcpReq
    const state = mcpReq.requestState<string>()
    const ask = (key: string, message: string, requestState: string) =>
      inputRequired({
        inputRequests: {
          [key]: inputRequired.elicit({
            message,
            requestedSchema: { type: 'object', properties: { [key]: { type: 'string' } }, required: [key] },
          }),
        },
        requestState,
      })
    if (state === undefined) return ask('size', `Which size of ${item}?`, 'state-1')
    const given = (key: string) => acceptedContent(inputResponses, key)?.[key] ?? 'any'
    if (state === 'state-1') return ask('colour', 'Which colour?', `state-2 ${given('size')}`)
    const [, size] = state.split(' ')
    return { content: [{ type: 'text', text: `${item}, ${size}, ${given('colour')}` }] }
  })
}

/** Makes a tool server. With a token it refuses callers without that token (RFC 9728, section 5.1). */
export function toolServer({ token, asks = false }: ToolServerWays = {}): ToolServerFixture {
  const seen: Seen = { calls: [], cancelled: 0, credentials: new Set() }
  const more: string[] = []
  const handler = createMcpHandler(() => {
    const server = new McpServer(
      { name: 'test', version: '1.0.0' },
      { capabilities: { tools: { listChanged: true } } },
    )
    const city = z.object({ city: z.string() })
    server.registerTool(
      'forecast',
      { description: 'The weather of a city', inputSchema: city },
      ({ city }) => {
        seen.calls.push(city)
        return { content: [{ type: 'text', text: `Sunny in ${city}` }] }
      },
    )
    server.registerTool(
      'sum',
      {
        inputSchema: z.object({ a: z.number(), b: z.number() }),
        outputSchema: z.object({ sum: z.number() }),
      },
      ({ a, b }) => ({ content: [], structuredContent: { sum: a + b } }),
    )
    server.registerTool('fail', { inputSchema: z.object({}) }, () => ({
      isError: true,
      content: [{ type: 'text', text: 'There is no weather today' }],
    }))
    server.registerTool('tell', { inputSchema: z.object({}) }, () => ({
      content: [{ type: 'text', text: `You sent ${[...seen.credentials].join(' and ')}` }],
    }))
    server.registerTool('wait', { inputSchema: z.object({}) }, (_, context) => {
      const { signal } = context.mcpReq
      return new Promise(resolve => {
        signal.addEventListener('abort', () => {
          seen.cancelled++
          resolve({ content: [] })
        })
      })
    })
    if (asks) addAsking(server, seen)
    const guide = (uri: URL, text: string) => ({
      contents: [{ uri: uri.href, mimeType: 'text/plain', text }],
    })
    server.registerResource('guide', 'docs://guide', { description: 'How it works' }, uri =>
      guide(uri, `Sent ${[...seen.credentials].join(' and ')}`),
    )
    server.registerResource(
      'city',
      new ResourceTemplate('docs://city/{city}', { list: undefined }),
      { mimeType: 'text/plain' },
      (uri, { city }) => guide(uri, `About ${city}`),
    )
    server.registerPrompt(
      'greet',
      { description: 'Greets', argsSchema: z.object({ name: z.string() }) },
      ({ name }) => ({ messages: [{ role: 'user', content: { type: 'text', text: `Hello ${name}` } }] }),
    )
    for (const name of more) {
      server.registerTool(name, { inputSchema: z.object({}) }, () => ({
        content: [{ type: 'text', text: name }],
      }))
    }
    return server
  })
  return {
    seen,
    grow(name) {
      more.push(name)
      handler.notify.toolsChanged()
    },
    async fetch(request) {
      const credentials = request.headers.get('authorization')
      seen.credentials.add(credentials)
      if (token !== undefined && credentials !== `Bearer ${token}`) {
        const challenge =
          'Bearer error="invalid_token", scope="weather:read", resource_metadata="https://tools.example.com/.well-known/oauth-protected-resource"'
        return new Response('no', { status: 401, headers: { 'www-authenticate': challenge } })
      }
      return handler.fetch(request)
    },
  }
}
