/** The server of the cards: each way has its own base. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { listening } from '../../listening.ts'
import { WAYS, type Way } from './ways.ts'

/** Where the servers are. */
export interface Servers {
  readonly servable: string
  readonly reference: string
}

/** Answers what no way is for. */
export type More = (path: string, request: IncomingMessage, response: ServerResponse) => void

/** Starts it. */
export async function startCards(
  servers: Servers,
  more: More = (_, __, response) => response.writeHead(404).end(),
) {
  const server = createServer((request, response) => {
    const [, name = '', ...path] = (request.url ?? '').split('/')
    const way = WAYS[name]
    if (way === undefined) return more(`${name}/${path.join('/')}`, request, response)
    // A server of 0.2 has its card at the older path alone.
    const file = way.version === '0.2' ? 'agent.json' : 'agent-card.json'
    if (path.join('/') !== `.well-known/${file}`) return response.writeHead(404).end()
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify(cardOf(way, servers)))
  })
  return listening(server)
}

function cardOf({ of, version, binding, streaming }: Way, servers: Servers): object {
  const rest = binding === 'HTTP+JSON' && of === 'reference' ? '/rest' : '/'
  const url = `${servers[of]}${rest}`
  const common = { name: 'does', version: '1.0.0', capabilities: { streaming }, skills: [] }
  if (version === '1.0') {
    return { ...common, supportedInterfaces: [{ url, protocolBinding: binding, protocolVersion: '1.0' }] }
  }
  if (version === '0.3') return { ...common, url, preferredTransport: binding, protocolVersion: '0.3.0' }
  return { ...common, url }
}
