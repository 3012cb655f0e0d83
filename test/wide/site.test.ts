/** The site of the documentation: its build, and its pages in a real browser. */
import { execFile } from 'node:child_process'
import { mkdtempSync } from 'node:fs'
import { readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { extname, join } from 'node:path'
import process from 'node:process'
import { promisify } from 'node:util'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { decisions, filesForMachines, placeOf, SOURCES, sections } from '../../docs/.site/pages.ts'
import { type RunningServer, serve } from '../../src/runtimes/node.ts'
import { needing } from '../needing.ts'
import { HAS_BROWSER, hostsOf, launch, violationsOf, visit } from '../runtimes/browser.ts'
import { root } from '../runtimes/process.ts'

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
}

const folder = mkdtempSync(join(tmpdir(), 'servable-site-'))
let server: RunningServer
/** The files of the site. */
let files: ReadonlySet<string>

beforeAll(async () => {
  const args = [join(root, 'docs/.site/show.ts'), 'build', '--outDir', folder]
  await promisify(execFile)(process.execPath, args).catch(error => {
    throw new Error(`${error.stdout}${error.stderr}`)
  })
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const found = entries.filter(entry => entry.isFile())
  files = new Set(found.map(entry => join(entry.parentPath, entry.name).slice(folder.length)))
  const handler = async (request: Request) => {
    const path = new URL(request.url).pathname.replace(/\/$/, '/index.html')
    if (!files.has(path)) return new Response('There is no such file', { status: 404 })
    const headers = { 'content-type': TYPES[extname(path)] ?? 'text/plain; charset=utf-8' }
    return new Response(await readFile(join(folder, path)), { headers })
  }
  server = await serve(handler, { port: 0, hostname: '127.0.0.1' })
})
afterAll(async () => {
  await server?.close()
  await rm(folder, { recursive: true, force: true })
})

/** Where a page of the repository is on the site. */
const pathOf = (source: string) => `/${placeOf(source).replace(/\.md$/, '.html')}`

/** What stands in these attributes of a page of HTML. */
const valuesOf = (html: string, attributes: string) =>
  [...html.matchAll(new RegExp(`\\b(?:${attributes})="([^"]+)"`, 'g'))].map(([, value = '']) =>
    value.replaceAll('&amp;', '&'),
  )

describe('the site', () => {
  it('has each page, and names it in the list beside', async () => {
    for (const source of SOURCES) expect(files, source).toContain(pathOf(source))
    const lists = {
      pages: sections().flatMap(({ pages }) => pages),
      'why/decisions/0001-dependencies': decisions(),
    }
    for (const [page, listed] of Object.entries(lists)) {
      const html = await readFile(join(folder, `${page}.html`), 'utf8')
      const [, beside = ''] = html.split('class="VPSidebar"')
      const linked = new Set(valuesOf(beside.split('</aside>')[0] ?? '', 'href'))
      for (const { source } of listed) expect(linked).toContain(pathOf(source))
    }
  })

  it('has links, anchors and pictures that lead somewhere', async () => {
    const pages = [...files].filter(path => path.endsWith('.html'))
    const html = new Map<string, string>()
    for (const path of pages) html.set(path, await readFile(join(folder, path), 'utf8'))
    const ids = new Map([...html].map(([path, text]) => [path, new Set(valuesOf(text, 'id'))]))
    const isDead = (value: string, from: string) => {
      const { origin, pathname, hash } = new URL(value, `http://site${from}`)
      if (origin !== 'http://site') return false
      const to = pathname.replace(/\/$/, '/index.html')
      return !files.has(to) || (hash !== '' && ids.get(to)?.has(decodeURIComponent(hash.slice(1))) !== true)
    }
    const targets = [...html].flatMap(([from, text]) =>
      [...new Set(valuesOf(text, 'href|src'))].map(value => ({ value, from })),
    )
    expect(targets.filter(({ value, from }) => isDead(value, from))).toEqual([])
    expect(pages.length).toBeGreaterThan(SOURCES.length)
  })

  it('has lists of its pages and each page as Markdown for programs', async () => {
    const list = await (await fetch(`${server.url}/llms.txt`)).text()
    const full = await (await fetch(`${server.url}/llms-full.txt`)).text()
    expect(list).toMatch(/^# servable\n\n> \S/)
    const dead: string[] = []
    for (const [, target = ''] of list.matchAll(/\]\(([^)]+)\)/g)) {
      const page = await (await fetch(server.url + target)).text()
      if (!/^# /m.test(page) || !full.includes(page)) dead.push(target)
    }
    expect(dead).toEqual([])
    for (const path of filesForMachines().keys()) expect(files).toContain(`/${path}`)
    for (const { source } of sections().flatMap(({ pages }) => pages))
      expect(list).toContain(`(/${placeOf(source)})`)
  })
})

