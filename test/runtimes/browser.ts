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
