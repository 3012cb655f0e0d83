/**
 * The documentation page in a real browser, where Debian's Chromium is installed, as it is on CI.
 *
 * @module-tag long
 */
import type { Browser, Page, Request } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { served } from '../contracts/served.ts'
import { needing } from '../needing.ts'
import { hostsOf, launch, type Opened, visit } from './browser.ts'
import { type Runtime, startNode, startWrangler } from './harness.ts'

/** Gives the page what it asks for. */
async function enter(page: Page, label: string, token: string): Promise<void> {
  await page.getByLabel(label).fill(token)
  await page.getByRole('button', { name: 'Show it' }).click()
}

const isShown = (page: Page) => page.getByText('Run an agent and get its result').waitFor()

/** Opens an operation, runs its example with the agent `echo`, and gives the request that it sent. */
async function execute(page: Page, id: string): Promise<Request> {
  const operation = page.locator(`[id$="${id}"]`)
  await operation.locator('.opblock-summary').click()
  await operation.locator('select').first().selectOption('echo')
  const sent = page.waitForRequest(request => request.method() === 'POST')
  await operation.getByRole('button', { name: 'Execute' }).click()
  return sent
}

const bodyOf = async (request: Request) => JSON.parse((await (await request.response())!.body()).toString())

/** What the page keeps in the browser, and in its address. */
const keptBy = (page: Page) =>
  page.evaluate(() => JSON.stringify({ ...localStorage, ...sessionStorage, at: location.href }))

const SERVERS: readonly [name: string, start: () => Promise<Runtime>][] = [
  ['Node', () => startNode('test/runtimes/entries/docs-node.ts')],
  ['the dev server', () => startWrangler()],
]

needing('chromium-headless-shell').describe.each(SERVERS)('the documentation page of %s', (_, start) => {
  const server = served(start)
  let browser: Browser
  beforeAll(async () => {
    browser = await launch()
  })
  afterAll(() => browser?.close())

  const open = async (): Promise<Opened> => {
    const opened = await visit(browser, `${server().url}/api/docs`)
    await isShown(opened.page)
    return opened
  }

  it('loads under a strict policy, with no complaint and no request to another host', async () => {
    const { page, requests, complaints } = await open()
    const response = await fetch(`${server().url}/api/docs`)
    expect(response.headers.get('content-security-policy')).toContain("default-src 'none'; script-src 'self'")
    // Of many operations the page shows those in view.
    await expect.poll(() => page.locator('.opblock').count()).toBeGreaterThan(5)
    expect(hostsOf(requests)).toEqual(new Set([new URL(server().url).host]))
    expect(complaints).toEqual([])
  })

  it('sends the key with each request, once it is told', { timeout: 300_000 }, async () => {
    const { page, complaints } = await open()
    await page.getByRole('button', { name: 'Authorize' }).click()
    const dialog = page.locator('.dialog-ux')
    const any = dialog.locator('.auth-container', { hasText: 'x-api-key' }).last()
    await any.locator('input').fill('sk-of-the-reader')
    await any
      .getByRole('button', { name: 'Apply' })
      .or(any.getByRole('button', { name: 'Authorize' }))
      .click()
    await dialog.getByRole('button', { name: 'Close' }).last().click()

    const run = await execute(page, 'runAgent')
    expect(await run.headerValue('x-api-key')).toBe('sk-of-the-reader')
    expect(await bodyOf(run)).toMatchObject({
      text: 'Hello',
      finishReason: 'stop',
    })
    await page
      .locator('[id$="runAgent"] .live-responses-table')
      .getByText('"finishReason": "stop"')
      .first()
      .waitFor()

    const stream = await execute(page, 'streamAgent')
    expect(await stream.headerValue('x-api-key')).toBe('sk-of-the-reader')
    const shown = page.locator('[id$="streamAgent"] .live-responses-table')
    await shown.getByText('"type":"finish"').first().waitFor()
    expect(complaints).toEqual([])
  })

  it('keeps no key for the next reader', async () => {
    const { page } = await open()
    expect(await keptBy(page)).not.toContain('sk-')
  })
})

