import { describe, expect, it } from 'vitest'
import { ToolServerManager } from '../../src/adapters/mcp-client/index.ts'
import { createHandler, type HandlerOptions, type Middleware, platform } from '../../src/index.ts'
import type { CorsSetting } from '../../src/web/cors.ts'
import { speaker } from '../support.ts'

const OWN = 'http://agents.example'
const APP = 'https://app.example'
const EVIL = 'https://evil.example'
const cookie = { cookie: 'session=ada' }

type Fields = Record<string, string>

/** A deployment that knows its users by a cookie, and counts who comes past the check. */
function make(options: HandlerOptions = {}) {
  let passed = 0
  const count: Middleware = (_request, context, next) => {
    passed++
    context.identity = { id: 'ada' }
    return next()
  }
  const handler = createHandler({
    agents: { echo: speaker('echo', 'x') },
    registry: false,
    logger: false,
    middleware: [count],
    ...options,
  })
  const ask = async (method: string, path: string, headers: Fields, body?: BodyInit) =>
    handler(
      new Request(`${OWN}${path}`, {
        method,
        headers,
        ...(body !== undefined && { body }),
      }),
    )
  return { handler, ask, passed: () => passed }
}

const upload = (): FormData => {
  const form = new FormData()
  form.set('input', 'Hello')
  return form
}

async function statusOf(headers: Fields, options: HandlerOptions = {}): Promise<number> {
  const { ask, passed } = make({ fileUpload: true, ...options })
  const response = await ask('POST', '/api/agents/echo/run', headers, upload())
  const { code } = await response.json()
  expect(code === 'cross_site_request').toBe(response.status === 403)
  expect(passed()).toBe(response.status === 403 ? 0 : 1)
  return response.status
}

const site = (name: string, rest: Fields = {}): Fields => ({
  ...cookie,
  'sec-fetch-site': name,
  ...rest,
})

