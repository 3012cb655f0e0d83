/** The screen of budgets of the console, in a real browser. */
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { budgets } from '../../src/features/budgets/plugin.ts'
import { webConsole } from '../../src/features/console/plugin.ts'
import { Agent, bearerIdentity, createHandler, memoryState } from '../../src/index.ts'
import { serve } from '../../src/runtimes/node.ts'
import { jsonRequest } from '../contracts/http/client.ts'
import { identify } from '../contracts/identify.ts'
import { served } from '../contracts/served.ts'
import { needing } from '../needing.ts'
import { HAS_BROWSER, launch, violationsOf, visit } from './browser.ts'

const TOKEN = 'token-of-root'

const spends = new Agent({
  name: 'spends',
  register: false,
  async *run() {
    yield 'done'
    yield {
      type: 'finish',
      finishReason: 'stop',
      usage: { promptTokens: 250, completionTokens: 0, totalTokens: 250 },
    }
  },
})

let browser: Browser
beforeAll(async () => {
  if (HAS_BROWSER) browser = await launch()
})
afterAll(() => browser?.close())

needing('chromium-headless-shell').describe('the screen of budgets', () => {
  const server = served(async () => {
    const authenticate = bearerIdentity({ tokens: { [TOKEN]: 'root' } })
    const handler = createHandler({
      ...{ agents: { spends }, registry: false, logger: false, state: memoryState(), middleware: [identify] },
      plugins: [
        budgets(
          { maxTokens: 1000, windowMs: 31_536_000_000, key: 'owner', unpriced: 'ignore' },
          { authenticate },
        ),
        webConsole(),
      ],
    })
    const { url, close } = await serve(handler, { port: 0 })
    return { url, stop: close }
  })

  it('shows an administrator what was spent, and what is left', async () => {
    const run = `${server().url}/api/agents/spends/run`
    const response = await fetch(run, jsonRequest({ input: 'x' }, { 'x-test-user': 'ann' }))
    expect(response.status, await response.text()).toBe(200)
    const { page } = await visit(browser, `${server().url}/api/console#/budgets`)
    await page.getByLabel('Admin token').fill(TOKEN)
    await page.getByRole('button', { name: 'Open', exact: true }).click()
    const line = page.locator('table.managed tbody tr')
    await expect.poll(() => line.count()).toBe(1)
    expect(await line.textContent()).toContain('250 of 1,000')
    expect(await line.textContent()).toContain('Enough left')
    await line.getByRole('link', { name: /ann/ }).click()
    await page.getByText('250 of 1,000 spent').waitFor()
    expect(await page.locator('meter').evaluate(meter => (meter as HTMLMeterElement).value)).toBe(250)
    expect(await violationsOf(page)).toEqual([])
  })
})
