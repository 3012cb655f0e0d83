import { describe, expect, it, vi } from 'vitest'
import {
  type Context,
  createHandler,
  type HandlerOptions,
  type LogEntry,
  type Middleware,
  ServableError,
} from '../../src/index.ts'
import { jsonRequest } from '../contracts/http/client.ts'
import { foreign, speaker, untyped } from '../support.ts'

const UUID = /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[\da-f]{4}-[\da-f]{12}$/

const pass: Middleware = (_request, _context, next) => next()

function handlerOf(options: HandlerOptions = {}) {
  return createHandler({ agents: { echo: speaker('echo', 'x') }, logger: false, ...options })
}

const get = (path = '/api/agents', headers: Record<string, string> = {}, method = 'GET') =>
  new Request(`http://h${path}`, { method, headers })

const post = (name: string, body: unknown = { input: 'hi' }) =>
  new Request(`http://h/api/agents/${name}/run`, jsonRequest(body))

const codeOf = async (response: Response) => `${response.status} ${(await response.json()).code}`

describe('middleware', () => {
  it('is called from the first to the last, and back', async () => {
    const order: string[] = []
    const named =
      (name: string): Middleware =>
      async (_request, _context, next) => {
        order.push(`${name} in`)
        const response = await next()
        order.push(`${name} out`)
        return response
      }
    await handlerOf({ middleware: [named('a'), named('b')] })(get())
    expect(order).toEqual(['a in', 'b in', 'b out', 'a out'])
  })

  it('may answer itself, so that nothing behind it is called', async () => {
    const behind = vi.fn(pass)
    const agent = vi.fn(() => [])
    const handler = handlerOf({
      middleware: [() => new Response('no', { status: 401 }), behind],
      agents: { a: foreign('a', agent) },
    })
    expect((await handler(post('a'))).status).toBe(401)
    expect(behind).not.toHaveBeenCalled()
    expect(agent).not.toHaveBeenCalled()
  })

  it('keeps answers from shared caches, unless they say otherwise', async () => {
    const shared: Middleware = async (request, _context, next) => {
      const response = await next()
      if (request.url.endsWith('/teams')) response.headers.set('cache-control', 'public, max-age=60')
      return response
    }
    const handler = handlerOf({ cors: true, middleware: [shared] })
    const plainHandler = handlerOf()
    const cachingOf = async (path: string, method = 'GET') => {
      const answers = await Promise.all([handler, plainHandler].map(one => one(get(path, {}, method))))
      return answers.map(({ headers }) => headers.get('cache-control'))
    }
    expect(await cachingOf('/api/agents')).toEqual(['private', 'private'])
    expect(await cachingOf('/api/agents', 'HEAD')).toEqual(['private', 'private'])
    expect(await cachingOf('/api/teams')).toEqual(['public, max-age=60', 'private'])
    expect(await cachingOf('/api/health')).toEqual(['no-store', 'no-store'])
    for (const path of ['/nothing', '/api/agents/nobody', '/api/runs/x'])
      expect(await cachingOf(path), path).toEqual(['no-store', 'no-store'])
    expect(await cachingOf('/api/agents/echo/run')).toEqual(['no-store', 'no-store'])
  })

  it('may change the response', async () => {
    const stamp: Middleware = async (_request, _context, next) => {
      const response = await next()
      response.headers.set('x-stamp', '1')
      return response
    }
    const response = await handlerOf({ middleware: [stamp] })(get())
    expect(response.headers.get('x-stamp')).toBe('1')
  })

  it('may set headers of whatever the response is', async () => {
    const cookies: Middleware = (_request, { responseHeaders }, next) => {
      responseHeaders.append('set-cookie', 'a=1')
      responseHeaders.append('set-cookie', 'b=2')
      responseHeaders.set('x-stamp', '1')
      return next()
    }
    const response = await handlerOf({ middleware: [cookies] })(get('/nowhere'))
    expect([response.status, response.headers.get('x-stamp')]).toEqual([404, '1'])
    expect(response.headers.getSetCookie()).toEqual(['a=1', 'b=2'])
  })

  it.each<[string, unknown, string]>([
    ['throws', new Error('inside'), '500 internal_error'],
    ['throws undefined', undefined, '500 internal_error'],
    ['refuses on purpose', new ServableError('unauthorized', 'who are you?'), '401 unauthorized'],
    ['limits on purpose', new ServableError('rate_limited', 'slowly'), '429 rate_limited'],
    ['throws a proxy that answers nothing', revoked(), '500 internal_error'],
    [
      'throws an error whose message is no text',
      Object.assign(new Error('x'), { message: 5 }),
      '500 internal_error',
    ],
    ['throws a code that is none', new ServableError(untyped('made_up'), 'x'), '500 internal_error'],
  ])('answers with a problem when it %s', async (_, thrown, expected) => {
    const sync = handlerOf({
      middleware: [
        () => {
          throw thrown
        },
      ],
    })
    expect(await codeOf(await sync(get()))).toBe(expected)
    const rejecting = handlerOf({ middleware: [() => Promise.reject(thrown)] })
    expect(await codeOf(await rejecting(get()))).toBe(expected)
  })

  it.each<[string, unknown]>([
    ['nothing', undefined],
    ['an object', {}],
    ['text', 'ok'],
    ['a network error', Response.error()],
    ['what only looks like a response', { status: 200, headers: null }],
  ])('answers with a problem when it returns %s', async (_, value) => {
    const response = await handlerOf({ middleware: [async () => untyped<Response>(value)] })(get())
    expect(await codeOf(response)).toBe('500 internal_error')
  })

  it('gets a rejection from a second `next` that reads the body again, and may go on', async () => {
    const twice: Middleware = async (_request, _context, next) => {
      const response = await next()
      await expect(next()).rejects.toThrow()
      return response
    }
    const response = await handlerOf({ middleware: [twice] })(post('echo'))
    expect(await response.json()).toMatchObject({ text: 'x' })
  })

  it('may call `next` twice where no body is read', async () => {
    const twice: Middleware = async (_request, _context, next) => {
      await next()
      return next()
    }
    expect((await handlerOf({ middleware: [twice] })(get())).status).toBe(200)
  })

  it('may catch what fails behind it', async () => {
    const rescue: Middleware = (_request, _context, next) => next().catch(() => new Response('rescued'))
    expect(await (await handlerOf({ middleware: [rescue] })(post('nobody'))).text()).toBe('rescued')
  })

  it('sees every request: 404, 405 and OPTIONS too', async () => {
    const seen: string[] = []
    const look: Middleware = (request, { part, params }, next) => {
      seen.push(`${request.method} ${part} ${JSON.stringify(params)}`)
      return next()
    }
    const handler = handlerOf({ middleware: [look] })
    const statuses = [
      get('/nowhere'),
      get('/api/agents', {}, 'PUT'),
      get('/api/agents', {}, 'OPTIONS'),
      post('echo'),
    ]
    expect(await Promise.all(statuses.map(async request => (await handler(request)).status))).toEqual([
      404, 405, 204, 200,
    ])
    expect(seen).toEqual([
      'GET router {}',
      'PUT router {}',
      'OPTIONS router {}',
      'POST router {"name":"echo"}',
    ])
  })

  it('sets the identity, which stands for the user id that the client claims', async () => {
    const users: (string | undefined)[] = []
    const noting = foreign('a', options => {
      users.push(options?.userId)
      return []
    })
    const identify: Middleware = (_request, context, next) => {
      context.identity = { id: 'proven' }
      return next()
    }
    const body = { input: 'hi', userId: 'claimed' }
    await handlerOf({ agents: { a: noting } })(post('a', body))
    await handlerOf({ agents: { a: noting }, middleware: [identify] })(post('a', body))
    expect(users).toEqual(['claimed', 'proven'])
  })

  it('gets the log of the options', async () => {
    const logger = vi.fn()
    const log: Middleware = (_request, context, next) => {
      context.log({ level: 'info', event: 'own', size: 1 })
      return next()
    }
    await handlerOf({ logger, middleware: [log] })(get())
    expect(logger).toHaveBeenNthCalledWith(1, { level: 'info', event: 'own', size: 1 })
  })
})

