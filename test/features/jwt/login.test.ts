import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { webConsole } from '../../../src/features/console/plugin.ts'
import { jwtAuth, type OidcLoginOptions, oidcLogin } from '../../../src/features/jwt/index.ts'
import { createHandler, type HandlerOptions, type LogEntry } from '../../../src/index.ts'
import {
  AUDIENCE,
  CONSOLE_CLIENT,
  type Issuer,
  newPair,
  startIssuer,
  startLogins,
} from '../../contracts/jwt/issuer.ts'
import { allow, says } from './kit.ts'

const ORIGIN = 'http://127.0.0.1:9'
const CALLBACK = `${ORIGIN}/api/console/callback`
const OWN_PAGE = { 'sec-fetch-site': 'same-origin' }

/** Cookies as a browser keeps them: by name. */
class Jar extends Map<string, string> {
  take({ headers }: Response): void {
    for (const each of headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(each) ?? []
      if (/max-age=0/i.test(each)) this.delete(name)
      else this.set(name, value)
    }
  }

  get text(): string {
    return [...this].map(each => each.join('=')).join('; ')
  }
}

function service(issuer: Issuer, options: Partial<OidcLoginOptions> = {}, more: HandlerOptions = {}) {
  const logged: LogEntry[] = []
  const login = oidcLogin({ issuer: issuer.url, allow, ...CONSOLE_CLIENT, ...options })
  const handler = createHandler({
    serve: [says],
    registry: false,
    middleware: [jwtAuth({ issuer: issuer.url, audience: AUDIENCE, allow })],
    plugins: [webConsole({ authenticate: (_, identity) => identity, login })],
    logger: entry => void logged.push(entry),
    ...more,
  })
  const jar = new Jar()
  const ask = async (path: string, { headers = {}, ...init }: RequestInit = {}) => {
    const all = new Headers(headers)
    if (!all.has('cookie')) all.set('cookie', jar.text)
    const response = await handler(new Request(new URL(path, ORIGIN), { ...init, headers: all }))
    jar.take(response)
    return response
  }
  return {
    ...{ logged, jar, ask },
    /** Begins a login, and returns where the browser is sent. */
    begin: async () => new URL((await ask('/api/console/login')).headers.get('location') ?? ''),
    /** Comes back from the provider, and returns where the browser is sent then. */
    back: async (query: Record<string, string>) => {
      const response = await ask(`/api/console/callback?${new URLSearchParams(query)}`)
      expect(response.status).toBe(303)
      return response.headers.get('location')
    },
    reasons: () =>
      logged.flatMap(({ event, level, message }) => (event === 'login.failed' ? `${level} ${message}` : [])),
  }
}

/** Logs in with the pages of the provider, and returns the address that it sends the browser back to. */
async function logInAt(from: URL, user: string): Promise<string> {
  const jar = new Jar()
  const visit = async (url: string, init: RequestInit = {}): Promise<string> => {
    if (url.startsWith(ORIGIN)) return url
    const response = await fetch(url, { ...init, headers: { cookie: jar.text }, redirect: 'manual' })
    jar.take(response)
    const location = response.headers.get('location')
    if (location !== null) return visit(new URL(location, url).href)
    const page = await response.text()
    const [, action = ''] = /<form[^>]* action="([^"]+)"/.exec(page) ?? []
    const [, prompt = ''] = /name="prompt" value="([^"]+)"/.exec(page) ?? []
    if (action === '') throw new Error(`${response.status} ${page}`)
    const body = new URLSearchParams({ prompt, ...(prompt === 'login' && { login: user, password: 'any' }) })
    return visit(new URL(action, url).href, { method: 'POST', body })
  }
  return visit(from.href)
}

