/** Requests of clients of MCP to a handler in this process. */
import { createHandler, type HandlerOptions, type LogEntry, Registry } from '../../../src/index.ts'
import { type McpOptions, mcp } from '../../../src/protocols/mcp/plugin.ts'

export const VERSION = 'io.modelcontextprotocol/protocolVersion'
export const CAPABILITIES = 'io.modelcontextprotocol/clientCapabilities'

/** What a client can do that shows forms. */
export const SHOWS_FORMS = { elicitation: { form: {} } }

/** What a client can do that takes tasks. */
export const TAKES_TASKS = {
  extensions: { 'io.modelcontextprotocol/tasks': {} },
}

/** Any JSON: tests look into it as they need. */
// biome-ignore lint/suspicious/noExplicitAny: an answer is read member by member, and compared
export type Json = any

export interface Told {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  /** The message, or the last one of a stream. */
  readonly message: Json
  readonly result: Json
  readonly error: Json
}

export interface Asked {
  readonly id?: unknown
  readonly headers?: Readonly<Record<string, string>>
  readonly capabilities?: object
  readonly meta?: object
  readonly url?: string
  readonly signal?: AbortSignal
  /** What the runtime knows of the request. */
  readonly platform?: unknown
}

/** Serves, and gives what clients do. */
export function serve(options: McpOptions = { tools: true }, handlerOptions: HandlerOptions = {}) {
  const log: LogEntry[] = []
  const handler = createHandler({
    production: true,
    logger: entry => void log.push(entry),
    registry: new Registry(),
    ...handlerOptions,
    plugins: [mcp(options), ...(handlerOptions.plugins ?? [])],
  })
  const send = (body: string, { headers, url = 'http://127.0.0.1/mcp', signal, platform }: Asked = {}) => {
    const init: RequestInit = {
      method: 'POST',
      body,
      headers: { ...HEADERS, ...headers },
    }
    return handler(new Request(url, { ...init, ...(signal && { signal }) }), platform as never)
  }
  const post = async (body: string, asked?: Asked) => readAnswer(await send(body, asked))
  /** A request of 2026-07-28. */
  const modern = (method: string, params: object = {}, asked: Asked = {}) => {
    const { capabilities = {}, meta } = asked
    const _meta = {
      [VERSION]: '2026-07-28',
      [CAPABILITIES]: capabilities,
      ...meta,
    }
    const { name, taskId, uri } = params as { name?: unknown; taskId?: unknown; uri?: unknown }
    const named = name ?? taskId ?? uri
    const headers = {
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': method,
      ...(typeof named === 'string' && { 'mcp-name': named }),
      ...asked.headers,
    }
    const body = JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      ...idOf(asked),
      method,
      params: { _meta, ...params },
    })
    return [body, { ...asked, headers }] as const
  }
  /** A request of an earlier revision. */
  const legacy = (method: string, params: object = {}, asked: Asked = {}) =>
    [
      JSON.stringify({ jsonrpc: '2.0', id: 1, ...idOf(asked), method, params }),
      {
        ...asked,
        headers: { 'mcp-protocol-version': '2025-11-25', ...asked.headers },
      },
    ] as const
  return {
    handler,
    log,
    send,
    post,
    ask: (method: string, params?: object, asked?: Asked) => post(...modern(method, params, asked)),
    askLegacy: (method: string, params?: object, asked?: Asked) => post(...legacy(method, params, asked)),
    /** Opens the stream of a request of 2026-07-28. */
    stream: (method: string, params?: object, asked?: Asked) => send(...modern(method, params, asked)),
    call: (
      name: string,
      args: object = { input: 'x' },
      { params, ...asked }: Asked & { params?: object } = {},
    ) => post(...modern('tools/call', { name, arguments: args, ...params }, asked)),
    open: (name: string, args: object = { input: 'x' }, asked?: Asked) =>
      send(...modern('tools/call', { name, arguments: args }, asked)),
    list: async (asked?: Asked): Promise<Json[]> =>
      (await post(...modern('tools/list', {}, asked))).result.tools,
  }
}

export type Served = ReturnType<typeof serve>

const idOf = (asked: Asked) => ('id' in asked ? { id: asked.id } : {})

const HEADERS = {
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
  host: '127.0.0.1',
}

/** The messages of a stream. */
export function messagesIn(text: string): Json[] {
  return text.split('\n').flatMap(line => (line.startsWith('data: ') ? [JSON.parse(line.slice(6))] : []))
}

async function readAnswer(response: Response): Promise<Told> {
  const text = await response.text()
  const isStream = response.headers.get('content-type') === 'text/event-stream'
  const message = isStream ? messagesIn(text).at(-1) : text === '' ? undefined : JSON.parse(text)
  return {
    ...response,
    status: response.status,
    headers: response.headers,
    text,
    message,
    ...message,
  }
}
