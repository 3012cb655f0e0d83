/** A hostile tool server. Its paths select how it misbehaves. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { listening } from '../../listening.ts'
import { OVERCODED, overcode } from '../overcoded.ts'

type Reply = (
  message: { id?: number; method: string },
  response: ServerResponse,
  request: IncomingMessage,
) => void

const json = (response: ServerResponse, value: unknown) => {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value))
}

const initialized = {
  protocolVersion: '2025-06-18',
  capabilities: { tools: {} },
  serverInfo: { name: 'hostile', version: '1' },
}

const tool = (name: unknown) => ({ name, description: 'x', inputSchema: { type: 'object' } })

/** A server that behaves correctly except where `reply` answers a message. */
const politely =
  (reply: Partial<Record<string, Reply>>, tools: readonly unknown[] = [tool('work')]): Reply =>
  (message, response, request) => {
    const { id, method } = message
    const own = reply[method]
    if (own !== undefined) return own(message, response, request)
    if (id === undefined) return void response.writeHead(202).end()
    if (method === 'initialize') return json(response, { jsonrpc: '2.0', id, result: initialized })
    if (method === 'tools/list') return json(response, { jsonrpc: '2.0', id, result: { tools } })
    return json(response, { jsonrpc: '2.0', id, error: { code: -32601, message: 'Method not found' } })
  }

const flood = (response: ServerResponse, head: string, chunk: string) => {
  response.writeHead(200, { 'content-type': head })
  const write = () => {
    while (!response.destroyed && response.write(chunk));
    if (!response.destroyed) response.once('drain', write)
  }
  write()
}

const garbage: Reply = ({ id }, response) => json(response, { jsonrpc: '3.0', id, answer: 42 })
const endless: Reply = (_, response) => flood(response, 'text/event-stream', `: ${'x'.repeat(65_536)}\n`)
const huge: Reply = (_, response) => flood(response, 'application/json', `"${'x'.repeat(65_536)}"`)
const silent: Reply = (_, response) => {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  response.write(': nothing follows\n\n')
}

/** Announces a change of its tools before it has listed any, and then fails to list them. */
const early = (): Reply => {
  const held: ServerResponse[] = []
  return politely({
    'tools/list': ({ id }, response) => {
      if (held.push(response) > 1)
        json(response, { jsonrpc: '2.0', id, error: { code: -32603, message: 'no' } })
    },
    'notifications/initialized': (_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      const changed = { jsonrpc: '2.0', method: 'notifications/tools/list_changed' }
      for (let count = 0; count < 5; count++) response.write(`data: ${JSON.stringify(changed)}\n\n`)
    },
  })
}

/** Loses a session after one call in it. */
const forgetful = (): Reply => {
  let sessions = 0
  let calls = 0
  return (message, response, request) => {
    const session = request.headers['mcp-session-id']
    if (message.method === 'initialize') response.setHeader('mcp-session-id', `session-${++sessions}`)
    else if (session !== undefined && session !== `session-${sessions}`)
      return void response.writeHead(404).end('gone')
    return politely({
      'tools/call': ({ id }) => {
        if (++calls % 2 === 1) {
          sessions++
          return void response.writeHead(404).end('gone')
        }
        json(response, { jsonrpc: '2.0', id, result: { content: [{ type: 'text', text: 'remembered' }] } })
      },
    })(message, response, request)
  }
}

/** A valid tool among invalid ones. */
const oddTools = [
  { name: 'none' },
  { name: 'empty', inputSchema: {} },
  { name: 'text', inputSchema: { type: 'string' } },
  { name: 'output', inputSchema: { type: 'object' }, outputSchema: { type: 'array' } },
  { name: 'number', description: 7, inputSchema: { type: 'object' } },
  null,
  'tool',
  tool(7),
  tool('good'),
]

const WAYS: Record<string, Reply> = {
  '/endless-connect': politely({ initialize: endless, 'server/discover': endless }),
  '/endless-call': politely({ 'tools/call': endless }),
  '/huge-connect': politely({ initialize: huge, 'server/discover': huge }),
  '/huge-call': politely({ 'tools/call': huge }),
  '/silent-connect': politely({ initialize: silent, 'server/discover': silent }),
  '/silent-call': politely({ 'tools/call': silent }),
  '/garbage-connect': politely({ initialize: garbage, 'server/discover': garbage }),
  '/garbage-list': politely({ 'tools/list': garbage }),
  '/garbage-call': politely({ 'tools/call': garbage }),
  '/no-json-call': politely({
    'tools/call': (_, response) =>
      void response.writeHead(200, { 'content-type': 'application/json' }).end('{"json'),
  }),
  '/html-connect': (_, response) =>
    void response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>hi</h1>'),
  '/500-call': politely({
    'tools/call': (_, response) =>
      void response.writeHead(500, { 'content-type': 'text/plain' }).end('at Object.<anonymous>'),
  }),
  '/cut-call': politely({ 'tools/call': (_, response) => void response.destroy() }),
  '/many-tools': politely(
    {},
    Array.from({ length: 10_000 }, (_, index) => tool(`t${index}`)),
  ),
  '/odd-names': politely({}, ['__proto__', 'a\u0000b', 'line\nbreak', '\u202Eevil', '', 'good'].map(tool)),
  '/early': early(),
  '/forgets': forgetful(),
  '/odd-tools': politely({}, oddTools),
  '/ends-call': politely({
    'tools/call': (_, response) =>
      void response.writeHead(200, { 'content-type': 'text/event-stream' }).end(': that is all\n\n'),
  }),
  '/long-call': politely({
    'tools/call': (_, response) =>
      void response.writeHead(500).end(`\u001b[31m${'long\n'.repeat(1_000_000)}`),
  }),
  '/redirect': (_, response) =>
    void response.writeHead(307, { location: 'http://169.254.169.254/latest/meta-data/' }).end(),
  '/redirect-away': (_, response) => void response.writeHead(307, { location: 'http://10.0.0.1/mcp' }).end(),
}

for (const how of OVERCODED) {
  const answer: Reply = (_, response) => overcode(response, how, 'application/json')
  WAYS[`/${how}-connect`] = politely({ initialize: answer, 'server/discover': answer })
  WAYS[`/${how}-call`] = politely({ 'tools/call': answer })
}

export interface HostileServer {
  readonly url: string
  /** Requests to this path without a complete answer. */
  open(path: string): number
  stop(): Promise<void>
}

/** Starts the server. */
export async function startHostileServer(): Promise<HostileServer> {
  const open = new Map<string, number>()
  const count = (path: string, by: number) => open.set(path, (open.get(path) ?? 0) + by)
  const server = createServer(async (request, response) => {
    const path = request.url ?? ''
    count(path, 1)
    response.once('close', () => count(path, -1))
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    if (request.method !== 'POST') return void response.writeHead(405).end()
    const message = JSON.parse(Buffer.concat(chunks).toString() || '{}')
    WAYS[path]?.(message, response, request)
  })
  return {
    ...(await listening(server)),
    open: path => open.get(path) ?? 0,
  }
}

export const HOSTILE_PATHS = Object.keys(WAYS)