describe('a request that changes something', () => {
  it.each<[string, Fields]>([
    ['of a program, which has neither header', {}],
    ['of a program with a cookie', cookie],
    ['of a page of the own origin', site('same-origin', { origin: OWN })],
    ['of a page that hides its origin', site('same-origin', { origin: 'null' })],
    ['of a person', site('none')],
    ['of the own origin, where the browser says no more', { ...cookie, origin: OWN }],
    ['of the own origin behind a proxy that ends TLS', { ...cookie, origin: 'https://agents.example' }],
    ['of the own origin behind a proxy that changes `Host`', site('same-origin', { origin: APP })],
    ['of another origin with a token', site('cross-site', { origin: EVIL, authorization: 'Bearer t' })],
    ['of another origin with a token of another scheme', { origin: EVIL, authorization: 'Token t' }],
  ])('passes %s', async (_, headers) => {
    expect(await statusOf(headers)).toBe(200)
  })

  it.each<[string, Fields]>([
    ['a page of another site', site('cross-site', { origin: EVIL })],
    ['a page of another site, without a cookie', { 'sec-fetch-site': 'cross-site', origin: EVIL }],
    ['a page of the same site', site('same-site', { origin: 'https://other.agents.example' })],
    ['a page of another site that says it is ours', site('cross-site', { origin: OWN })],
    ['a page of another site without an origin', site('cross-site')],
    ['what a browser says that nobody knows', site('elsewhere')],
    ['an empty word of a browser', site('')],
    ['another origin, where the browser says no more', { ...cookie, origin: EVIL }],
    ['an origin that only begins alike', { ...cookie, origin: `${OWN}.evil.example` }],
    ['another port of the own host', { ...cookie, origin: `${OWN}:8080` }],
    ['no origin that can be told', { ...cookie, origin: 'null' }],
    ['an origin that is none', { ...cookie, origin: 'nonsense' }],
    ['an origin without a host', { ...cookie, origin: 'file://' }],
    ['an empty origin', { ...cookie, origin: '' }],
    ['a page, with what a browser remembers', { origin: EVIL, authorization: 'Basic YTpi' }],
    ['a page, with a ticket', { origin: EVIL, authorization: 'negotiate abc' }],
    ['a page, with an empty token', { origin: EVIL, authorization: '' }],
  ])('does not pass from %s', async (_, headers) => {
    expect(await statusOf(headers)).toBe(403)
  })

  const list: CorsSetting = [APP]
  const some: CorsSetting = {
    origins: origin => origin === APP,
    credentials: true,
  }
  it.each<[string, CorsSetting, Fields, number]>([
    ['an origin of the list', list, site('cross-site', { origin: APP }), 200],
    ['an origin of the list on the same site', list, site('same-site', { origin: APP }), 200],
    ['an origin of the list, where the browser says no more', list, { ...cookie, origin: APP }, 200],
    ['an origin that a function takes', some, site('cross-site', { origin: APP }), 200],
    ['an origin that is not on the list', list, site('cross-site', { origin: EVIL }), 403],
    ['an origin that a function refuses', some, site('cross-site', { origin: EVIL }), 403],
    ['nobody without an origin', list, site('cross-site'), 403],
    ['`null` where it is not named', list, site('cross-site', { origin: 'null' }), 403],
    ['`null` where it is named', ['null'], site('cross-site', { origin: 'null' }), 200],
    ['any origin', true, { 'sec-fetch-site': 'cross-site', origin: EVIL }, 200],
    ['any page, also one that hides its origin', true, { 'sec-fetch-site': 'cross-site' }, 200],
    ['no other origin with a cookie, where any may', true, site('cross-site', { origin: EVIL }), 403],
    ['the own origin with a cookie, where any may', true, site('same-origin', { origin: OWN }), 200],
    [
      'no other origin with what a browser remembers, where any may',
      true,
      {
        'sec-fetch-site': 'cross-site',
        origin: EVIL,
        authorization: 'Basic YTpi',
      },
      403,
    ],
  ])('is let in by CORS from %s', async (_, cors, headers, status) => {
    expect(await statusOf(headers, { cors })).toBe(status)
  })

  it.each<[string, string, Fields, number]>([
    ['the public address', 'https://public.example', { origin: 'https://public.example' }, 200],
    ['the address of the request', 'https://public.example', { origin: OWN }, 200],
    [
      'another scheme of the public address',
      'https://public.example',
      { origin: 'http://public.example' },
      403,
    ],
    ['another origin', 'https://public.example', { origin: EVIL }, 403],
  ])('knows %s as its own', async (_, publicUrl, headers, status) => {
    expect(await statusOf({ ...cookie, ...headers }, { publicUrl })).toBe(status)
  })

  it('is of the own origin, whoever writes the port that a scheme implies', async () => {
    const { handler } = make()
    for (const port of [443, 80]) {
      const request = new Request(`http://agents.example:${port}/api/runs/x/cancel`, {
        method: 'POST',
        headers: {
          origin: port === 443 ? 'https://agents.example' : 'http://agents.example',
        },
      })
      expect((await handler(request)).status).toBe(404)
    }
  })
})