describe('a login by a provider', () => {
  let issuer: Issuer
  beforeAll(async () => {
    issuer = await startLogins(CALLBACK)
  })
  afterAll(() => issuer.stop())

  it('lets a user in, whose cookie counts only in requests of the service’s own pages', async () => {
    const { ask, begin, jar } = service(issuer)
    const to = await begin()
    expect(Object.fromEntries(to.searchParams)).toMatchObject({
      ...{ response_type: 'code', scope: 'openid', redirect_uri: CALLBACK, code_challenge_method: 'S256' },
    })
    const done = await ask(await logInAt(to, 'ada'))
    expect(done.headers.get('location')).toBe(`${ORIGIN}/api/console`)
    expect(done.headers.getSetCookie()[1]).toMatch(
      /^__Host-servable=[\w.-]+; Path=\/; Max-Age=\d+; Secure; HttpOnly; SameSite=Strict$/,
    )
    expect([...jar.keys()]).toEqual(['__Host-servable'])
    const config = await ask('/api/console/config', { headers: OWN_PAGE })
    expect(await config.json()).toMatchObject({ identity: { id: 'ada' }, isLoggedIn: true, listsRuns: true })
    const statusOf = async (headers: HeadersInit) => (await ask('/api/runs', { headers })).status
    expect(await statusOf({ origin: ORIGIN })).toBe(200)
    for (const headers of [
      {},
      ...['cross-site', 'same-site', 'none'].map(site => ({ 'sec-fetch-site': site })),
      { 'sec-fetch-site': 'cross-site', origin: ORIGIN },
      { origin: 'http://evil.example' },
      { origin: 'null' },
      { ...OWN_PAGE, authorization: 'Bearer x' },
      { ...OWN_PAGE, cookie: 'servable=x; __Host-servable=' },
    ])
      expect(await statusOf(headers), JSON.stringify(headers)).toBe(401)
    const out = await ask('/api/console/logout', { method: 'POST', headers: OWN_PAGE })
    expect([out.status, jar.size]).toEqual([204, 0])
  })

  it('needs no secret where the provider lets the client be public', async () => {
    const open = await startIssuer()
    const { begin, back, jar } = service(open, { clientSecret: undefined })
    const query = (await begin()).searchParams
    open.answer('/token', { id_token: await open.sign({ aud: 'console', nonce: query.get('nonce') }) })
    expect(await back({ code: 'x', state: query.get('state')!, iss: open.url })).toBe(`${ORIGIN}/api/console`)
    expect(jar.size).toBe(1)
    await open.stop()
  })

  it('is that of the address under which clients reach the service', async () => {
    const { begin } = service(issuer, {}, { publicUrl: 'https://agents.example.com' })
    expect((await begin()).searchParams.get('redirect_uri')).toBe(
      'https://agents.example.com/api/console/callback',
    )
  })

  it('fails once its code was used', async () => {
    const { ask, begin, jar, reasons } = service(issuer)
    const to = await begin()
    const begun = jar.text
    const back = await logInAt(to, 'ada')
    await ask(back)
    const again = await ask(back, { headers: { cookie: begun } })
    expect(again.headers.get('location')).toBe(`${ORIGIN}/api/console?login=failed`)
    expect(reasons().join()).toContain('error ')
    expect(reasons().join()).not.toContain(new URL(back).searchParams.get('code'))
  })
})