needing('chromium-headless-shell').describe('the documentation page of a guarded service', () => {
  const server = served(() => startNode('test/runtimes/entries/docs-node.ts'))
  let browser: Browser
  beforeAll(async () => {
    browser = await launch()
  })
  afterAll(() => browser?.close())

  const WAYS = [
    ['bearer', 'Bearer token', 'authorization', 'Bearer token-of-ada'],
    ['key', 'x-service-key', 'x-service-key', 'token-of-ada'],
  ] as const

  describe.each(WAYS)('by %s', (mount, label, header, sent) => {
    const open = () => visit(browser, `${server().url}/${mount}/api/docs`)

    it('asks for it and tells nothing until then', async () => {
      const { page, requests, complaints } = await open()
      await page.getByLabel(label).waitFor()
      expect(requests.map(each => new URL(each.url()).pathname)).not.toContain(`/${mount}/api/docs/spec.json`)
      for (const each of requests) {
        const body = String(await (await each.response())?.body())
        expect(body).not.toContain('friends')
        expect(body).not.toContain('summarizer')
      }
      expect(await page.title()).toBe('API documentation')
      expect(complaints).toEqual([])
    })

    it('shows all with it, runs with it, and keeps it nowhere', { timeout: 300_000 }, async () => {
      const { page, requests, complaints } = await open()
      await enter(page, label, 'token-of-ada')
      await isShown(page)
      expect(await page.title()).toBe('Agents & <friends>')
      const run = await execute(page, 'runAgent')
      expect(await run.headerValue(header)).toBe(sent)
      expect(await bodyOf(run)).toMatchObject({ text: 'Hello', finishReason: 'stop' })
      const stream = await execute(page, 'streamAgent')
      expect((await stream.response())?.status()).toBe(200)
      expect(await keptBy(page)).not.toContain('token-of-ada')
      expect(requests.filter(each => each.url().includes('token-of-ada'))).toEqual([])
      expect(hostsOf(requests)).toEqual(new Set([new URL(server().url).host]))
      expect(complaints).toEqual([])
      await page.reload()
      await page.getByLabel(label).waitFor()
    })

    it('says so where it is not accepted, and may be told another', async () => {
      const opened = await open()
      for (const wrong of ['token-of-nobody', 'no header holds \u{1f600}']) {
        await enter(opened.page, label, wrong)
        await opened.page.getByText('This was not accepted').waitFor()
      }
      await enter(opened.page, label, 'token-of-ada')
      await isShown(opened.page)
      expect(await opened.page.getByText('This was not accepted').count()).toBe(0)
    })
  })

  it('takes another token with "Authorize"', { timeout: 300_000 }, async () => {
    const { page } = await visit(browser, `${server().url}/bearer/api/docs`)
    await enter(page, 'Bearer token', 'token-of-ada')
    await isShown(page)
    await page.getByRole('button', { name: 'Authorize' }).click()
    const own = page.locator('.dialog-ux .auth-container', { hasText: 'for this service' }).last()
    await own.getByRole('button', { name: 'Remove authorization' }).click()
    await own.locator('input').fill('token-of-nobody')
    await own.getByRole('button', { name: 'Apply' }).click()
    await page.locator('.dialog-ux').getByRole('button', { name: 'Close' }).last().click()
    const run = await execute(page, 'runAgent')
    expect(await run.headerValue('authorization')).toBe('Bearer token-of-nobody')
    expect((await run.response())?.status()).toBe(401)
  })

  it('shows all at once where a proxy adds the token', async () => {
    const context = await browser.newContext({ extraHTTPHeaders: { authorization: 'Bearer token-of-ada' } })
    onTestFinished(() => context.close())
    const { page, complaints } = await visit(context, `${server().url}/bearer/api/docs`)
    await isShown(page)
    expect(complaints).toEqual([])
  })

  it('shows all at once to whom middleware of its own knows by a cookie', async () => {
    const context = await browser.newContext()
    onTestFinished(() => context.close())
    await context.addCookies([{ name: 'sid', value: 'ada', url: server().url }])
    const { page, complaints } = await visit(context, `${server().url}/own/api/docs`)
    await isShown(page)
    expect(await bodyOf(await execute(page, 'runAgent'))).toMatchObject({ text: 'Hello' })
    expect(complaints).toEqual([])
  })

  it('asks for a token where middleware of its own wants one', async () => {
    const { page } = await visit(browser, `${server().url}/own/api/docs`)
    await enter(page, 'Bearer token', 'token-of-ada')
    await isShown(page)
    expect(await (await execute(page, 'runAgent')).headerValue('authorization')).toBe('Bearer token-of-ada')
  })

  it('is a page for browsers alone, and its document for nobody without a token', async () => {
    const ask = async (path: string, headers: Record<string, string> = {}) =>
      (await fetch(`${server().url}/bearer/api/docs${path}`, { headers })).status
    const html = { accept: 'text/html,*/*' }
    expect(await ask('', html)).toBe(200)
    expect(await ask('')).toBe(401)
    expect(await ask('/spec.json', html)).toBe(401)
    expect(await ask('/spec.json', { ...html, 'sec-fetch-mode': 'navigate' })).toBe(401)
    expect(await ask('/spec.json', { authorization: 'Bearer token-of-ada' })).toBe(200)
  })
})