describe('the check of cross-site requests', () => {
  const foreign = site('cross-site', { origin: EVIL })
  const a2a = { a2a: true } as const
  const admin = {
    production: false,
    admin: { manager: new ToolServerManager({ register: false }) },
  }
  const gateway = { gateway: true } as const
  const socket = '/socket.io/?EIO=4&transport='

  it.each<[string, string, HandlerOptions]>([
    ['POST', '/api/agents/echo/run', {}],
    ['POST', '/api/agents/echo/stream', {}],
    ['POST', '/api/agents/echo/corrections', {}],
    ['POST', '/api/runs/00000000-0000-4000-8000-000000000000/cancel', {}],
    ['POST', '/', a2a],
    ['POST', '/agents/echo/v1/message:send', a2a],
    ['POST', '/api/admin/mcp', admin],
    ['DELETE', '/api/admin/mcp/00000000-0000-4000-8000-000000000000', admin],
    ['GET', `${socket}polling`, gateway],
    ['HEAD', `${socket}polling`, gateway],
    ['GET', `${socket}polling&sid=some`, gateway],
    ['POST', `${socket}polling&sid=some`, gateway],
  ])('refuses %s %s', async (method, path, options) => {
    const { ask, passed } = make(options)
    const response = await ask(method, path, foreign)
    expect([response.status, passed()]).toEqual([403, 0])
    expect(response.headers.get('x-request-id')).toBeTruthy()
    if (method !== 'HEAD')
      expect(await response.json()).toMatchObject({
        code: 'cross_site_request',
      })
  })

  it.each([`${socket}websocket`, '/socket.io/'])('refuses a WebSocket at %s', async path => {
    const { handler } = make(gateway)
    let isUpgraded = false
    const upgrade = () => {
      isUpgraded = true
      return new Response(null)
    }
    const open = async (headers: Fields) => {
      isUpgraded = false
      const request = new Request(`${OWN}${path}`, {
        headers: { upgrade: 'websocket', ...headers },
      })
      return [(await handler(request, platform({ upgrade }))).status, isUpgraded]
    }
    for (const headers of [foreign, { ...cookie, origin: EVIL }])
      expect(await open(headers)).toEqual([403, false])
    expect(await open({ ...cookie, origin: OWN })).toEqual([200, true])
    expect(await open(site('same-origin', { origin: OWN }))).toEqual([200, true])
  })

  it.each<[string, string, number, HandlerOptions]>([
    ['GET', '/api/health', 200, {}],
    ['HEAD', '/api/health', 200, {}],
    ['GET', '/api/runs/00000000-0000-4000-8000-000000000000', 404, {}],
    ['OPTIONS', '/api/agents/echo/run', 204, {}],
    ['PUT', '/api/agents/echo/run', 405, {}],
    ['POST', '/nowhere', 404, {}],
    ['POST', '/nowhere', 418, { fallback: () => new Response('own', { status: 418 }) }],
  ])('has nothing to do with %s %s, which is %i', async (method, path, status, options) => {
    expect((await make(options).ask(method, path, foreign)).status).toBe(status)
  })

  it('goes by the origins of the socket for the socket, and by `cors` for the rest', async () => {
    const { ask } = make({
      cors: [APP],
      gateway: { origins: ['https://live.example'] },
    })
    const from = (origin: string) => site('cross-site', { origin })
    const cancel = '/api/runs/x/cancel'
    expect((await ask('GET', `${socket}polling`, from('https://live.example'))).status).toBe(200)
    expect((await ask('GET', `${socket}polling`, from(APP))).status).toBe(403)
    expect((await ask('POST', cancel, from(APP))).status).toBe(404)
    expect((await ask('POST', cancel, from('https://live.example'))).status).toBe(403)
  })

  it('says what to write, and lets a page that may call read it', async () => {
    const told = async (options: HandlerOptions, path: string, headers: Fields) => {
      const response = await make(options).ask('POST', path, headers)
      const { detail } = await response.json()
      return [detail, response.headers.get('access-control-allow-origin')]
    }
    const run = '/api/agents/echo/run'
    expect(await told({}, run, foreign)).toEqual([expect.stringMatching(/`cors`.*`publicUrl`/), null])
    expect(await told({ cors: [APP] }, run, foreign)).toEqual([expect.stringContaining('`cors`'), null])
    expect(await told({ cors: true }, run, foreign)).toEqual([expect.stringContaining('credentials'), '*'])
    expect(await told(gateway, `${socket}polling`, foreign)).toEqual([
      expect.stringContaining('`gateway.origins`'),
      null,
    ])
    expect(await told({ ...admin, cors: true }, '/api/admin/mcp', foreign)).toEqual([
      expect.stringContaining('no CORS'),
      null,
    ])
  })

  it('comes after a preflight, which tells a page what it may', async () => {
    const headers = { ...foreign, 'access-control-request-method': 'POST' }
    const { ask } = make({ cors: [APP] })
    const answer = await ask('OPTIONS', '/api/agents/echo/run', headers)
    expect([answer.status, answer.headers.get('access-control-allow-origin')]).toEqual([204, null])
  })
})
