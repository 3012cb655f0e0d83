/** Pages of other origins in a real browser. */
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createHandler, type HandlerOptions, type Middleware } from '../../src/index.ts'
import { type RunningServer, serve } from '../../src/runtimes/node.ts'
import { needing } from '../needing.ts'
import { speaker } from '../support.ts'
import { launch } from './browser.ts'

/** What browsers asked of the service, and whom its own middleware took the visitor for. */
interface Seen {
  readonly asked: string
  readonly who: string | undefined
  readonly status: number
}

/** A service that knows its visitors by a cookie, and gives everyone one. */
async function start(options: HandlerOptions): Promise<{ server: RunningServer; seen: Seen[] }> {
  const seen: Seen[] = []
  const byCookie: Middleware = (request, context, next) => {
    const [, id] = /who=(\w+)/.exec(request.headers.get('cookie') ?? '') ?? []
    if (id !== undefined) context.identity = { id }
    return next()
  }
  const handler = createHandler({
    agents: { echo: speaker('echo', 'x') },
    registry: false,
    fileUpload: true,
    gateway: true,
    middleware: [byCookie],
    allowedHosts: ['agents.test'],
    ...options,
    logger: ({ event, method, path, identity, status }) => {
      if (event !== 'request' || !/^\/(api|socket.io)\//.test(String(path))) return
      seen.push({ asked: `${method} ${path}`, who: identity as string | undefined, status: Number(status) })
    },
    fallback: () =>
      new Response('<!doctype html><title>A page</title>', {
        headers: { 'content-type': 'text/html', 'set-cookie': 'who=ada; Path=/' },
      }),
  })
  return { server: await serve(handler, { port: 0 }), seen }
}

/** What a page can do to a service without asking first: gives what each attempt came to. */
const ATTACK = `async ({ url, socket }) => {
  const settled = promise => promise.then(response => response.status || 'opaque', () => 'failed')
  const run = url + '/api/agents/echo/run'
  const form = () => { const data = new FormData(); data.set('input', 'Hello'); return data }
  const mode = { method: 'POST', mode: 'no-cors', credentials: 'include' }
  await settled(fetch(run, { ...mode, body: form() }))
  await settled(fetch(url + '/api/runs/00000000-0000-4000-8000-000000000000/cancel', mode))
  await settled(fetch(url + '/socket.io/?EIO=4&transport=polling', { mode: 'no-cors', credentials: 'include' }))
  const opened = await new Promise(resolve => {
    const raw = new WebSocket(url.replace('http', 'ws') + '/socket.io/')
    raw.onopen = () => { raw.close(); resolve(true) }
    raw.onerror = () => resolve(false)
  })
  const frame = Object.assign(document.createElement('iframe'), { name: 'target' })
  const element = Object.assign(document.createElement('form'), {
    action: run, method: 'POST', enctype: 'multipart/form-data', target: 'target',
  })
  element.append(Object.assign(document.createElement('input'), { name: 'input', value: 'Hello' }))
  document.body.append(frame, element)
  const loaded = new Promise(resolve => frame.addEventListener('load', resolve))
  element.submit()
  await loaded
  return opened
}`

needing('chromium-headless-shell').describe('a page in Chromium', () => {
  let browser: Browser
  let own: Awaited<ReturnType<typeof start>>
  let open: Awaited<ReturnType<typeof start>>
  let listed: Awaited<ReturnType<typeof start>>
  let elsewhere: RunningServer
  beforeAll(async () => {
    elsewhere = await serve(() => Promise.resolve(page()), { port: 0 })
    own = await start({})
    open = await start({ cors: true })
    listed = await start({ cors: [`http://127.0.0.1:${elsewhere.port}`] })
    // Names that lead here and are not to be trusted as `localhost` is: there browsers send no `Sec-Fetch-Site`.
    browser = await launch(['--host-resolver-rules=MAP *.test 127.0.0.1'])
  })
  afterAll(async () => {
    await browser?.close()
    for (const server of [own?.server, open?.server, listed?.server, elsewhere]) await server?.close()
  })

  /** A visitor whom the service at this address knows by a cookie. */
  async function visit(service: string, pageUrl: string): Promise<{ context: BrowserContext; page: Page }> {
    const context = await browser.newContext()
    const page = await context.newPage()
    await page.goto(service)
    expect(await context.cookies(service)).toMatchObject([{ name: 'who', value: 'ada' }])
    await page.goto(pageUrl)
    return { context, page }
  }

  /** Attacks a service from a page; gives whether the WebSocket opened, and what the service saw. */
  async function attack(
    { server, seen }: Awaited<ReturnType<typeof start>>,
    host: string,
    from: (service: string) => string,
  ): Promise<{ opened: unknown; all: Seen[] }> {
    const service = `http://${host}:${server.port}`
    const { context, page } = await visit(service, from(service))
    seen.length = 0
    const opened = await page.evaluate(`(${ATTACK})(${JSON.stringify({ url: service })})`)
    await context.close()
    return { opened, all: [...seen] }
  }

  /** How the service answered: a form by `fetch`, a cancel, and a form that was sent off. */
  const answered = (all: readonly Seen[]) =>
    all.filter(({ asked }) => asked.startsWith('POST')).map(({ status }) => status)

  it.each([
    ['of the same site', '127.0.0.1', '127.0.0.1', 403],
    ['of another site', '127.0.0.1', 'localhost', 403],
    // Of a `GET` whose answer the page cannot read, such a browser says nothing at all.
    ['of another host, where the browser sends `Origin` alone', 'agents.test', 'evil.test', 200],
    ['of another port, where the browser sends `Origin` alone', 'agents.test', 'agents.test', 200],
  ])('%s changes nothing in its visitor’s name', async (_, host, other, polled) => {
    const { opened, all } = await attack(own, host, () => `http://${other}:${elsewhere.port}`)
    expect(opened).toBe(false)
    expect(answered(all)).toEqual([403, 403, 403])
    expect(all.map(({ asked, status }) => [asked, status])).toContainEqual(['GET /socket.io/', polled])
    expect(all.filter(({ status }) => status === 403).map(({ who }) => who)).not.toContain('ada')
  })

  it.each(['127.0.0.1', 'agents.test'])('of the own origin at %s does it all, as its visitor', async host => {
    const { opened, all } = await attack(own, host, service => service)
    expect(opened).toBe(true)
    expect(answered(all)).toEqual([200, 404, 200])
    expect(all.map(({ who }) => who)).toEqual(all.map(() => 'ada'))
    expect(all.map(({ status }) => status)).not.toContain(403)
  })

  it('of an origin that `cors` names does it all', async () => {
    const { opened, all } = await attack(listed, '127.0.0.1', () => elsewhere.url)
    expect(opened).toBe(true)
    expect(answered(all)).toEqual([200, 404, 200])
  })

  it('of any origin, where `cors` lets any in, runs agents without its visitor’s cookies', async () => {
    const { opened, all } = await attack(open, '127.0.0.1', () => elsewhere.url)
    expect(opened).toBe(false)
    expect(answered(all)).toEqual([403, 403, 403])
    const { context, page: other } = await visit(open.server.url, elsewhere.url)
    const run = `fetch('${open.server.url}/api/agents/echo/run', {
      method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"input":"Hello"}',
    }).then(response => response.json())`
    expect(await other.evaluate(run)).toMatchObject({ text: 'x' })
    await context.close()
  })
})

function page(): Response {
  return new Response('<!doctype html><title>Elsewhere</title><body></body>', {
    headers: { 'content-type': 'text/html' },
  })
}