function revoked(): unknown {
  const { proxy, revoke } = Proxy.revocable({}, {})
  revoke()
  return proxy
}

describe('the request id', () => {
  it.each(['a', 'A-1_b.c:d', 'x'.repeat(128)])(
    'is the one of the client, where it is well formed: %s',
    async id => {
      const response = await handlerOf()(get('/api/agents', { 'x-request-id': id }))
      expect(response.headers.get('x-request-id')).toBe(id)
    },
  )

  it.each(['', 'a b', 'x'.repeat(129), 'a"b', '<script>', 'é'])('is a new one in place of "%s"', async id => {
    const response = await handlerOf()(get('/api/agents', { 'x-request-id': id }))
    expect(response.headers.get('x-request-id')).toMatch(UUID)
  })

  it('is the same in context, header and problem', async () => {
    const ids: string[] = []
    const look: Middleware = (_request, { requestId }, next) => {
      ids.push(requestId)
      return next()
    }
    const response = await handlerOf({ middleware: [look] })(get('/nowhere'))
    expect([response.headers.get('x-request-id'), (await response.json()).requestId]).toEqual([
      ids[0],
      ids[0],
    ])
  })
})

describe('methods', () => {
  it('HEAD has the status and headers of GET, and no body', async () => {
    const handler = handlerOf()
    const [head, whole] = [await handler(get('/api/agents', {}, 'HEAD')), await handler(get())]
    expect(head.status).toBe(200)
    expect(head.body).toBeNull()
    expect(head.headers.get('content-type')).toBe(whole.headers.get('content-type'))
  })

  it('HEAD has no body where GET is a problem', async () => {
    const response = await handlerOf()(get('/nowhere', {}, 'HEAD'))
    expect([response.status, response.body]).toEqual([404, null])
  })

  it('another method is 405 with `Allow`', async () => {
    const response = await handlerOf()(get('/api/agents/echo/run'))
    expect(response.headers.get('allow')).toBe('OPTIONS, POST')
    expect(await codeOf(response)).toBe('405 method_not_allowed')
  })

  it('OPTIONS tells `Allow`, and is 404 where nothing is', async () => {
    const response = await handlerOf()(get('/api/agents', {}, 'OPTIONS'))
    expect([response.status, response.headers.get('allow')]).toEqual([204, 'GET, HEAD, OPTIONS'])
    expect((await handlerOf()(get('/nowhere', {}, 'OPTIONS'))).status).toBe(404)
  })
})

