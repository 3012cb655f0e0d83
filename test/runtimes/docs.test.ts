/** The documentation page in a real browser, where Debian's Chromium is installed, as it is on CI. */
import { existsSync } from 'node:fs'
import { type Browser, chromium, type Page, type Request } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { served } from '../contracts/served.ts'
import { type Runtime, startNode, startWrangler } from './harness.ts'

const executablePath = '/usr/bin/chromium'

const SERVERS: readonly [name: string, start: () => Promise<Runtime>][] = [
  ['Node', () => startNode('test/runtimes/entries/docs-node.ts')],
  ['the dev server', () => startWrangler()],
]

describe.skipIf(!existsSync(executablePath)).each(SERVERS)('the documentation page of %s', (_, start) => {
  const server = served(start)
  let browser: Browser
  beforeAll(async () => {
    browser = await chromium.launch({
      executablePath,
      args: [
        '--no-sandbox',
        '--disable-gpu',
        '--disable-background-networking',
        '--disable-component-update',
      ],
    })
  })
  afterAll(() => browser?.close())

  /** The page, with all that it asked for and all that it complained of. */
  async function open(): Promise<{ page: Page; requests: Request[]; complaints: string[] }> {
    const page = await browser.newPage()
    onTestFinished(() => page.close())
    const requests: Request[] = []
    const complaints: string[] = []
    page.on('request', request => requests.push(request))
    page.on('console', message => message.type() === 'error' && complaints.push(message.text()))
    page.on('pageerror', error => complaints.push(String(error)))
    await page.goto(`${server().url}/api/docs`)
    await page.getByText('Run an agent and get its result').waitFor()
    return { page, requests, complaints }
  }

  /** Opens an operation, runs its example with the agent `echo`, and gives the request that it sent. */
  async function execute(page: Page, id: string): Promise<Request> {
    const operation = page.locator(`[id$="${id}"]`)
    await operation.locator('.opblock-summary').click()
    await operation.locator('select').first().selectOption('echo')
    const sent = page.waitForRequest(request => request.method() === 'POST')
    await operation.getByRole('button', { name: 'Execute' }).click()
    return sent
  }

  it('loads under a strict policy, with no complaint and no request to another host', async () => {
    const { page, requests, complaints } = await open()
    const response = await fetch(`${server().url}/api/docs`)
    expect(response.headers.get('content-security-policy')).toContain("default-src 'none'; script-src 'self'")
    expect(await page.locator('.opblock').count()).toBeGreaterThan(10)
    expect(
      new Set(requests.filter(each => each.url().startsWith('http')).map(each => new URL(each.url()).host)),
    ).toEqual(new Set([new URL(server().url).host]))
    expect(complaints).toEqual([])
  })

  it('sends the key with each request, once it is told', { timeout: 60_000 }, async () => {
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
    expect(JSON.parse((await (await run.response())!.body()).toString())).toMatchObject({
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
    expect(await page.evaluate(() => JSON.stringify({ ...localStorage, ...sessionStorage }))).not.toContain(
      'sk-',
    )
  })
})
