/** A provider of tokens (OAuth 2.1), and a tool server that takes only its tokens. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { type Listening, listening } from '../../listening.ts'
import { toolServer } from './tool-server.ts'

/** How the provider misbehaves. */
export interface ProviderWays {
  /** Members of its metadata that are other ones. */
  metadata: object
  /** Members of the tool server's metadata that are other ones. Undefined: it has no metadata. */
  resource: object | undefined
  /** Answers requests of tokens. Returns whether it has. */
  token: (response: ServerResponse) => boolean
  /** Seconds for which tokens are valid. */
  lifetime: number | undefined
  /** Whether the tool server refuses every token. */
  refusesAll: boolean
}

/** An authorization that a person has given. */
interface Given {
  readonly challenge: string
  readonly redirectUri: string | null
  readonly resource: string | null
}

const PROPER: ProviderWays = {
  metadata: {},
  resource: {},
  token: () => false,
  lifetime: 3600,
  refusesAll: false,
}

export const CLIENT_SECRET = 'secret-of-the-client-1'

export interface ProviderFixture extends Listening {
  /** The address of the tool server. */
  readonly tools: string
  ways: ProviderWays
  /** Requests of tokens, as their parameters. */
  readonly asked: URLSearchParams[]
  /** All tokens and codes that were given out. */
  readonly secrets: string[]
  /** Signs in as a person would who opens the address. Returns the query that comes back. */
  signIn(address: string): URLSearchParams
  /** Ends all access tokens, and with `all` also those that renew them. */
  revoke(all?: boolean): void
  /** Behaves again, and forgets what was asked. */
  reset(): void
}

const json = (response: ServerResponse, status: number, value: unknown) =>
  void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value))

async function bodyOf(request: IncomingMessage): Promise<Buffer<ArrayBuffer>> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks)
}

/** Starts the provider and its tool server, at one address. */
export async function startProvider(): Promise<ProviderFixture> {
  const given = new Map<string, Given>()
  const valid = new Set<string>()
  const renewing = new Set<string>()
  const asked: URLSearchParams[] = []
  const secrets: string[] = []
  const tools = toolServer()
  const newSecret = (kind: string) => {
    const secret = `${kind}-${crypto.randomUUID()}`
    secrets.push(secret)
    return secret
  }

  /** Whether a grant is valid. Each counts once. */
  async function isGranted(parameters: URLSearchParams): Promise<boolean> {
    const of = (name: string) => parameters.get(name) ?? ''
    if (of('resource') !== `${fixture.url}/mcp`) return false
    if (of('grant_type') === 'client_credentials') return of('scope') === 'weather:read'
    if (of('grant_type') === 'refresh_token') return renewing.delete(of('refresh_token'))
    const code = given.get(of('code'))
    given.delete(of('code'))
    const hash = await crypto.subtle.digest('SHA-256', Buffer.from(of('code_verifier')))
    const challenge = Buffer.from(hash).toString('base64url')
    return code?.challenge === challenge && code.redirectUri === of('redirect_uri')
  }

  async function giveTokens(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const parameters = new URLSearchParams((await bodyOf(request)).toString())
    asked.push(parameters)
    if (fixture.ways.token(response)) return
    const credentials = `Basic ${btoa(`client-1:${CLIENT_SECRET}`)}`
    if (request.headers.authorization !== credentials) return json(response, 401, { error: 'invalid_client' })
    if (!(await isGranted(parameters))) return json(response, 400, { error: 'invalid_grant' })
    const access_token = newSecret('access')
    valid.add(access_token)
    const isOfPerson = parameters.get('grant_type') !== 'client_credentials'
    const refresh_token = isOfPerson ? newSecret('refresh') : undefined
    if (refresh_token !== undefined) renewing.add(refresh_token)
    json(response, 200, {
      access_token,
      refresh_token,
      token_type: 'Bearer',
      expires_in: fixture.ways.lifetime,
    })
  }

  async function callTools(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const token = request.headers.authorization?.replace('Bearer ', '') ?? ''
    if (!valid.has(token) || fixture.ways.refusesAll) {
      response.setHeader('www-authenticate', 'Bearer error="invalid_token", scope="weather:read"')
      return json(response, 401, {})
    }
    const headers = new Headers(request.headers as Record<string, string>)
    const { method = '', url } = request
    const body = method === 'POST' ? await bodyOf(request) : null
    const leaving = new AbortController()
    response.once('close', () => leaving.abort())
    const init = { method, headers, body, signal: leaving.signal }
    const answer = await tools.fetch(new Request(`${fixture.url}${url}`, init))
    response.writeHead(answer.status, Object.fromEntries(answer.headers))
    try {
      for await (const chunk of answer.body ?? []) response.write(chunk)
    } catch {
      // The client has left.
    }
    response.end()
  }

  const server = createServer((request, response) => {
    const [path] = (request.url ?? '').split('?')
    const { url, ways } = fixture
    if (path === '/mcp') return void callTools(request, response)
    if (path === '/token') return void giveTokens(request, response)
    if (path === '/.well-known/oauth-protected-resource/mcp' && ways.resource !== undefined)
      return json(response, 200, { resource: `${url}/mcp`, authorization_servers: [url], ...ways.resource })
    if (path === '/.well-known/oauth-authorization-server')
      return json(response, 200, {
        issuer: url,
        authorization_endpoint: `${url}/authorize`,
        token_endpoint: `${url}/token`,
        response_types_supported: ['code'],
        code_challenge_methods_supported: ['S256'],
        authorization_response_iss_parameter_supported: true,
        ...ways.metadata,
      })
    json(response, 404, {})
  })
  const place = await listening(server)
  const fixture: ProviderFixture = {
    ...place,
    tools: `${place.url}/mcp`,
    ways: { ...PROPER },
    asked,
    secrets,
    signIn(address) {
      const { searchParams } = new URL(address)
      const code = newSecret('code')
      given.set(code, {
        challenge: searchParams.get('code_challenge') ?? '',
        redirectUri: searchParams.get('redirect_uri'),
        resource: searchParams.get('resource'),
      })
      return new URLSearchParams({ code, state: searchParams.get('state') ?? '', iss: place.url })
    },
    revoke(all = false) {
      valid.clear()
      if (all) renewing.clear()
    },
    reset() {
      fixture.ways = { ...PROPER }
      asked.length = 0
      secrets.length = 0
    },
  }
  return fixture
}
