/** An authorization server that lets everybody in as one user: what OAuth clients find by the metadata of a service. */
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface AuthorizationServer {
  readonly issuer: string
  /** The code that a person brings back from the address to which they were sent. */
  permit(sentTo: URL): string
  /** For which resources tokens were asked for. */
  readonly resources: readonly string[]
  stop(): Promise<void>
}

/** Starts it. Its tokens name the user. */
export async function startAuthorizationServer(user: string): Promise<AuthorizationServer> {
  const resources: string[] = []
  const server = createServer(async (request, response) => {
    const answer = answerTo(request.url ?? '', await textOf(request))
    response.writeHead(answer ? 200 : 404, { 'content-type': 'application/json' })
    response.end(JSON.stringify(answer ?? {}))
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const answerTo = (path: string, body: string): object | undefined => {
    if (path === '/.well-known/oauth-authorization-server') return metadata
    if (path === '/register') return { ...JSON.parse(body), client_id: 'client' }
    if (path !== '/token') return undefined
    const asked = new URLSearchParams(body)
    resources.push(asked.get('resource') ?? '')
    return asked.get('code') === 'permitted' ? { access_token: user, token_type: 'Bearer' } : undefined
  }
  const metadata = {
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    registration_endpoint: `${issuer}/register`,
    response_types_supported: ['code'],
    grant_types_supported: ['authorization_code'],
    code_challenge_methods_supported: ['S256'],
    token_endpoint_auth_methods_supported: ['none'],
  }
  return {
    issuer,
    resources,
    permit: ({ origin, pathname }) =>
      `${origin}${pathname}` === metadata.authorization_endpoint ? 'permitted' : '',
    async stop() {
      server.closeAllConnections()
      await new Promise(resolve => server.close(resolve))
    },
  }
}

async function textOf(request: IncomingMessage): Promise<string> {
  let text = ''
  for await (const piece of request) text += piece
  return text
}
