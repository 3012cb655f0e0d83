/** Which tokens of an identity provider are good, and where. */
import { importJWK, type JWK, SignJWT } from 'jose'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { jwtAuth, jwtVerifier } from '../../../src/features/jwt/index.ts'
import { callerKeys, keysAuth } from '../../../src/features/keys/plugin.ts'
import {
  bearerIdentity,
  createHandler,
  MetricsExporter,
  type Middleware,
  memoryState,
} from '../../../src/index.ts'
import { mcp, mcpAuth } from '../../../src/protocols/mcp/plugin.ts'
import { serve } from '../../../src/runtimes/node.ts'
import { clientOf, connected, plain, refusal, start, stock } from '../../contracts/gateway/client.ts'
import { jsonRequest } from '../../contracts/http/client.ts'
import { AUDIENCE, claimsOf, type Issuer, newPair, startIssuer } from '../../contracts/jwt/issuer.ts'
import { allow, bearer, says, service } from './kit.ts'

let issuer: Issuer
beforeAll(async () => {
  issuer = await startIssuer()
})
afterAll(() => issuer.stop())

const now = () => Math.floor(Date.now() / 1000)
const encoded = (text: string) => Buffer.from(text).toString('base64url')
const part = (value: unknown) => encoded(JSON.stringify(value))

/** The public key as PEM. */
async function pemOf(jwk: JWK): Promise<string> {
  const key = await importJWK(jwk, String(jwk.alg), { extractable: true })
  const bytes = await crypto.subtle.exportKey('spki', key as CryptoKey)
  const lines =
    Buffer.from(bytes)
      .toString('base64')
      .match(/.{1,64}/g) ?? []
  return ['-----BEGIN PUBLIC KEY-----', ...lines, '-----END PUBLIC KEY-----', ''].join('\n')
}

/** The parts of a good token. */
const goodParts = async () => (await issuer.sign()).split('.')

/** A token that is signed with the public key, as if that were a secret. */
async function confused(): Promise<string> {
  const { jwk } = issuer.pair
  const header = { alg: 'HS256', kid: String(jwk.kid) }
  return new SignJWT(claimsOf(issuer.url))
    .setProtectedHeader(header)
    .sign(new TextEncoder().encode(await pemOf(jwk)))
}

/** A token of a forger, with a header. */
const forged = async (header: object) => issuer.sign({}, header, await newPair())

async function withOwnKey(): Promise<string> {
  const own = await newPair()
  return issuer.sign({}, { jwk: own.jwk, kid: undefined }, own)
}

const UNKNOWN = 'no applicable key'