describe('a login that fails', () => {
  let issuer: Issuer
  beforeAll(async () => {
    issuer = await startIssuer()
  })
  afterAll(() => issuer.stop())
  const FAILED = `${ORIGIN}/api/console?login=failed`

  it.each([
    ['another browser', () => ({ state: 'x', code: 'x' }), 'was not begun by this browser'],
    ['no state', () => ({ code: 'x' }), 'was not begun by this browser'],
    ['a refusal', (state: string) => ({ state, error: 'access_denied' }), 'refused: access_denied'],
    [
      'another issuer',
      (state: string) => ({ state, code: 'x', iss: 'https://evil.example' }),
      'Another issuer',
    ],
  ])('by %s', async (_, query, reason) => {
    const { begin, back, jar, reasons } = service(issuer)
    const state = (await begin()).searchParams.get('state') ?? ''
    expect(await back(query(state) as Record<string, string>)).toBe(FAILED)
    expect(reasons().at(-1)).toMatch(new RegExp(`^info .*${reason}`))
    expect(jar.size).toBe(0)
  })

  it('without its cookie', async () => {
    const { begin, back, jar } = service(issuer)
    const state = (await begin()).searchParams.get('state') ?? ''
    jar.clear()
    expect(await back({ state, code: 'x' })).toBe(FAILED)
  })

  it.each<[string, object, string, Partial<OidcLoginOptions>?]>([
    ['of another login', { nonce: 'x' }, 'of another login'],
    ['without a nonce', { nonce: undefined }, 'of another login'],
    ['for another client', { aud: 'other' }, 'aud'],
    [
      'for several clients, and made for another',
      { aud: ['console', 'other'], azp: 'other' },
      'another client',
    ],
    ['that is too old', { exp: 1 }, 'exp'],
    ['that is too long', { groups: 'x'.repeat(4000) }, 'ask for fewer claims'],
    ['of someone whom `identity` refuses', {}, 'refuses this user', { identity: () => undefined }],
  ])('with a token %s', async (_, claims, reason, options) => {
    const { begin, back, jar, reasons } = service(issuer, options)
    const { searchParams: sent } = await begin()
    issuer.answer('/token', {
      id_token: await issuer.sign({ aud: 'console', nonce: sent.get('nonce'), ...claims }),
    })
    expect(await back({ state: sent.get('state')!, code: 'x' })).toBe(FAILED)
    expect(reasons().at(-1)).toMatch(new RegExp(`^info .*${reason}`))
    expect(jar.size).toBe(0)
  })

  it.each([
    [{}, 200],
    ['x', 200],
    [{ error: 'invalid_grant' }, 400],
  ])('with the answer %j', async (answer, status) => {
    const { begin, back, reasons } = service(issuer)
    const state = (await begin()).searchParams.get('state') ?? ''
    issuer.answer('/token', answer, status)
    expect(await back({ state, code: 'x' })).toBe(FAILED)
    expect(reasons().at(-1)).toContain('error ')
  })

  it('with a cookie that was forged', async () => {
    const { ask, jar } = service(issuer)
    const forger = await newPair()
    const tokens = [
      await issuer.sign({ aud: 'console' }, { kid: issuer.pair.jwk.kid }, forger),
      // It is for the service, and not for its console.
      await issuer.sign(),
      await issuer.sign({ aud: 'console', exp: 1 }),
      'x',
    ]
    for (const token of tokens) {
      jar.set('__Host-servable', token)
      expect((await ask('/api/runs', { headers: OWN_PAGE })).status).toBe(401)
    }
  })

  it('while the provider is away', async () => {
    const away = await startIssuer()
    await away.stop()
    const { ask } = service(away)
    const asked = await ask('/api/console/login')
    expect([asked.status, (await asked.json()).code]).toEqual([502, 'provider_failed'])
  })
})

describe('its options', () => {
  it.each([
    [{ clientId: 'x' }, '`oidcLogin.issuer` is missing'],
    [{ issuer: 'login.example.com', clientId: 'x' }, '`oidcLogin.issuer` must be a URL'],
    [{ issuer: 'https://login.example.com' }, '`oidcLogin.clientId` is missing'],
    [{ issuer: 'https://login.example.com', clientId: 'x', clientSecret: '' }, 'is a variable missing?'],
    [
      { issuer: 'https://login.example.com', clientId: 'x', audience: 'x' },
      '`oidcLogin.audience` is not a known field',
    ],
  ])('say what is wrong: %j', (options, says) => {
    expect(() => oidcLogin(options as never)).toThrow(says)
  })

  it('are those of a login', () => {
    expect(() => webConsole({ login: {} as never })).toThrow('must be made by `oidcLogin`')
  })
})
