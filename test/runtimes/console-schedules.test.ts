/** The screen of schedules of the console, in a real browser. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { webConsole } from '../../src/features/console/plugin.ts'
import { schedule, schedules } from '../../src/features/schedules/plugin.ts'
import { Agent, bearerIdentity, createHandler, type HandlerOptions } from '../../src/index.ts'
import { serve } from '../../src/runtimes/node.ts'
import { sqliteState } from '../../src/runtimes/sqlite.ts'
import { served } from '../contracts/served.ts'
import { needing } from '../needing.ts'
import { HAS_BROWSER, hostsOf, launch, violationsOf, visit } from './browser.ts'

const TOKEN = 'token-of-root'
const echo = new Agent({ name: 'echo', register: false, run: input => String(input) })
const yearly = { cron: '0 0 1 1 *', input: 'hi', owner: 'ada' }
const LIST = Array.from({ length: 60 }, (_, n) => schedule('echo', { ...yearly, name: `s${n}` }))

let browser: Browser
beforeAll(async () => {
  if (HAS_BROWSER) browser = await launch()
})
afterAll(() => browser?.close())

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })
const lines = (page: Page) => page.locator('table.managed tbody tr')

needing('chromium-headless-shell').describe('the screen of schedules', () => {
  const start = (more: HandlerOptions, folder?: string) => async () => {
    const server = await serve(
      createHandler({
        ...{ agents: { echo }, registry: false, production: false, logger: false },
        ...more,
      }),
      { port: 0 },
    )
    const remove = async () => folder && rm(folder, { recursive: true })
    return { ...server, stop: () => server.close().then(remove) }
  }
  const server = served(async () => {
    const folder = await mkdtemp(join(tmpdir(), 'servable-console-'))
    const authenticate = bearerIdentity({ tokens: { [TOKEN]: 'root' } })
    const state = sqliteState({ path: join(folder, 'servable.db') })
    return start({ state, plugins: [schedules(LIST, { authenticate }), webConsole()] }, folder)()
  })
  const bare = served(start({ plugins: [webConsole()] }))

  it('lists them for an administrator, pauses one and runs it', async () => {
    const opened = await visit(browser, `${server().url}/api/console#/schedules`)
    const { page } = opened
    await page.getByLabel('Admin token').fill(TOKEN)
    await button(page, 'Open').click()
    await expect.poll(() => lines(page).count()).toBe(50)
    await button(page, 'Load more').click()
    await expect.poll(() => lines(page).count()).toBe(60)
    const first = lines(page).first()
    expect(await first.textContent()).toContain('0 0 1 1 *')
    const act = async (name: string) => {
      await first.getByText('Actions').click()
      await first.getByRole('button', { name }).click()
    }
    await act('Turn off')
    await first.getByText('Off', { exact: true }).waitFor()
    await act('Turn on')
    await first.getByText('On', { exact: true }).waitFor()
    await first.getByRole('link').click()
    const one = page.getByRole('region', { name: 'Details' })
    await one.getByText('0 0 1 1 * (UTC)').waitFor()
    expect(await one.textContent()).not.toContain('Last run')
    await act('Run now')
    await expect.poll(() => one.textContent()).toContain('Last run')
    expect(await violationsOf(page)).toEqual([])
    await page.setViewportSize({ width: 320, height: 640 })
    expect(Number(await page.evaluate('document.documentElement.scrollWidth'))).toBeLessThanOrEqual(320)
    expect(hostsOf(opened.requests)).toEqual(new Set([new URL(server().url).host]))
    // It tries the role of the user first, and the plugin wants a token.
    expect(opened.complaints.filter(each => !each.includes('401'))).toEqual([])
  })

  it('refuses another token, and asks again', async () => {
    const { page } = await visit(browser, `${server().url}/api/console#/schedules`)
    await page.getByLabel('Admin token').fill('another')
    await button(page, 'Open').click()
    await page.getByText('The service did not accept this token').waitFor()
  })

  it('names the plugin where there are none', async () => {
    const { page } = await visit(browser, `${bare().url}/api/console#/schedules`)
    await page.getByText('add the plugin `schedules([…])`').waitFor()
  })
})