/** Tokens that are refused, each with what the log says. */
const BAD: readonly [name: string, make: () => Promise<string> | string, reason: string][] = [
  ['for another audience', () => issuer.issue('https://other.example.com'), 'aud'],
  ['without an audience', () => issuer.sign({ aud: undefined }), 'aud'],
  ['of another issuer', () => issuer.sign({ iss: 'https://evil.example.com' }), 'iss'],
  ['of an issuer that is nearly the same', () => issuer.sign({ iss: `${issuer.url}/` }), 'iss'],
  ['without an issuer', () => issuer.sign({ iss: undefined }), 'iss'],
  ['that has expired', () => issuer.sign({ exp: now() - 60 }), 'exp'],
  ['that never expires', () => issuer.sign({ exp: undefined }), 'exp'],
  ['that expires at a text', () => issuer.sign({ exp: 'tomorrow' }), 'exp'],
  ['that is not yet valid', () => issuer.sign({ nbf: now() + 60 }), 'nbf'],
  ['that was issued in the future', () => issuer.sign({ iat: now() + 60 }), 'iat'],
  ['without a subject', () => issuer.sign({ sub: undefined }), 'sub'],
  ['of nobody', () => issuer.sign({ sub: '' }), 'must have 1 to 256 characters'],
  ['whose subject is a number', () => issuer.sign({ sub: 7 }), 'must have 1 to 256 characters'],
  ['of a forger who names a known key', () => forged({ kid: issuer.pair.jwk.kid }), 'signature'],
  ['of another key', () => forged({}), UNKNOWN],
  ['that names a file', () => forged({ kid: '../../../../etc/passwd' }), UNKNOWN],
  ['that names SQL', () => forged({ kid: "' OR 1=1; DROP TABLE keys; --" }), UNKNOWN],
  ['that brings its own key', withOwnKey, 'signature'],
  ['that says where its key is', () => forged({ jku: 'https://evil.example.com/jwks' }), UNKNOWN],
  ['with the algorithm `none`', () => `${part({ alg: 'none' })}.${part(claimsOf(issuer.url))}.`, 'alg'],
  [
    'with `none` and a signature',
    async () => [part({ alg: 'none', kid: issuer.pair.jwk.kid }), ...(await goodParts()).slice(1)].join('.'),
    'alg',
  ],
  ['that is signed with the public key as a secret', confused, 'alg'],
  ['with a part that must be understood', () => `${part({ alg: 'RS256', crit: ['x'], x: 1 })}.e30.AA`, 'x'],
  ['of a megabyte', () => issuer.sign({ padding: 'x'.repeat(1_000_000) }), '16384 characters'],
  [
    'with a header of deep JSON',
    () => `${encoded(`{"alg":"RS256","a":${'['.repeat(5000)}${']'.repeat(5000)}}`)}.e30.AA`,
    'refused',
  ],
  [
    'with deep claims that nobody signed',
    () => `${part({ alg: 'RS256', kid: 'x' })}.${encoded('['.repeat(8000))}.AAAA`,
    UNKNOWN,
  ],
  ['that is encrypted', () => 'e30.e30.e30.e30.e30', 'JWS'],
  ['that is none', () => 'token-of-ada', 'JWS'],
  ['of dots', () => '.'.repeat(10_000), 'JWS'],
]

describe('a token', () => {
  it('that the provider issued is good, and so is one for several audiences', async () => {
    const { ask, logged } = service({
      issuer: issuer.url,
      audience: ['https://other.example.com', AUDIENCE],
    })
    expect(await ask(await issuer.issue())).toBe('200 by ada')
    expect(await ask(await issuer.sign({ aud: ['https://third.example.com', AUDIENCE] }))).toBe('200 by ada')
    expect(logged.filter(({ event }) => event !== 'request')).toEqual([])
  })

  it.each(BAD)(
    '%s is refused like every other, and the log alone has the reason',
    async (_, make, reason) => {
      const { run, logged } = service({ issuer: issuer.url })
      const answerTo = async (token: string) => {
        const response = await run(token)
        const { requestId, ...body } = await response.json()
        return [response.status, response.headers.get('www-authenticate'), body]
      }
      const usual = await answerTo('x')
      expect(usual.slice(0, 2)).toEqual([401, 'Bearer'])
      logged.splice(0)
      const token = await make()
      expect(await answerTo(token)).toEqual(usual)
      const told = logged.filter(({ event }) => event === 'authenticate.failed')
      expect(told).toHaveLength(1)
      expect(JSON.stringify(told)).toContain(reason)
      expect(JSON.stringify(logged)).not.toContain(token)
      expect(logged.filter(({ level }) => level === 'warn')).toEqual([])
    },
  )

  it('may be a little too early or too late', async () => {
    const usual = service({ issuer: issuer.url })
    const strict = service({ issuer: issuer.url, clockToleranceS: 0 })
    for (const claims of [{ nbf: now() + 20 }, { iat: now() + 20 }, { exp: now() - 20 }]) {
      const token = await issuer.sign(claims)
      expect(await usual.ask(token)).toBe('200 by ada')
      expect(await strict.ask(token)).toBe('401 unauthorized')
    }
  })

  it('has an accepted algorithm', async () => {
    const pairs = await Promise.all(['PS256', 'ES256', 'EdDSA'].map(newPair))
    const jwks = { keys: pairs.map(({ jwk }) => jwk) }
    const usual = service({ jwks })
    const narrow = service({ jwks, algorithms: ['ES256'] })
    for (const pair of pairs) {
      const token = await issuer.sign({}, {}, pair)
      expect(await usual.ask(token)).toBe('200 by ada')
      expect(await narrow.ask(token)).toBe(pair.jwk.alg === 'ES256' ? '200 by ada' : '401 unauthorized')
    }
  })
})

