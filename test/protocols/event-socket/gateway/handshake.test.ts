import { describe, expect, it, vi } from 'vitest'
import {
  apiKeyAuth,
  bearerAuth,
  createHandler,
  type GatewayOptions,
  type HandlerOptions,
  type Middleware,
  ServableError,
  type VerifyCredential,
} from '../../../../src/index.ts'
import { connect, settled } from './wire.ts'

const tokens = { 'token-of-ada': 'ada' }
const bearer = { authorization: 'Bearer token-of-ada' }

function make(middleware: Middleware[], gateway: GatewayOptions = {}, options: HandlerOptions = {}) {
  const users: unknown[] = []
  const handler = createHandler({
    registry: false,
    logger: false,
    agents: {
      who: {
        async run(_: unknown, options?: { userId?: string }) {
          users.push(options?.userId)
          return { text: 'x' } as never
        },
      },
    },
    middleware,
    gateway,
    ...options,
  })
  /** What becomes of a client that says this of itself: whose its runs are, or why it is refused. */
  const enter = async (auth: object, headers: Record<string, string> = {}) => {
    const wire = await connect(handler, { headers })
    if (wire.handlers === undefined) return 'no socket'
    wire.says(JSON.stringify({ event: 'connect', data: auth }))
    wire.says(JSON.stringify({ event: 'agent.run', data: { name: 'who', input: 'x' } }))
    await vi.waitFor(() => expect(wire.got.join()).toMatch(/agent\.done|connect_error/), { timeout: 30_000 })
    const refused = wire.got.map(text => JSON.parse(text)).find(({ event }) => event === 'connect_error')
    const last = users.pop()
    if (refused === undefined) return last
    expect([wire.closed, last]).toEqual([1008, undefined])
    return refused.data.data.code
  }
  return { handler, enter }
}

describe('ready-made authentication at the handshake of a socket', () => {
  it.each<[string, Middleware]>([
    ['bearerAuth', bearerAuth({ tokens })],
    ['apiKeyAuth', apiKeyAuth({ tokens })],
  ])('lets in whom `auth.token` stands for: %s', async (_, middleware) => {
    const { enter } = make([middleware])
    expect(await enter({ token: 'token-of-ada' })).toBe('ada')
    for (const auth of [
      {},
      { token: '' },
      { token: 'token-of-bob' },
      { token: 7 },
      { token: ['token-of-ada'] },
      { token: 'a\nb' },
      { token: '\u{1f600}' },
      { token: 'x'.repeat(100_000) },
      { apiKey: 'token-of-ada' },
      { authorization: 'Bearer token-of-ada' },
    ]) {
      expect(await enter(auth), JSON.stringify(auth).slice(0, 60)).toBe('unauthorized')
    }
  })

  it('goes by a header where there is one', async () => {
    const { enter } = make([bearerAuth({ tokens })])
    expect(await enter({}, bearer)).toBe('ada')
    expect(await enter({ token: 'token-of-bob' }, bearer)).toBe('ada')
    expect(await enter({ token: 'token-of-ada' }, { authorization: 'Bearer token-of-bob' })).toBe('no socket')
    // A proxy's own, which is no token.
    expect(await enter({ token: 'token-of-ada' }, { authorization: 'Basic YTpi' })).toBe('ada')
  })

  it('asks `verify` with the first request of the connection', async () => {
    const asked: unknown[] = []
    const verify: VerifyCredential = (token, { url, method, headers }) => {
      asked.push([token, method, url, headers.get('origin'), headers.get('authorization')])
      if (token === 'throws') throw new Error('the vault is open')
      return { id: 'eve' }
    }
    const { enter } = make([bearerAuth({ verify })])
    expect(await enter({ token: 'any' }, { origin: 'http://127.0.0.1' })).toBe('eve')
    expect(asked).toEqual([['any', 'GET', 'http://127.0.0.1/socket.io/', 'http://127.0.0.1', 'Bearer any']])
    expect(await enter({ token: 'throws' })).toBe('unauthorized')
  })

  it('is not asked where the gateway has an `authenticate` of its own', async () => {
    const authenticate: GatewayOptions['authenticate'] = ({ auth }) =>
      auth.token === 'own' ? { id: 'owner' } : undefined
    const { enter } = make([bearerAuth({ tokens })], { authenticate })
    expect(await enter({ token: 'own' })).toBe('owner')
    expect(await enter({ token: 'token-of-ada' })).toBe('unauthorized')
  })

  it('leaves an open gateway open, and one whose middleware decides to that', async () => {
    expect(await make([]).enter({})).toBeUndefined()
    const own: Middleware = (_request, context, next) => {
      context.identity = { id: 'anyone' }
      return next()
    }
    expect(await make([own]).enter({ token: 'x' })).toBe('anyone')
  })

  it('opens nothing but the socket', async () => {
    const { handler } = make([bearerAuth({ tokens })])
    for (const path of ['/socket.io', '/socket.io/?EIO=4&transport=polling']) {
      expect((await handler(new Request(`http://127.0.0.1${path}`))).status, path).not.toBe(401)
    }
    for (const path of ['/socket.io/x', '/socket.iox', '/api/agents', '/api/runs']) {
      expect((await handler(new Request(`http://127.0.0.1${path}`))).status, path).toBe(401)
    }
    const put = new Request('http://127.0.0.1/socket.io/', { method: 'PUT' })
    expect((await handler(put)).status).toBe(401)
  })
})

