/** Pages of LangGraph's hook and of assistant-ui, in Chromium, against a server. */
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { build } from 'esbuild'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { eventually } from '../../eventually.ts'
import { type Listening, listening } from '../../listening.ts'
import { skipWithout } from '../../needing.ts'
import { HAS_BROWSER, launch } from '../../runtimes/browser.ts'

const PAGES = 'test/frameworks/langgraph-clients/pages'

/** Bundles the pages with the packages of a folder. */
async function bundle(folder: string, outdir: string): Promise<void> {
  await build({
    entryPoints: ['hook', 'assistant-ui'].map(name => join(folder, PAGES, `${name}.tsx`)),
    outdir,
    bundle: true,
    splitting: true,
    format: 'esm',
    jsx: 'automatic',
    define: { 'process.env.NODE_ENV': '"production"' },
    logLevel: 'error',
  })
}

/** Serves the bundles, and a page for each. */
function servePages(outdir: string): Promise<Listening> {
  const server = createServer(async (request, response) => {
    const { pathname } = new URL(request.url ?? '', 'http://page.test')
    const isScript = pathname.endsWith('.js')
    response.setHeader('content-type', isScript ? 'text/javascript' : 'text/html')
    const html = `<!doctype html><link rel="icon" href="data:,"><div id="root"></div><script type="module" src="${pathname}.js"></script>`
    response.end(isScript ? await readFile(join(outdir, pathname)) : html)
  })
  return listening(server)
}

/** Numbers as `slow` says them. */
const counted = (count: number) => Array.from({ length: count }, (_, at) => at + 1).join(' ')

