/** An identity provider on loopback: `oidc-provider`, as its documentation sets it up. */
import { createServer, type RequestListener } from 'node:http'
import { type CryptoKey, exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose'
// @ts-expect-error It has no types.
import Provider from 'oidc-provider'
import { type Listening, listening } from '../../listening.ts'

export const AUDIENCE = 'https://agents.example.com'
const CLIENT = { client_id: 'ada', client_secret: 'a-long-secret-of-ada' }

/** A private key, and its public part. */
export interface Pair {
  readonly privateKey: CryptoKey
  readonly jwk: JWK
}

export interface Issuer extends Listening {
  /** Requests that it answered, by path. */
  readonly asked: ReadonlyMap<string, number>
  /** How many times its keys were fetched. */
  keysFetched(): number
  /** A token that the provider itself issues, for an audience. */
  issue(audience?: string): Promise<string>
  /** A token of its own key, or of another. A claim or header that is undefined is left out. */
  sign(claims?: object, header?: object, by?: Pair): Promise<string>
  readonly pair: Pair
  /** Takes another key in place of the one before. */
  rotate(): Promise<void>
  /** Answers a path of its own instead of the provider, until it gets undefined. */
  answer(path: string, body: unknown, status?: number): void
}

let keys = 0

export async function newPair(alg = 'RS256'): Promise<Pair> {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true })
  return { privateKey, jwk: { ...(await exportJWK(publicKey)), kid: `key-${++keys}`, use: 'sig', alg } }
}

/** The claims of a good token. */
export function claimsOf(issuer: string): Record<string, unknown> {
  const now = Math.floor(Date.now() / 1000)
  return { iss: issuer, sub: 'ada', aud: AUDIENCE, iat: now, exp: now + 600, scope: 'run read' }
}

/** Signs a token. */
export async function signed(claims: object, header: object, { privateKey, jwk }: Pair): Promise<string> {
  const given = { alg: jwk.alg, kid: jwk.kid, ...header }
  const protectedHeader = JSON.parse(JSON.stringify(given)) as { alg: string }
  return new SignJWT(JSON.parse(JSON.stringify(claims))).setProtectedHeader(protectedHeader).sign(privateKey)
}

/** Starts an issuer on a port: without one, on any that is free. */
export async function startIssuer(port = 0, provider: MakeProvider = providerOf): Promise<Issuer> {
  const asked = new Map<string, number>()
  const instead = new Map<string, { body: unknown; status: number }>()
  let serve: RequestListener = (_, response) => void response.writeHead(503).end()
  const server = createServer((request, response) => {
    const path = request.url ?? ''
    asked.set(path, (asked.get(path) ?? 0) + 1)
    const own = instead.get(path)
    if (own === undefined) return serve(request, response)
    const text = typeof own.body === 'string' ? own.body : JSON.stringify(own.body)
    response.writeHead(own.status, { 'content-type': 'application/json' }).end(text)
  })
  const place = await listening(server, port)
  const { url } = place
  let pair = await newPair()
  const serveBy = async ({ privateKey, jwk }: Pair) => {
    serve = provider(url, { ...jwk, ...(await exportJWK(privateKey)) })
  }
  await serveBy(pair)
  return {
    ...place,
    asked,
    keysFetched: () => asked.get('/jwks') ?? 0,
    get pair() {
      return pair
    },
    async issue(audience = AUDIENCE) {
      const body = new URLSearchParams({
        ...CLIENT,
        grant_type: 'client_credentials',
        resource: audience,
        scope: 'run',
      })
      const response = await fetch(`${url}/token`, { method: 'POST', body })
      const { access_token: token } = await response.json()
      if (typeof token !== 'string') throw new Error(`The provider gave no token: ${response.status}`)
      return token
    },
    sign: (claims = {}, header = {}, by = pair) => signed({ ...claimsOf(url), ...claims }, header, by),
    async rotate() {
      pair = await newPair()
      await serveBy(pair)
    },
    answer(path, body, status = 200) {
      if (body === undefined) instead.delete(path)
      else instead.set(path, { body, status })
    },
  }
}

/** Makes a provider at an address, with its private key. */
type MakeProvider = (url: string, key: JWK) => RequestListener

/** The client of the console, at the provider of {@link startLogins}. */
export const CONSOLE_CLIENT = { clientId: 'console', clientSecret: 'a-long-secret: of/the console' }

/** Starts an issuer that has a page on which anyone may log in, with any password, and come back to `callback`. */
export function startLogins(callback: string): Promise<Issuer> {
  return startIssuer(0, (url, key) => {
    const client = {
      ...{ client_id: CONSOLE_CLIENT.clientId, client_secret: CONSOLE_CLIENT.clientSecret },
      ...{ grant_types: ['authorization_code'], response_types: ['code'], redirect_uris: [callback] },
    }
    const cookies = { keys: ['a key of its own'] }
    return new Provider(url, { clients: [client], jwks: { keys: [key] }, cookies }).callback()
  })
}

/** It keeps nothing of its tokens, which are JWTs. */
class Nowhere {
  async upsert(): Promise<void> {}
  async find(): Promise<void> {}
}

function providerOf(url: string, key: JWK): RequestListener {
  const provider = new Provider(url, {
    clients: [
      {
        ...CLIENT,
        grant_types: ['client_credentials'],
        redirect_uris: [],
        response_types: [],
        token_endpoint_auth_method: 'client_secret_post',
      },
    ],
    jwks: { keys: [key] },
    adapter: Nowhere,
    ttl: { ClientCredentials: 600 },
    features: {
      clientCredentials: { enabled: true },
      devInteractions: { enabled: false },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => AUDIENCE,
        useGrantedResource: () => true,
        getResourceServerInfo: (_: unknown, audience: string) => ({
          ...{ scope: 'run', audience, accessTokenFormat: 'jwt', accessTokenTTL: 600 },
          jwt: { sign: { alg: 'RS256' } },
        }),
      },
    },
  })
  return provider.callback()
}