describe('a key', () => {
  it('may be a JWK, PEM or the runtime’s own, whatever tokens call it', async () => {
    const { jwk } = issuer.pair
    const { kid: _, alg: __, ...nameless } = jwk
    for (const key of [jwk, nameless, await pemOf(jwk), (await importJWK(jwk)) as CryptoKey]) {
      const { ask } = service({ key })
      expect(await ask(await issuer.sign({ iss: 'anyone' }, { kid: 'another' }))).toBe('200 by ada')
      for (const alg of ['RS256', 'ES256'])
        expect(await ask(await issuer.sign({}, {}, await newPair(alg)))).toBe('401 unauthorized')
      const checked = service({ key, issuer: issuer.url })
      expect(await checked.ask(await issuer.sign())).toBe('200 by ada')
      expect(await checked.ask(await issuer.sign({ iss: 'anyone' }))).toBe('401 unauthorized')
    }
  })

  it('may be a secret', async () => {
    const key = crypto.getRandomValues(new Uint8Array(32))
    const sign = (by: Uint8Array) => new SignJWT(claimsOf('us')).setProtectedHeader({ alg: 'HS256' }).sign(by)
    const { ask } = service({ key })
    expect(await ask(await sign(key))).toBe('200 by ada')
    expect(await ask(await sign(key.toReversed()))).toBe('401 unauthorized')
    expect(await ask(await issuer.sign())).toBe('401 unauthorized')
  })
})

describe('the identity', () => {
  it('is made of the claims', async () => {
    const { ask, logged } = service({
      issuer: issuer.url,
      identity: ({ sub, team }) => {
        if (team === 'broken') throw new Error('there is no such team')
        return team === undefined ? undefined : { id: `${team}/${sub}` }
      },
    })
    expect(await ask(await issuer.sign({ team: 'blue' }))).toBe('200 by blue/ada')
    for (const team of [undefined, '\n', 'broken'])
      expect(await ask(await issuer.sign({ team }))).toBe('401 unauthorized')
    const errors = logged.filter(({ level }) => level === 'error')
    expect(errors.map(({ message }) => message)).toEqual([
      expect.stringContaining('must have 1 to 256 characters'),
      'there is no such team',
    ])
  })

  it('reaches later middleware with all its members', async () => {
    const member = { id: 'ada', roles: ['editor'], tenant: 'acme' }
    const seen: unknown[] = []
    const look: Middleware = (_, { identity }, next) => {
      seen.push(identity)
      return next()
    }
    const auth = jwtAuth({ issuer: issuer.url, audience: AUDIENCE, allow, identity: () => member })
    const { ask } = service({ issuer: issuer.url }, { middleware: [auth, look] })
    expect(await ask(await issuer.sign())).toBe('200 by acme›ada')
    expect(seen).toEqual([expect.objectContaining({ ...member, id: 'acme›ada' })])
  })

  it('is found for parts that decide themselves', async () => {
    const authenticate = bearerIdentity({
      verify: jwtVerifier({ issuer: issuer.url, audience: AUDIENCE, allow }),
    })
    const metricsExporter = new MetricsExporter({ authenticate })
    const { handler } = service(
      { issuer: issuer.url, audience: 'https://other.example.com' },
      { metricsExporter },
    )
    const statusOf = async (token?: string) => {
      const init = token === undefined ? {} : { headers: bearer(token) }
      return (await handler(new Request('http://127.0.0.1/api/metrics', init))).status
    }
    expect(await statusOf(await issuer.sign())).toBe(200)
    for (const token of [undefined, 'x', await issuer.sign({ aud: 'x' })])
      expect(await statusOf(token)).toBe(401)
    const request = new Request('http://a.example', { headers: bearer(await issuer.sign()) })
    expect(await authenticate(request)).toEqual({ id: 'ada', scopes: ['run', 'read'], audience: AUDIENCE })
  })
})

