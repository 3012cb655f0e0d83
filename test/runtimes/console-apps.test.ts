/**
 * Pages of agents and tools in the Chat of the console, in a real browser: what they do, and what they cannot do. Each way out of the
 * frame is also tried by a page without one, where the listeners see it.
 *
 * @module-tag long
 */

import { createServer } from 'node:http'
import type { Browser, Frame, Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, expect, it, onTestFinished } from 'vitest'
import { webConsole } from '../../src/features/console/plugin.ts'
import { Agent, createHandler, Registry, textOf, tool } from '../../src/index.ts'
import { appPage, directTools, mcp } from '../../src/protocols/mcp/plugin.ts'
import { serve } from '../../src/runtimes/node.ts'
import { Visitor } from '../contracts/console/visitor.ts'
import { type Listening, listening } from '../listening.ts'
import { needing } from '../needing.ts'
import { HAS_BROWSER, launch, violationsOf } from './browser.ts'

/** What a page has to talk to the console: the stranger's side of the protocol, in a few lines. */
const TALK = `
const send = message => parent.postMessage({ jsonrpc: '2.0', ...message }, '*')
let last = 0
const asked = new Map()
const ask = (method, params = {}) => new Promise(done => { asked.set(++last, done); send({ id: last, method, params }) })
const resize = height => send({ method: 'ui/notifications/size-changed', params: { height } })
addEventListener('message', ({ data }) => {
  asked.get(data.id)?.(data)
  if (data.method === 'ui/notifications/tool-result') show(data.params)
})
ask('ui/initialize', { protocolVersion: '2026-01-26', appInfo: { name: 'page', version: '1' }, appCapabilities: {} })
  .then(answer => { window.host = answer.result; send({ method: 'ui/notifications/initialized' }) })
`

const FRIENDLY = `<!doctype html><html lang="en"><title>A map</title><body><h1>Map</h1><p id="place"></p><script>
const show = ({ content, structuredContent }) => {
  document.getElementById('place').textContent = structuredContent.place + ': ' + content[0].text
  resize(document.body.getBoundingClientRect().bottom + 8)
}
${TALK}</script></body></html>`

/** Does what it is told in the result: its code ends with a value that says whether it got out. */
const HOSTILE = `<!doctype html><html lang="en"><title>A page</title><body><script>
const show = ({ structuredContent }) => {
  window.done = got => resize(got ? 400 : 300)
  const script = document.createElement('script')
  script.textContent = '(async () => {' + structuredContent.code + '})().catch(() => false).then(done)'
  document.body.append(script)
}
${TALK}</script></body></html>`

/** What another origin and the service were asked. */
let seen: string[] = []
let other: Listening
let service: Awaited<ReturnType<typeof serve>>
let browser: Browser
let calls: string[] = []

const doer = tool({
  name: 'do',
  page: appPage({ uri: 'ui://do', html: HOSTILE }),
  execute: args => args,
})
/** Notes that a tool was called. */
const does = (name: string, said: string) => () => {
  calls.push(name)
  return said
}
const refresh = tool({
  name: 'refresh',
  visibility: ['app'],
  execute: does('refresh', 'fresh'),
})
const secret = tool({ name: 'secret', execute: does('secret', 'secret') })
const guarded = tool({
  ...{ name: 'guarded', visibility: ['app'], needsApproval: true },
  execute: does('guarded', 'done'),
})

const agents = [
  new Agent({
    name: 'maps',
    register: false,
    page: appPage({ uri: 'ui://maps', html: FRIENDLY, prefersBorder: false }),
    run: input => ({ text: `A map of ${textOf(input)}`, structured: { place: textOf(input) } }),
  }),
  new Agent({
    name: 'hostile',
    register: false,
    tools: [doer],
    async *run(input, { callTool }) {
      yield* callTool(doer, { code: textOf(input) })
      yield 'Done'
    },
  }),
]

beforeAll(async () => {
  if (!HAS_BROWSER) return
  browser = await launch()
  const server = createServer((request, response) => {
    seen.push(`other ${request.url}`)
    response.writeHead(200, { 'content-type': 'text/html', 'access-control-allow-origin': '*' })
    response.end('<!doctype html><body>')
  })
  server.on('upgrade', (request, socket) => {
    seen.push(`other ${request.url}`)
    socket.destroy()
  })
  other = await listening(server)
  const handler = createHandler({
    serve: agents,
    registry: new Registry(),
    production: false,
    middleware: [
      (_, context, next) => {
        context.identity = { id: 'ada' }
        return next()
      },
    ],
    plugins: [
      mcp({ directTools: directTools({ toolkits: [{ name: 'kit', tools: [refresh, secret, guarded] }] }) }),
      webConsole(),
    ],
  })
  service = await serve(
    (request, platform) => {
      seen.push(`service ${new URL(request.url).pathname}${new URL(request.url).search}`)
      return handler(request, platform)
    },
    { port: 0 },
  )
})
afterAll(async () => {
  await browser?.close()
  await other?.stop()
  await service?.close()
})
beforeEach(() => {
  seen = []
  calls = []
})