describe('`fallback`', () => {
  it('answers what matches nothing, untouched and without middleware', async () => {
    const behind = vi.fn(pass)
    const own = Response.json({ mine: true })
    const handler = handlerOf({ fallback: async () => own, middleware: [behind], cors: true })
    const response = await handler(get('/nowhere'))
    expect(response).toBe(own)
    expect([...response.headers.keys()]).toEqual(['content-type'])
    expect(behind).not.toHaveBeenCalled()
  })

  it('gets the request itself', async () => {
    const fallback = vi.fn(() => new Response())
    const request = get('/nowhere')
    await handlerOf({ fallback })(request)
    expect(fallback).toHaveBeenCalledExactlyOnceWith(request)
  })

  it('is not asked for a known path: 405 and unknown names stay as they are', async () => {
    const fallback = vi.fn(() => new Response())
    const handler = handlerOf({ fallback })
    expect((await handler(get('/api/agents', {}, 'PUT'))).status).toBe(405)
    expect((await handler(post('nobody'))).status).toBe(404)
    expect((await handler(get('/api/agents/%/run', {}, 'POST'))).status).toBe(400)
    expect(fallback).not.toHaveBeenCalled()
  })

  it.each<[string, () => Response]>([
    [
      'throws',
      () => {
        throw new Error('inside')
      },
    ],
    ['returns nothing', () => untyped(undefined)],
  ])('that %s is answered with a problem', async (_, fallback) => {
    const response = await handlerOf({ fallback })(get('/nowhere'))
    expect(response.headers.get('x-request-id')).toMatch(UUID)
    expect(await codeOf(response)).toBe('500 internal_error')
  })
})

describe('response headers', () => {
  it('are set on responses whose headers cannot be changed', async () => {
    const redirect = handlerOf({ middleware: [() => Response.redirect('http://h/login')], cors: true })
    const response = await redirect(get('/api/agents', { origin: 'http://o' }))
    expect(response.status).toBe(302)
    expect(response.headers.get('x-request-id')).toMatch(UUID)
    expect(response.headers.get('access-control-allow-origin')).toBe('*')
  })
})