describe('other middleware', () => {
  const demands: Middleware = (_request, { identity }, next) => {
    if (identity === undefined) throw new ServableError('unauthorized', 'Who are you?')
    return next()
  }
  const scoped: Middleware = (_request, { identity }, next) => {
    if (identity?.id === 'bob') throw new ServableError('forbidden', 'Not you')
    return next()
  }
  const afterwards: Middleware = async (_request, context, next) => {
    const response = await next()
    return context.identity?.id === 'bob' ? new Response('Not you', { status: 403 }) : response
  }
  const claims: Middleware = (_request, context, next) => {
    context.identity = { id: 'claimed' }
    return next()
  }
  const both = { ...tokens, 'token-of-bob': 'bob' }

  it('that demands an identity of the connection keeps out who sends no header', async () => {
    const { enter } = make([bearerAuth({ tokens }), demands])
    expect(await enter({ token: 'token-of-ada' })).toBe('no socket')
    expect(await enter({}, bearer)).toBe('ada')
  })

  it.each([
    ['before it goes on', scoped],
    ['after it went on', afterwards],
  ])('that goes by the identity %s is asked again, once that is known', async (_, middleware) => {
    const { enter } = make([bearerAuth({ tokens: both }), middleware])
    expect(await enter({ token: 'token-of-ada' })).toBe('ada')
    expect(await enter({ token: 'token-of-bob' })).toMatch(/forbidden|unauthorized/)
  })

  it.each([
    ['before', [claims, bearerAuth({ tokens })]],
    ['behind', [bearerAuth({ tokens }), claims]],
  ])('that stands %s it does not open the door with an identity of its own', async (_, middleware) => {
    const { enter } = make(middleware)
    expect(await enter({})).toBe('unauthorized')
    expect(await enter({ token: 'token-of-bob' })).toBe('unauthorized')
    expect(await enter({ token: 'token-of-ada' })).toMatch(/ada|claimed/)
  })

  it('that wraps ready-made authentication is as it was: it wants a header', async () => {
    const inner = bearerAuth({ tokens })
    const wrapping: Middleware = (request, context, next) => inner(request, context, next)
    const copying: Middleware = (request, context, next) => inner(request, { ...context }, next)
    for (const middleware of [[wrapping], [copying], [wrapping, bearerAuth({ tokens })]]) {
      const { enter } = make(middleware)
      expect(await enter({ token: 'token-of-ada' })).toBe('no socket')
    }
    expect(await make([wrapping]).enter({}, bearer)).toBe('ada')
  })

  it('that is ready-made too is asked as well', async () => {
    const keys = { 'key-of-ada': 'ada', 'token-of-ada': 'ada' }
    const { enter } = make([bearerAuth({ tokens }), apiKeyAuth({ tokens: keys })])
    expect(await enter({}, { 'x-service-key': 'key-of-ada' })).toBe('unauthorized')
    expect(await enter({}, bearer)).toBe('unauthorized')
    expect(await enter({ token: 'key-of-ada' })).toBe('unauthorized')
    expect(await enter({}, { ...bearer, 'x-service-key': 'key-of-ada' })).toBe('ada')
    expect(await enter({ token: 'token-of-ada' })).toBe('ada')
  })
})

describe('who has not said yet who they are', () => {
  it('has no longer for it than anyone', async () => {
    const { handler } = make([bearerAuth({ tokens })], { limits: { connectTimeout: 100 } })
    const wire = await connect(handler)
    expect(wire.handlers).toBeDefined()
    await vi.waitFor(() => expect(wire.closed).toBe(1008), { timeout: 30_000 })
  })

  it('takes no longer for it by asking for ever', async () => {
    const verify = () => new Promise<undefined>(() => {})
    const { handler } = make([bearerAuth({ verify })], { limits: { connectTimeout: 100 } })
    const wire = await connect(handler)
    wire.says('{"event":"connect","data":{"token":"x"}}')
    await vi.waitFor(() => expect(wire.closed).toBe(1008), { timeout: 30_000 })
  })

  it('counts against the places of its address', async () => {
    const { handler } = make([bearerAuth({ tokens })], { limits: { maxSocketsPerIp: 2 } })
    const wires = []
    for (let place = 0; place < 4; place++) wires.push(await connect(handler, { ip: '192.0.2.1' }))
    expect(wires.map(({ handlers }) => handlers !== undefined)).toEqual([true, true, false, false])
    expect((await connect(handler, { ip: '192.0.2.2' })).handlers).toBeDefined()
    wires[0]?.close()
    await settled()
    expect((await connect(handler, { ip: '192.0.2.1' })).handlers).toBeDefined()
  })
})