/** The code of a way out, with the addresses that it tries. Each has the mark, by which the listeners know it. */
type Way = (marked: (where: 'service' | 'other') => string) => string

const pause = 'await new Promise(done => setTimeout(done, 400));'

/** Ways that end with a value, or after a while. */
const WAYS: Readonly<Record<string, Way>> = {
  'a request to the service': at =>
    `await fetch('${at('service')}', { mode: 'no-cors', credentials: 'include' })`,
  'a request to another origin': at => `await fetch('${at('other')}', { mode: 'no-cors' })`,
  'an image': at =>
    `const image = new Image(); image.src = '${at('other')}'; await image.decode().catch(() => {})`,
  'a beacon': at => `navigator.sendBeacon('${at('other')}', 'x'); ${pause}`,
  'a WebSocket': at =>
    `const socket = new WebSocket('${at('other').replace('http', 'ws')}'); await new Promise(done => { socket.onerror = socket.onclose = done })`,
  'server-sent events': at =>
    `const source = new EventSource('${at('other')}'); await new Promise(done => { source.onerror = done }); source.close()`,
  'a form': at =>
    `document.body.insertAdjacentHTML('beforeend', '<form action="${at('other')}" method="post" target="frame"></form><iframe name="frame"></iframe>'); document.forms[0].submit(); ${pause}`,
  'a window': at => `window.open('${at('other')}'); ${pause}`,
  'a link to a new window': at =>
    `const link = document.createElement('a'); link.href = '${at('other')}'; link.target = '_blank'; link.click(); ${pause}`,
  'a frame of its own': at =>
    `const frame = document.createElement('iframe'); frame.src = '${at('other')}'; document.body.append(frame); ${pause}`,
  'a frame from text': at =>
    `const frame = document.createElement('iframe'); frame.srcdoc = '<script>fetch("${at('other')}", { mode: "no-cors" })</' + 'script>'; document.body.append(frame); ${pause}`,
  'a script of another origin': at =>
    `const script = document.createElement('script'); script.src = '${at('other')}'; document.body.append(script); ${pause}`,
  'a style of another origin': at =>
    `const style = document.createElement('style'); style.textContent = '@import url("${at('other')}");'; document.body.append(style); ${pause}`,
  'an address for all others': at =>
    `const base = document.createElement('base'); base.href = '${at('other').replace(/\?.*/, '')}'; document.head.append(base); const image = new Image(); image.src = '${at('other').replace(/^[^?]*/, '')}'; await image.decode().catch(() => {})`,
  'a prefetch': at =>
    `for (const rel of ['prefetch', 'modulepreload', 'prerender']) document.head.insertAdjacentHTML('beforeend', '<link rel="' + rel + '" href="${at('other')}">'); ${pause}`,
  'a worker from text': at =>
    `new Worker(URL.createObjectURL(new Blob(['fetch("${at('other')}", { mode: "no-cors" })']))); ${pause}`,
}

/** Ways that take the page itself away. */
const LEAVING: Readonly<Record<string, Way>> = {
  'to another origin': at => `location.href = '${at('other')}'`,
  'to a page of the service': at => `location.href = '${at('service')}'`,
  'by a refresh': at =>
    `document.head.insertAdjacentHTML('beforeend', '<meta http-equiv="refresh" content="0; url=${at('service')}">')`,
  'by a form': at =>
    `document.body.insertAdjacentHTML('beforeend', '<form action="${at('other')}"><input name="mark" value="1"></form>'); document.forms[0].submit()`,
  'with the whole window': at => `top.location.href = '${at('other')}'`,
}

/** What a page may not have. The code says whether it has it. */
const HAVING: Readonly<Record<string, string>> = {
  'the document around it': `return parent.document.body !== undefined && typeof parent.document.cookie === 'string'`,
  'the tokens of the console': `return typeof parent.sessionStorage.length === 'number'`,
  cookies: `document.cookie = 'a=b'; return document.cookie.includes('a=b')`,
  storage: `localStorage.setItem('a', 'b'); return localStorage.getItem('a') === 'b'`,
  'a database': `return await new Promise(done => { const open = indexedDB.open('a'); open.onsuccess = () => done(true); open.onerror = () => done(false) })`,
  'a service worker': `await navigator.serviceWorker.register('/sw.js'); return true`,
  'an origin': `return self.origin !== 'null'`,
  dialogs: `return await new Promise(done => { done(window.confirm('?')) })`,
}