describe('a socket', () => {
  it('gives its token at the handshake', async () => {
    const { handler } = service({ issuer: issuer.url }, { gateway: true })
    const server = await serve(handler, { port: 0, hostname: '127.0.0.1' })
    const place = () => ({ url: server.url, stop: () => server.close(), folder: undefined }) as never
    try {
      const token = await issuer.issue()
      const good = stock(place, { auth: { token } })
      await connected(good)
      await start(clientOf(good), 'agent.run', { name: 'says', input: 'x' })
      const other = await plain(place, { connect: { token } })
      await start(other, 'agent.run', { name: 'says', input: 'x' })
      for (const token of [await issuer.sign({ exp: now() - 60 }), 'x'.repeat(20_000), undefined])
        expect(await refusal(stock(place, { auth: { token }, reconnection: false }))).toMatchObject({
          data: { code: 'unauthorized' },
        })
      good.disconnect()
      other.leave()
    } finally {
      await server.close()
    }
  })
})

describe('documents', () => {
  const documents = async (options: Parameters<typeof service>[0]) => {
    const { handler } = service(options, { a2a: true, swagger: { enabled: true } })
    const headers = bearer(await issuer.sign())
    const read = async (path: string) =>
      (await handler(new Request(`http://127.0.0.1${path}`, { headers }))).json()
    const { security, components } = await read('/api/docs/spec.json')
    const card = await read('/.well-known/agent-card.json')
    return {
      security,
      scheme: components.securitySchemes.jwt,
      card: JSON.stringify(card.securitySchemes.jwt),
    }
  }

  it('name the issuer', async () => {
    const { security, scheme, card } = await documents({ issuer: issuer.url })
    const openIdConnectUrl = `${issuer.url}/.well-known/openid-configuration`
    expect(scheme).toMatchObject({ type: 'openIdConnect', openIdConnectUrl })
    expect(security).toEqual([{ jwt: [] }])
    expect(card).toContain(openIdConnectUrl)
  })

  it('name a bearer token, if the keys come from elsewhere', async () => {
    const { scheme, card } = await documents({ key: issuer.pair.jwk, issuer: issuer.url })
    expect(scheme).toMatchObject({ type: 'http', scheme: 'bearer', bearerFormat: 'JWT' })
    expect(card).toContain('"bearerFormat":"JWT"')
  })
})

describe('the verifier', () => {
  it('protects the endpoint of MCP, which names the issuer', async () => {
    const resource = 'http://127.0.0.1/mcp'
    const verify = jwtVerifier({ issuer: issuer.url, audience: [resource, AUDIENCE], allow })
    const auth = mcpAuth({ resource, authorizationServers: [issuer.url], scopes: ['run'], verify })
    const handler = createHandler({
      ...{ serve: [says], registry: false, logger: false },
      plugins: [mcp({ tools: ['says'], auth })],
    })
    const params = { name: 'says', arguments: { input: 'x' } }
    const body = { jsonrpc: '2.0', id: 1, method: 'tools/call', params }
    const call = async (token: string) => handler(new Request(resource, jsonRequest(body, bearer(token))))
    const good = await (await call(await issuer.sign({ aud: resource }))).json()
    expect(good).toMatchObject({ result: { content: [{ text: 'by ada' }] } })
    expect((await call(await issuer.sign())).status).toBe(401)
    expect((await call(await issuer.sign({ aud: resource, scope: 'read' }))).status).toBe(403)
    const refused = await call('x')
    const metadata = 'http://127.0.0.1/.well-known/oauth-protected-resource/mcp'
    expect(refused.status).toBe(401)
    expect(refused.headers.get('www-authenticate')).toContain(`resource_metadata="${metadata}"`)
    const named = await (await handler(new Request(metadata))).json()
    expect(named).toMatchObject({ authorization_servers: [issuer.url] })
  })

  it('stands beside keys for callers', async () => {
    const keys = callerKeys({ authenticate: () => undefined })
    const verify = jwtVerifier({ issuer: issuer.url, audience: AUDIENCE, allow })
    const { ask } = service(
      { issuer: issuer.url },
      { state: memoryState(), plugins: [keys], middleware: [keysAuth(keys, { verify })] },
    )
    expect(await ask(await issuer.sign())).toBe('200 by ada')
    expect(await ask(await issuer.sign({ aud: 'x' }))).toBe('401 unauthorized')
  })
})