describe('`cors`', () => {
  const asked = { origin: 'http://o', 'access-control-request-method': 'POST' }

  it('answers a preflight before middleware is asked', async () => {
    const behind = vi.fn(pass)
    const handler = handlerOf({ cors: true, middleware: [behind] })
    const response = await handler(get('/api/agents/echo/run', asked, 'OPTIONS'))
    expect(response.status).toBe(204)
    expect(response.headers.get('access-control-allow-methods')).toBe('OPTIONS, POST')
    expect(response.headers.get('access-control-allow-origin')).toBe('*')
    expect(behind).not.toHaveBeenCalled()
  })

  it('allows the key headers of the options', async () => {
    const providers = { own: { header: 'X-Own-Key', matches: [] } }
    const response = await handlerOf({ cors: true, providers })(get('/api/agents', asked, 'OPTIONS'))
    const allowed = response.headers.get('access-control-allow-headers')
    for (const header of ['x-own-key', 'x-provider-a-api-key', 'x-api-key']) expect(allowed).toContain(header)
  })

  it('marks errors too', async () => {
    const handler = handlerOf({ cors: ['http://o'] })
    for (const request of [
      get('/nowhere', { origin: 'http://o' }),
      get('/api/agents', { origin: 'http://o' }, 'PUT'),
    ]) {
      expect((await handler(request)).headers.get('access-control-allow-origin')).toBe('http://o')
    }
  })

  it('is off by default', async () => {
    const response = await handlerOf()(get('/api/agents', { origin: 'http://o' }))
    expect([...response.headers.keys()].filter(name => name.startsWith('access-control'))).toEqual([])
    expect((await handlerOf()(get('/api/agents', asked, 'OPTIONS'))).headers.get('allow')).toContain('GET')
  })

  it('answers although its function throws, and allows nobody then', async () => {
    const origins = () => {
      throw new Error('inside')
    }
    const response = await handlerOf({ cors: { origins } })(get('/api/agents', { origin: 'http://o' }))
    expect(response.headers.has('access-control-allow-origin')).toBe(false)
  })
})

describe('the log', () => {
  async function logged(options: HandlerOptions, request: Request) {
    const entries: LogEntry[] = []
    const response = await handlerOf({
      logger: entry => void (entry.event !== 'request' && entries.push(entry)),
      ...options,
    })(request)
    return { entries, response, text: await response.text() }
  }
  const failing = (message: string): HandlerOptions => ({
    middleware: [() => Promise.reject(new Error(message))],
  })

  it('tells what nobody threw on purpose, once', async () => {
    const { entries, response } = await logged(failing('inside'), get('/api/agents'))
    const requestId = response.headers.get('x-request-id')
    expect(entries).toEqual([
      {
        level: 'error',
        event: 'request.failed',
        requestId,
        part: 'router',
        message: 'inside',
        error: { name: 'Error', message: 'inside', stack: expect.stringContaining('dispatch.test.ts') },
      },
    ])
  })

  it('tells nothing of what the client did wrong', async () => {
    const { entries } = await logged({}, post('nobody'))
    expect(entries).toEqual([])
  })

  it('tells a run that fails once, by the start of its id', async () => {
    const agents = { a: foreign('a', () => Promise.reject(new Error('inside'))) }
    const { entries, response } = await logged({ agents }, post('a'))
    expect(entries).toEqual([
      {
        level: 'error',
        event: 'run.failed',
        kind: 'agent',
        name: 'a',
        code: 'agent_failed',
        message: 'inside',
        runId: response.headers.get('x-run-id')?.slice(0, 8),
        requestId: response.headers.get('x-request-id'),
        error: { name: 'Error', message: 'inside', stack: expect.stringContaining('dispatch.test.ts') },
      },
    ])
  })

  it('and the answer hold no key of the request', async () => {
    const keys = { 'x-api-key': 'sk-1', 'x-provider-a-api-key': 'sk-2' }
    const { entries, text } = await logged(failing('sk-1 and sk-2 are refused'), get('/api/agents', keys))
    expect(JSON.stringify(entries)).not.toMatch(/sk-\d/)
    expect(text).not.toMatch(/sk-\d/)
  })

  it('and the answer hold no key when a result cannot be written', async () => {
    const structured = {
      toJSON: () => {
        throw new Error('sk-1 is refused')
      },
    }
    const agents = { a: foreign('a', () => [{ type: 'finish', finishReason: 'stop', structured }]) }
    const { entries, text } = await logged({ agents }, post('a', { input: 'hi', apiKey: 'sk-1' }))
    expect(text).toContain('500')
    expect(JSON.stringify(entries)).not.toMatch(/sk-\d/)
    expect(text).not.toMatch(/sk-\d/)
  })
})

describe('Context', () => {
  it('knows the part of a request at any time', async () => {
    const contexts: Context[] = []
    const look: Middleware = (_request, context, next) => {
      contexts.push(context)
      return next()
    }
    await handlerOf({ middleware: [look] })(get())
    expect(contexts[0]).toMatchObject({ part: 'router', params: {}, ip: undefined, identity: undefined })
  })
})