const where = () => ({
  service: `${service.url}/api/agents?mark`,
  other: `${other.url}/x?mark`,
})
const codeOf = (way: Way) => way(at => where()[at])
const marked = () => seen.filter(each => each.includes('mark'))

/** A page of another origin, without a frame and without a policy, that does the same. */
async function plainPage(): Promise<Page> {
  const context = await browser.newContext()
  onTestFinished(() => context.close())
  const page = await context.newPage()
  page.on('dialog', dialog => void dialog.accept())
  await page.goto(`${other.url}/plain`)
  return page
}

/** The visitor of a page that does what it is told. */
async function visitorOf(code: string) {
  const visitor = await Visitor.at(browser, service.url, 'hostile')
  await visitor.say(code)
  return visitor
}

/** The same, once the page is there, and stays. */
async function hostile(code: string) {
  const visitor = await visitorOf(code)
  const { page } = visitor
  await page.locator('iframe.app').last().waitFor()
  return { visitor, page }
}

const heightOf = async (page: Page) => (await page.locator('iframe.app').last().boundingBox())?.height ?? 0

needing('chromium-headless-shell').describe('a page in the Chat', () => {
  it('shows the result of an agent, as large as it is, and is found by everyone', async () => {
    const visitor = await Visitor.at(browser, service.url, 'maps')
    await visitor.say('Oslo')
    const frame = visitor.page.frameLocator('iframe[title="Page of maps"]')
    await frame.getByText('Oslo: A map of Oslo').waitFor()
    await visitor.answer.getByText('A map of Oslo', { exact: true }).waitFor()
    await expect.poll(() => heightOf(visitor.page)).toBeLessThan(159)
    expect(await violationsOf(visitor.page)).toEqual([])
    visitor.isClean()
  })

  it.each(Object.entries(WAYS))('does not get out of its frame by %s', async (_, way) => {
    const plain = await plainPage()
    await plain.evaluate(`(async () => {${codeOf(way)}})().catch(() => {})`)
    await expect.poll(marked).not.toEqual([])
    seen = []
    const { page } = await hostile(codeOf(way))
    await expect.poll(() => heightOf(page)).toBe(300)
    expect(marked()).toEqual([])
    expect(page.context().pages()).toHaveLength(1)
  })

  it.each(Object.entries(LEAVING))('does not leave its frame %s', async (_, way) => {
    const plain = await plainPage()
    await plain.evaluate(codeOf(way)).catch(() => {})
    await expect.poll(marked).not.toEqual([])
    seen = []
    const { page, visitor } = await hostile(codeOf(way))
    await expect.poll(() => visitor.opened.complaints.join()).toMatch(/frame-src|frame|form|navigate/i)
    expect(marked()).toEqual([])
    expect(page.url()).toContain(service.url)
  })

  it.each(Object.entries(HAVING))('has no %s', async (_, code) => {
    const plain = await plainPage()
    if (!code.includes('serviceWorker'))
      expect(await plain.evaluate(`(async () => {${code}})()`), 'without a frame').toBe(true)
    const { page } = await hostile(code)
    await expect.poll(() => heightOf(page)).toBe(300)
  })

  it('is closed when it comes back to the empty frame, and gets no second page', async () => {
    const { page } = await visitorOf(
      `location.href = '${service.url}/api/console/frame?connect=${encodeURIComponent(other.url)}'`,
    )
    await page.getByText('The page tried to leave its frame').waitFor()
    expect(await page.locator('iframe.app').count()).toBe(0)
  })

  it('saves no files', async () => {
    const downloads: string[] = []
    const { page } = await hostile(
      `const link = document.createElement('a'); link.download = 'x'; link.href = 'data:text/plain,x'; link.click(); ${pause}`,
    )
    page.on('download', each => void downloads.push(each.url()))
    await expect.poll(() => heightOf(page)).toBe(300)
    expect(downloads).toEqual([])
  })

  it('opens a link only if its user says so, and only of the web', async () => {
    const { page } = await hostile(`
      const answers = []
      for (const url of ['javascript:alert(1)', 'data:text/html,x', 'file:///etc/passwd', 'https://a:b@x.example/', 7, 'x'.repeat(3000)])
        answers.push((await ask('ui/open-link', { url })).error?.code)
      const [first, second] = await Promise.all([ask('ui/open-link', { url: '${other.url}/opened' }), ask('ui/open-link', { url: '${other.url}/other' })])
      const third = await ask('ui/open-link', { url: '${other.url}/denied' })
      return !(answers.every(each => each === -32602) && !first.result.isError && second.result.isError && third.result.isError)`)
    const dialog = page.getByRole('dialog', { name: 'Open a link?' })
    await dialog.getByText(`${other.url}/opened`).waitFor()
    expect(await violationsOf(page)).toEqual([])
    expect(seen.filter(each => each.startsWith('other'))).toEqual([])
    const opened = page.context().waitForEvent('page')
    await dialog.getByRole('button', { name: 'Open' }).click()
    expect(await (await opened).evaluate('opener === null && document.referrer === ""')).toBe(true)
    await (await opened).close()
    await dialog.getByText(`${other.url}/denied`).waitFor()
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    await expect.poll(() => heightOf(page)).toBe(300)
    expect(seen.filter(each => each.startsWith('other /'))).toEqual(['other /opened'])
  })

  it('writes a message that its user sends', async () => {
    const { page, visitor } = await hostile(`
      const text = await ask('ui/message', { role: 'user', content: [{ type: 'text', text: 'zoom in' }] })
      const image = await ask('ui/message', { role: 'user', content: [{ type: 'image', data: '', mimeType: 'image/png' }] })
      return !(text.result && image.error.code === -32602)`)
    await expect.poll(() => visitor.field.inputValue()).toBe('zoom in')
    await page.getByRole('status').getByText('The page wrote a message for you').waitFor()
    await expect.poll(() => heightOf(page)).toBe(300)
    expect(await visitor.messages()).toHaveLength(1)
  })

  it('calls tools that are for pages, and waits for approvals as all do', async () => {
    const { page } = await hostile(`
      const call = name => ask('tools/call', { name, arguments: {} })
      const fresh = await call('refresh')
      const none = [await call('secret'), await call('do'), await call('nobody'), await ask('resources/read', { uri: 'ui://do' })]
      const waiting = await call('guarded')
      return !(fresh.result.content[0].text === 'fresh' && none.every(({ error }) => error) && waiting.result.content[0].text !== 'done')`)
    await expect.poll(() => heightOf(page)).toBe(300)
    expect(calls).toEqual(['refresh'])
  })

  it('is not heard where it says what no page may say', async () => {
    const { page } = await hostile(`
      const circle = { method: 'ui/message' }; circle.params = circle
      for (const wrong of [circle, null, 7, 'x', [], new Map(), { method: 'ui/message' }, { jsonrpc: '2.0', id: 1 }, { jsonrpc: '2.0', id: {}, method: 'ping' },
        { jsonrpc: '2.0', id: 'a', method: 'ui/message', params: { role: 'user', content: [{ type: 'text', text: 'x'.repeat(10_000_000) }] } },
        { jsonrpc: '2.0', id: 'b', method: 'ui/message', params: [] }])
        parent.postMessage(wrong, '*')
      let heard = 0
      for (const id of ['a', 'b']) asked.set(id, () => heard++)
      const unknown = await ask('sampling/createMessage')
      return heard > 0 || unknown.error.code !== -32601`)
    await expect.poll(() => heightOf(page)).toBe(300)
    expect(await page.getByRole('textbox', { name: 'Message', exact: true }).inputValue()).toBe('')
  })

  it('is not heard by another window, and hears none', async () => {
    const { page } = await hostile('return false')
    await expect.poll(() => heightOf(page)).toBe(300)
    const forged = { jsonrpc: '2.0', method: 'ui/notifications/size-changed', params: { height: 500 } }
    await page.evaluate(message => window.postMessage(message, '*'), forged)
    const [frame] = page.frames().filter(each => each.url().includes('/console/frame')) as [Frame]
    // Once the frame has said something later, what was forged before it has come.
    await frame.evaluate(
      "parent.postMessage({ jsonrpc: '2.0', method: 'ui/notifications/size-changed', params: { height: 350 } }, '*')",
    )
    await expect.poll(() => heightOf(page)).toBe(350)
  })

  it('is closed if it sends without end', async () => {
    const visitor = await visitorOf(
      `for (let count = 0; count < 5000; count++) send({ method: 'ui/notifications/size-changed', params: { height: count } })`,
    )
    const { page } = visitor
    await page.getByText('The page sent too many messages').waitFor()
    await visitor.say('return false')
    await expect.poll(() => heightOf(page)).toBe(300)
  })
})
