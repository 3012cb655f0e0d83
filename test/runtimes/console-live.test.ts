/**
 * How the console stays up to date: one stream for all windows, and what it does while the service does not answer.
 *
 * @module-tag long
 */

import { createServer, request, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Browser, BrowserContext } from 'playwright-core'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { type Client, createClient } from '../../src/client/index.ts'
import { served } from '../contracts/served.ts'
import { needing } from '../needing.ts'
import { layLine } from './broken-line.ts'
import { HAS_BROWSER, launch, violationsOf, visit } from './browser.ts'
import { startNode } from './harness.ts'

let browser: Browser
beforeAll(async () => {
  if (HAS_BROWSER) browser = await launch()
})
afterAll(() => browser?.close())

/** A proxy in front of a service, which counts the streams that are open. */
interface Counting {
  readonly url: string
  readonly open: () => number
  stop(): Promise<void>
}

async function countStreams(target: string): Promise<Counting> {
  let open = 0
  const server: Server = createServer((asked, answer) => {
    const isStream = asked.headers.accept === 'text/event-stream'
    if (isStream) open++
    const { hostname, port } = new URL(target)
    const passed = request(
      { hostname, port, method: asked.method, path: asked.url, headers: asked.headers },
      response => {
        answer.writeHead(response.statusCode ?? 502, response.headers)
        response.pipe(answer)
      },
    )
    passed.on('error', () => answer.destroy())
    answer.on('close', () => {
      passed.destroy()
      if (isStream) open--
    })
    asked.pipe(passed)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    open: () => open,
    stop: () =>
      new Promise(resolve => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

needing('chromium-headless-shell').describe('the console in many windows', () => {
  const server = served(() => startNode('test/contracts/console/service.ts'))
  let client: Client
  beforeAll(() => {
    client = createClient({ baseUrl: `${server().url}/api` })
  })

  const windowsOn = async (context: BrowserContext, url: string, count: number) => {
    const pages = []
    for (let index = 0; index < count; index++) {
      const page = await context.newPage()
      await page.goto(`${url}/api/console#/runs`)
      await page.getByRole('heading', { name: 'Runs', exact: true }).waitFor()
      pages.push(page)
    }
    return pages
  }

  it('has one stream for all of them, and each shows what happens', { timeout: 60_000 }, async () => {
    const line = await countStreams(server().url)
    onTestFinished(() => line.stop())
    const context = await browser.newContext()
    onTestFinished(() => context.close())
    // Over HTTP/1.1 a browser has six connections: the eighth window would never load if each had a stream.
    const pages = await windowsOn(context, line.url, 8)
    await expect.poll(line.open).toBe(1)
    await client.runs.start({ kind: 'agent', name: 'echo' }, 'for every window')
    for (const page of pages) await page.getByText('for every window').first().waitFor()
    expect(line.open()).toBe(1)
    // Another window leads when the one that had the stream is closed.
    await pages[0]!.close()
    await expect.poll(line.open).toBe(1)
    await client.runs.start({ kind: 'agent', name: 'echo' }, 'after the first was closed')
    for (const page of pages.slice(1)) await page.getByText('after the first was closed').first().waitFor()
  })

  it('streams nothing to hidden windows', { timeout: 60_000 }, async () => {
    const line = await countStreams(server().url)
    onTestFinished(() => line.stop())
    const context = await browser.newContext()
    onTestFinished(() => context.close())
    const [page] = await windowsOn(context, line.url, 1)
    await expect.poll(line.open).toBe(1)
    const hide = (state: 'hidden' | 'visible') =>
      page!.evaluate(now => {
        Object.defineProperty(document, 'hidden', { configurable: true, get: () => now === 'hidden' })
        document.dispatchEvent(new Event('visibilitychange'))
      }, state)
    await hide('hidden')
    await expect.poll(line.open).toBe(0)
    await client.runs.start({ kind: 'agent', name: 'echo' }, 'while nobody looked')
    await hide('visible')
    await expect.poll(line.open).toBe(1)
    await page!.getByText('while nobody looked').first().waitFor()
  })

  it('follows a few runs at work at a time, and the next when one is free', { timeout: 90_000 }, async () => {
    const context = await browser.newContext()
    onTestFinished(() => context.close())
    const ids = await Promise.all(
      Array.from(
        { length: 4 },
        async () => (await client.runs.start({ kind: 'agent', name: 'slow' }, '600')).id,
      ),
    )
    const pages = []
    for (const id of ids) {
      const page = await context.newPage()
      await page.goto(`${server().url}/api/console#/runs/${id}`)
      await page.locator('.title').waitFor()
      pages.push(page)
    }
    const waits = pages.at(-1)!.getByText('This browser has no connection left')
    await waits.waitFor()
    await pages[0]!.close()
    await waits.waitFor({ state: 'detached' })
    for (const id of ids) await client.runs.cancel(id)
    await pages.at(-1)!.locator('.title .status.cancelled').waitFor()
  })
})

needing('chromium-headless-shell').describe('the console of a service that goes away', () => {
  const server = served(() => startNode('test/contracts/console/service.ts'))

  it('says so within seconds, keeps what it shows, and goes on by itself', { timeout: 90_000 }, async () => {
    const line = await layLine(server().url)
    onTestFinished(() => line.stop())
    const { page } = await visit(browser, `${line.url}/api/console#/home`)
    await page.getByText('Live', { exact: true }).waitFor()
    line.down()
    const lost = page.getByText(/^Not connected since \d\d:\d\d.*trying again/)
    await lost.waitFor({ timeout: 5000 })
    await page.getByText('Not connected', { exact: true }).waitFor()
    expect(await violationsOf(page)).toEqual([])
    await page.getByRole('heading', { name: 'Not well' }).waitFor()
    // A screen that is opened meanwhile loads once the service answers.
    await page.goto(`${line.url}/api/console#/sessions`).catch(() => {})
    line.up()
    await lost.waitFor({ state: 'detached' })
    await page.getByText('There are no sessions yet.').waitFor()
    await page.getByText('Live', { exact: true }).waitFor()
  })

  it('takes any answer for one, such as that a file of an older page is gone', async () => {
    const { page } = await visit(browser, `${server().url}/api/console#/home`)
    let asked = 0
    await page.route('**/assets/icon*', async route => {
      asked++
      await route.fulfill({ status: 404 })
    })
    await expect.poll(() => asked, { timeout: 20_000 }).toBeGreaterThan(1)
    await page.getByText('Live', { exact: true }).waitFor()
    expect(await page.locator('.lost').count()).toBe(0)
  })

  it('loads a screen again whose file did not come', async () => {
    const context = await browser.newContext()
    onTestFinished(() => context.close())
    const page = await context.newPage()
    await page.route('**/assets/more-*', route => route.abort())
    await page.goto(`${server().url}/api/console#/sessions`)
    const again = page.getByRole('button', { name: 'Try again' })
    await again.waitFor()
    expect(await violationsOf(page)).toEqual([])
    await page.unroute('**/assets/more-*')
    await again.click()
    await page.getByText('There are no sessions yet.').waitFor()
  })

  it('goes on with an answer that was being written', { timeout: 90_000 }, async () => {
    const line = await layLine(server().url)
    onTestFinished(() => line.stop())
    const { page } = await visit(browser, `${line.url}/api/console#/chat/agent/slow`)
    const field = page.getByRole('textbox', { name: 'Message', exact: true })
    await field.fill('150')
    await field.press('Enter')
    const answer = page.getByRole('article', { name: 'Answer of slow' })
    await answer.getByText('1 2 3').waitFor()
    line.down()
    await page.getByText('Not connected', { exact: true }).waitFor()
    line.up()
    await page.getByRole('status').filter({ hasText: 'Answer complete' }).waitFor({ timeout: 60_000 })
    const numbers = (await answer.locator('.markdown').innerText()).trim().split(' ')
    expect(numbers).toEqual(Array.from({ length: 150 }, (_, index) => `${index + 1}`))
  })
})