/** Declares the tests of a server's pages. `keepsForks`: whether later turns follow the newest one. */
export function pageCases(
  server: () => { readonly url: string; readonly folder: string },
  { keepsForks }: { readonly keepsForks: boolean },
): void {
  let pages: Listening
  let browser: Browser
  beforeAll(async () => {
    if (!HAS_BROWSER) return
    const { folder } = server()
    const outdir = join(folder, 'pages')
    await bundle(folder, outdir)
    pages = await servePages(outdir)
    browser = await launch()
  })
  afterAll(async () => {
    await browser?.close()
    await pages?.stop()
  })
  beforeEach(context => skipWithout('chromium-headless-shell', context))

  /** Opens a page in a context of its own. */
  async function open(name: string, agent: string, line = ''): Promise<Page> {
    const context = await browser.newContext()
    onTestFinished(() => context.close())
    const page = await context.newPage()
    page.setDefaultTimeout(20_000)
    await page.goto(`${pages.url}/${name}?${new URLSearchParams({ url: server().url, agent, line })}`)
    return page
  }

  const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).first().click()

  async function say(page: Page, text: string): Promise<void> {
    await page.getByLabel('Message').fill(text)
    await press(page, 'Send')
  }

  /** The texts of messages, with who says them. */
  const texts = (page: Page) =>
    page.locator('[data-type]').evaluateAll(all =>
      all.map(each => {
        const text = (each.querySelector(':scope > span') ?? each).textContent ?? ''
        return `${each.getAttribute('data-type')} ${text}`.trim()
      }),
    )

  const shows = (page: Page, expected: readonly string[]) =>
    eventually(async () => expect(await texts(page)).toEqual(expected))

  /** Waits until the last message begins so. */
  const begins = (page: Page, text: string) =>
    eventually(async () => expect((await texts(page)).at(-1)).toMatch(new RegExp(`^${text}`)))

  const rests = (page: Page) => page.locator('main[data-loading=false]').waitFor()

  describe.each(['sdk-1.12', 'sdk-1.15'])('a page of useStream, %s', line => {
    const one = ['human one', 'ai You said one, message 1.']

    it('talks, and has the conversation after a reload', async () => {
      const page = await open('hook', 'talks', line)
      await say(page, 'one')
      await shows(page, one)
      await rests(page)
      await say(page, 'two')
      const both = [...one, 'human two', 'ai You said two, message 2.']
      await shows(page, both)
      await rests(page)
      await page.reload()
      await shows(page, both)
    })

    it('stops an answer', async () => {
      const page = await open('hook', 'slow', line)
      await say(page, '100')
      await begins(page, 'ai 1 2 3')
      await press(page, 'Stop')
      await rests(page)
      await say(page, '2')
      await eventually(async () => expect((await texts(page)).slice(-2)).toEqual(['human 2', 'ai 1 2']))
    })

    it('follows an answer after a reload', async () => {
      const page = await open('hook', 'slow', line)
      await say(page, '60')
      await begins(page, 'ai 1 2 3')
      await page.reload()
      await begins(page, 'ai 1 2 3')
      await shows(page, ['human 60', `ai ${counted(60)}`])
      await rests(page)
    })

    it('edits a message, answers again, and has branches', async () => {
      const page = await open('hook', 'talks', line)
      await say(page, 'one')
      await shows(page, one)
      await rests(page)
      await say(page, 'two')
      await shows(page, [...one, 'human two', 'ai You said two, message 2.'])
      await rests(page)
      await page.getByLabel('Message').fill('other')
      await page.getByRole('button', { name: 'Edit' }).nth(1).click()
      const edited = [...one, 'human other', 'ai You said other, message 2.']
      await shows(page, edited)
      await rests(page)
      await press(page, 'Other')
      await shows(page, [...one, 'human two', 'ai You said two, message 2.'])
      await press(page, 'Other')
      await shows(page, edited)
      await page.getByRole('button', { name: 'Again' }).last().click()
      await eventually(async () => expect(await page.getByRole('button', { name: 'Other' }).count()).toBe(2))
      await shows(page, edited)
      await rests(page)
      if (!keepsForks) return
      await say(page, 'three')
      await shows(page, [...edited, 'human three', 'ai You said three, message 3.'])
    })

    it('decides, also after a reload', async () => {
      const page = await open('hook', 'pays', line)
      await say(page, '5')
      await page.getByRole('button', { name: 'Approve' }).waitFor()
      await page.reload()
      await press(page, 'Approve')
      await shows(page, ['human 5', 'ai', 'tool paid 5', 'ai I have paid 5.'])
      expect(await page.getByRole('button', { name: 'Approve' }).count()).toBe(0)
    })

    it('is told an error', async () => {
      const page = await open('hook', 'fails', line)
      await say(page, 'hi')
      await eventually(async () => expect(await page.getByRole('alert').textContent()).not.toBe(''))
    })
  })

  describe('a page of assistant-ui', () => {
    it('talks, and has the conversation after a reload', async () => {
      const page = await open('assistant-ui', 'talks')
      await say(page, 'weather')
      const all = ['human weather', 'ai get_weather {"city":"Paris"} 21C in ParisIt is 21C in Paris.']
      await shows(page, all)
      await page.getByRole('button', { name: 'Send' }).waitFor()
      await page.reload()
      await shows(page, all)
    })

    it('stops an answer', async () => {
      const page = await open('assistant-ui', 'slow')
      await say(page, '100')
      await begins(page, 'ai 1 2 3')
      await press(page, 'Stop')
      await page.getByRole('button', { name: 'Send' }).waitFor()
      await say(page, '2')
      await eventually(async () => expect((await texts(page)).slice(-2)).toEqual(['human 2', 'ai 1 2']))
    })

    it('decides, also after a reload', async () => {
      const page = await open('assistant-ui', 'pays')
      await say(page, '5')
      await page.getByRole('button', { name: 'Approve' }).waitFor()
      await page.reload()
      await press(page, 'Approve')
      await eventually(async () => expect((await texts(page)).at(-1)).toContain('I have paid 5.'))
      await eventually(async () =>
        expect(await page.getByRole('button', { name: 'Approve' }).count()).toBe(0),
      )
    })

    it('is told an error', async () => {
      const page = await open('assistant-ui', 'fails')
      await say(page, 'hi')
      await eventually(async () => expect(await page.getByRole('alert').count()).toBeGreaterThan(0))
    })
  })
}
