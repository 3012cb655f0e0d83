/** The console in a real browser. */

import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { METRICS_TOKEN } from '../contracts/console/service.ts'
import { consoleContract } from '../contracts/console.ts'
import { jsonRequest } from '../contracts/http/client.ts'
import { served } from '../contracts/served.ts'
import { needing } from '../needing.ts'
import { HAS_BROWSER, hostsOf, launch, violationsOf, visit } from './browser.ts'
import { CONSOLES } from './console-servers.ts'
import { startNode, startWorkerd, startWrangler } from './harness.ts'

let browser: Browser
beforeAll(async () => {
  if (HAS_BROWSER) browser = await launch()
})
afterAll(() => browser?.close())

describe.each([...CONSOLES, ['workerd', () => startWorkerd('test/contracts/console/service.ts')] as const])(
  '%s',
  (_, start) => consoleContract(() => start({})),
)

describe('the dev server', () =>
  consoleContract(() => startWrangler(), {
    tool: ['calculator', '3 * (4 + 5)', 'calculate', '27'],
    approval: ['caterer', 'A dinner for 3', 'Ordered:'],
  }))

needing('chromium-headless-shell').describe('metrics', () => {
  const server = served(() => startNode('test/contracts/console/service.ts'))
  const run = async (agent: string) => {
    const response = await fetch(`${server().url}/api/agents/${agent}/run`, jsonRequest({ input: 'Oslo' }))
    await response.text()
  }

  it('are drawn, and are numbers beside that, in light, dark and on a phone', async () => {
    await run('helper')
    await run('failing')
    const { page, requests, complaints } = await visit(browser, `${server().url}/api/console#/metrics`)
    await page.locator('.canvas canvas').first().waitFor()
    await page.getByText('Numbers').first().click()
    const table = page.getByRole('table', { name: 'Runs a minute' })
    expect(await table.getByRole('row').last().getByRole('cell').allInnerTexts()).toEqual(['4', '2'])
    const all = page.getByRole('row', { name: /^all/ })
    expect((await all.getByRole('cell').allInnerTexts()).slice(0, 4)).toEqual(['', '2', '0', '1'])
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      expect(await violationsOf(page)).toEqual([])
    }
    await page.setViewportSize({ width: 360, height: 740 })
    expect(await violationsOf(page)).toEqual([])
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(360)
    expect(hostsOf(requests)).toEqual(new Set([new URL(server().url).host]))
    expect(complaints).toEqual([])
  })

  it('tell what happens while it happens', async () => {
    const { page } = await visit(browser, `${server().url}/api/console#/metrics`)
    const told = page.locator('.happenings li', { hasText: 'run.complete' })
    // The page may not watch yet when the first of them ends.
    await expect
      .poll(
        async () => {
          await run('helper')
          return told.count()
        },
        { timeout: 30_000 },
      )
      .toBeGreaterThan(0)
    expect(await told.first().textContent()).toContain('helper')
  })
})

needing('chromium-headless-shell').describe('metrics with a token of their own', () => {
  const server = served(() =>
    startNode('test/contracts/console/service.ts', { env: { SETTINGS: 'counted' } }),
  )

  it('are shown to whoever gives it', async () => {
    const { page } = await visit(browser, `${server().url}/api/console#/metrics`)
    const give = async (token: string) => {
      await page.getByLabel('Metrics token').fill(token)
      await page.getByRole('button', { name: 'Open' }).click()
    }
    await give('another')
    await page.getByText('The service did not accept this token.').waitFor()
    expect(await violationsOf(page)).toEqual([])
    await give(METRICS_TOKEN)
    await page.locator('.canvas canvas').first().waitFor()
    await page.getByRole('heading', { name: 'Live events' }).waitFor()
    await page.getByText('Nothing has happened since you opened this screen.').waitFor()
    expect(await page.getByLabel('Metrics token').count()).toBe(0)
  })
})

needing('chromium-headless-shell').describe.each(CONSOLES)(
  'the console of a guarded service on %s',
  (_, start) => {
    const server = served(() => start({ SETTINGS: 'guarded' }))

    it('asks for the token, says that one is refused, and keeps it nowhere', async () => {
      const { page, complaints } = await visit(browser, `${server().url}/api/console#/tools`)
      await page.getByRole('heading', { name: 'Log in' }).waitFor()
      expect(await violationsOf(page)).toEqual([])
      await page.getByLabel('Bearer token').fill('another')
      await page.getByRole('button', { name: 'Log in' }).click()
      await page.getByText('The service did not accept this').waitFor()
      await page.getByLabel('Bearer token').fill('token-of-ada')
      await page.getByRole('button', { name: 'Log in' }).click()
      await page.getByText('ada', { exact: true }).waitFor()
      const kept = await page.evaluate(() =>
        JSON.stringify({ ...localStorage, ...sessionStorage, at: location.href }),
      )
      expect(kept).not.toContain('token-of-ada')
      // The browser itself says of the refused one that it was a 401.
      expect(complaints.filter(each => !each.includes('401'))).toEqual([])
    })

    it('keeps the token for a tab that is to keep it, until its user logs out', async () => {
      const { page } = await visit(browser, `${server().url}/api/console#/tools`)
      await page.getByLabel('Bearer token').fill('token-of-ada')
      await page.getByLabel('Stay logged in until this tab is closed').check()
      await page.getByRole('button', { name: 'Log in' }).click()
      await page.getByText('ada', { exact: true }).waitFor()
      await page.reload()
      await page.getByText('ada', { exact: true }).waitFor()
      await page.getByRole('button', { name: 'Log out' }).click()
      await page.getByRole('heading', { name: 'Log in' }).waitFor()
      expect(await page.evaluate(() => sessionStorage.length)).toBe(0)
    })
  },
)