/** One page of each kind: the front, lists, tables, code, tabs, pictures, decisions. */
const KINDS = [
  '/',
  '/pages.html',
  '/start/getting-started.html',
  '/build/agents.html',
  '/connect/http.html',
  '/look-up/options.html',
  '/run/console.html',
  '/why/architecture.html',
  '/why/decisions.html',
  '/why/decisions/0001-dependencies.html',
]

needing('chromium-headless-shell').describe('the site in a browser', () => {
  let browser: Browser
  beforeAll(async () => {
    if (HAS_BROWSER) browser = await launch()
  })
  afterAll(() => browser?.close())

  const isDark = (page: Page) => page.evaluate("document.documentElement.classList.contains('dark')")

  it.each(KINDS)('%s is accessible in light and dark, and fits a phone', async path => {
    const { page, requests, complaints } = await visit(browser, server.url + path)
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
      await expect.poll(() => isDark(page)).toBe(colorScheme === 'dark')
      for (const width of [1440, 390]) {
        await page.setViewportSize({ width, height: 844 })
        expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width)
        expect(await violationsOf(page), `${colorScheme}, ${width}`).toEqual([])
      }
    }
    const broken =
      'document.querySelectorAll("img").values().filter(each => each.checkVisibility() && each.naturalWidth === 0).toArray().length'
    await expect.poll(() => page.evaluate(broken)).toBe(0)
    expect(hostsOf(requests)).toEqual(new Set([new URL(server.url).host]))
    expect(complaints).toEqual([])
  })

  it.each([
    ['aprovals', 'approvals'],
    ['shcedule', 'schedules'],
    ['cloudfare workers', 'deploy-workers'],
    ['webhok signatur', 'webhooks'],
  ])('finds pages for %s, without a network', async (typed, found) => {
    const { page, requests } = await visit(browser, server.url)
    await page.getByRole('button', { name: 'Search' }).click()
    await page.getByRole('searchbox').fill(typed)
    await page.locator(`.results a[href*="/${found}.html"]`).first().waitFor()
    expect(await violationsOf(page)).toEqual([])
    expect(hostsOf(requests)).toEqual(new Set([new URL(server.url).host]))
  })

  it('copies code', async () => {
    const context = await browser.newContext({ permissions: ['clipboard-read', 'clipboard-write'] })
    const { page } = await visit(context, `${server.url}/start/getting-started.html`)
    const block = page.locator('div[class*=language-]').filter({ hasText: '// agent.ts' })
    await block.hover()
    await block.getByRole('button', { name: 'Copy code' }).click()
    await expect
      .poll(() => page.evaluate('navigator.clipboard.readText()'))
      .toMatch(/^\/\/ agent\.ts\nimport /)
    await context.close()
  })

  it('shows the tab that is chosen', async () => {
    const { page } = await visit(browser, `${server.url}/start/getting-started.html`)
    const tabs = page.locator('.vp-code-group').first()
    await tabs.getByText('Deno', { exact: true }).click()
    await tabs.getByText('deno add npm:servable').waitFor()
  })

  it('turns dark by its switch, and shows the dark pictures', async () => {
    const { page } = await visit(browser, `${server.url}/run/console.html`)
    expect(await isDark(page)).toBe(false)
    await page
      .getByRole('switch', { name: /dark theme/ })
      .first()
      .click()
    await expect.poll(() => isDark(page)).toBe(true)
    expect(await page.locator('img.light-only').first().isVisible()).toBe(false)
    expect(await page.locator('img.dark-only').first().isVisible()).toBe(true)
  })
})
