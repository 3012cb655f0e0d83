/** A real browser: Debian's Chromium in its shell without a window, where it is installed, as it is on CI. */
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { type Browser, type BrowserContext, chromium, type Page, type Request } from 'playwright-core'
import { onTestFinished } from 'vitest'
import { fileOf } from '../programs.ts'

// The browser with a window needs three times the CPU for each page.
const executablePath = fileOf('chromium-headless-shell') ?? ''

/** Whether there is one. */
export const HAS_BROWSER: boolean = executablePath !== ''

export function launch(args: readonly string[] = []): Promise<Browser> {
  return chromium.launch({
    executablePath,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-background-networking',
      '--disable-component-update',
      ...args,
    ],
  })
}

/** A page with all that it asked for and all that it complained of. */
export interface Opened {
  readonly page: Page
  readonly requests: readonly Request[]
  readonly complaints: readonly string[]
}

/** Opens a page, which is closed after the test. */
export async function visit(browser: Browser | BrowserContext, url: string): Promise<Opened> {
  const page = await browser.newPage()
  onTestFinished(() => page.close())
  const requests: Request[] = []
  const complaints: string[] = []
  page.on('request', request => requests.push(request))
  page.on('console', message => message.type() === 'error' && complaints.push(message.text()))
  page.on('pageerror', error => complaints.push(String(error)))
  await page.goto(url)
  return { page, requests, complaints }
}

/** The hosts that were asked. */
export function hostsOf(requests: readonly Request[]): Set<string> {
  return new Set(requests.filter(each => each.url().startsWith('http')).map(each => new URL(each.url()).host))
}

/** What axe finds wrong with what the page shows. */
export async function violationsOf(page: Page): Promise<string[]> {
  if (!(await page.evaluate(() => 'axe' in globalThis)))
    await page.evaluate(await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8'))
  return page.evaluate(async () => {
    const { axe } = globalThis as unknown as {
      axe: { run(): Promise<{ violations: { id: string; nodes: { html: string }[] }[] }> }
    }
    const { violations } = await axe.run()
    return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`)
  })
}

/** In the page: what is to be hit by a finger, and is lower than 44 pixels. */
const SMALL_TARGETS = `[...document.querySelectorAll('button, select, input:not([type=checkbox]), textarea, summary, nav a, .list tr:has(a)')]
  .filter(each => each.checkVisibility() && each.getBoundingClientRect().height < 44)
  .map(each => each.outerHTML.slice(0, 80)).join(' ')`

/** From a desktop to the smallest phone, which is 320 pixels wide, as 1280 are at 400 %. */
const SIZES = [
  [1440, 900],
  [1024, 768],
  [768, 1024],
  [390, 844],
  [320, 640],
] as const

/** What is wrong with a screen, in each size and scheme. */
export async function flawsOf(page: Page): Promise<string[]> {
  const found: string[] = []
  for (const [width, height] of SIZES) {
    await page.setViewportSize({ width, height })
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      for (const each of await violationsOf(page)) found.push(`${width}, ${colorScheme}: ${each}`)
    }
    const wide = Number(await page.evaluate('document.documentElement.scrollWidth'))
    if (wide > width) found.push(`${wide} pixels wide on ${width}`)
  }
  const small = await page.evaluate(SMALL_TARGETS)
  if (small !== '') found.push(`these are lower than 44 pixels: ${small}`)
  return found
}
