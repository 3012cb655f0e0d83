import { describe, expect, it } from 'vitest'
import { createHandler, type HandlerOptions } from '../../../../src/index.ts'
import { createSocketServer } from '../../../../src/protocols/event-socket/socket/index.ts'

const make = (gateway: unknown, more: HandlerOptions = {}) =>
  createHandler({ ...more, gateway: gateway as never })
const server = () => createSocketServer({ namespaces: { '/taken': {} } })

describe('the options of the gateway', () => {
  it.each([[true], [{}], [{ recovery: true }], [{ recovery: { maxMs: 1000 } }], [{ server: server() }]])(
    'may be %j',
    gateway => {
      expect(make(gateway)).toBeTypeOf('function')
    },
  )

  it.each<[unknown, string]>([
    [false, 'gateway'],
    ['/socket.io/', 'gateway'],
    [{ pth: '/x' }, 'gateway.pth'],
    [{ path: '/a b' }, 'gateway.path'],
    [{ namespace: 'service' }, 'gateway.namespace'],
    [{ namespace: '/a,b' }, 'gateway.namespace'],
    [{ authenticate: true }, 'gateway.authenticate'],
    [{ origins: ['https://a.example/'] }, 'gateway.origins'],
    [{ origins: { origins: '*', credentials: true } }, 'gateway.origins.credentials'],
    [{ recovery: { maxMs: 0 } }, 'gateway.recovery'],
    [{ limits: { maxSockets: 1.5 } }, 'gateway.limits.maxSockets'],
    [{ limits: { maxSocks: 1 } }, 'gateway.limits.maxSocks'],
    [{ limits: { pingInterval: 2 ** 30, pingTimeout: 2 ** 30 } }, 'pingInterval'],
    [{ agents: { echo: {} } }, 'agents.echo'],
    [{ agents: [] }, 'gateway.agents'],
    [{ server: {} }, 'gateway.server'],
    [{ server: server(), path: '/x' }, 'gateway.path'],
    [{ server: server(), recovery: true }, 'gateway.recovery'],
    [{ server: server(), namespace: '/taken' }, '/taken'],
  ])('may not be %j: the error names %s', (gateway, name) => {
    expect(() => make(gateway)).toThrow(
      expect.objectContaining({ code: 'invalid_options', message: expect.stringContaining(name) }),
    )
  })

  it('must say who may connect where middleware does not see the server', () => {
    const middleware = [(_request: Request, _context: unknown, next: () => Promise<Response>) => next()]
    expect(() => make({ server: server() }, { middleware })).toThrow(
      expect.objectContaining({
        code: 'invalid_options',
        message: expect.stringContaining('gateway.authenticate'),
      }),
    )
    expect(make({ server: server(), authenticate: () => ({ id: 'x' }) }, { middleware })).toBeTypeOf(
      'function',
    )
  })

  it('may not ask for recovery where runs are not stored', () => {
    expect(() => make({ recovery: true }, { runs: { store: 'none' } })).toThrow(
      expect.objectContaining({
        code: 'invalid_options',
        message: expect.stringContaining('gateway.recovery'),
      }),
    )
  })
})

describe('the gateway', () => {
  const poll = 'http://127.0.0.1/socket.io/?EIO=4&transport=polling'

  it('is not there unless it is asked for', async () => {
    expect((await createHandler()(new Request(poll))).status).toBe(404)
  })

  it('answers at its path, with or without a slash at its end', async () => {
    const handler = make({ path: '/live' })
    for (const path of ['/live', '/live/']) {
      const url = `http://127.0.0.1${path}?EIO=4&transport=polling`
      expect((await handler(new Request(url))).status).toBe(200)
    }
  })

  it.each([
    ['any origin', { cors: true as const }, {}],
    ['any origin of the socket’s own', {}, { origins: true }],
  ])('lets a page of %s connect, but not with cookies', async (_, options, gateway) => {
    const handler = make(gateway, options)
    const ask = async (headers: Record<string, string>) =>
      (await handler(new Request(poll, { headers }))).status
    expect(await ask({ origin: 'https://foreign.example' })).toBe(200)
    expect(await ask({ origin: 'https://foreign.example', cookie: 'session=ada' })).toBe(403)
    expect(await ask({ origin: 'http://127.0.0.1', cookie: 'session=ada' })).toBe(200)
    expect(await ask({ cookie: 'session=ada' })).toBe(200)
  })

  it('lets a page of a listed origin connect with its cookies', async () => {
    const handler = make({ origins: ['https://app.example'] })
    const headers = { origin: 'https://app.example', cookie: 'session=ada' }
    expect((await handler(new Request(poll, { headers }))).status).toBe(200)
  })

  it('is for the host to serve where the host has the server', async () => {
    expect((await make({ server: server() })(new Request(poll))).status).toBe(404)
  })
})
