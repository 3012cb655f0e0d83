/** A user's own webhooks in the console, in a real browser. */
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, onTestFinished } from 'vitest'
import { createClient } from '../../src/client/index.ts'
import { webConsole } from '../../src/features/console/plugin.ts'
import { webhooks } from '../../src/features/webhooks/plugin.ts'
import { createHandler, memoryState } from '../../src/index.ts'
import { serve } from '../../src/runtimes/node.ts'
import { startReceiver } from '../contracts/webhooks/receiver.ts'
import { needing } from '../needing.ts'
import { speaker } from '../support.ts'
import { flawsOf, HAS_BROWSER, launch, visit } from './browser.ts'

let browser: Browser
beforeAll(async () => {
  if (HAS_BROWSER) browser = await launch()
})
afterAll(() => browser?.close())

needing('chromium-headless-shell').it(
  'lets a user without any role manage webhooks, and see what was sent',
  async () => {
    const receiver = await startReceiver()
    onTestFinished(() => receiver.stop())
    const server = await serve(
      createHandler({
        ...{
          agents: { echo: speaker('echo', 'said') },
          registry: false,
          logger: false,
          state: memoryState(),
        },
        middleware: [
          (_, context, next) => {
            context.identity = { id: 'ann' }
            return next()
          },
        ],
        plugins: [webhooks({ clients: true, allow: ['127.0.0.1'], maxTries: 1 }), webConsole()],
      }),
      { port: 0 },
    )
    onTestFinished(() => server.close())
    const { page, complaints } = await visit(browser, `${server.url}/api/console#/home`)
    const side = page.locator('.side')
    await side.getByRole('link', { name: 'My webhooks' }).click()
    expect(await side.getByText('Administer').count()).toBe(0)
    await page.getByText('You have no webhooks yet.').waitFor()
    await page.getByRole('button', { name: 'New webhook…' }).click()
    const dialog = page.getByRole('dialog')
    const create = () => dialog.getByRole('button', { name: 'Create' }).click()
    const address = dialog.getByLabel('Address')
    await address.fill('https://192.168.0.1/hook')
    await create()
    await dialog.getByText('The address').waitFor()
    expect(await address.getAttribute('aria-invalid')).toBe('true')
    await address.fill(`${receiver.url}/hook`)
    const events = dialog.getByRole('group', { name: 'Tell it when' }).getByRole('checkbox')
    for (const each of await events.all()) await each.uncheck()
    await create()
    await dialog.getByText('Choose one at least.').waitFor()
    expect(await address.getAttribute('aria-invalid')).toBe(null)
    await dialog.getByLabel('a run is done').check()
    await dialog.getByLabel('Also send what the run answered').check()
    await create()
    const secret = await page
      .getByRole('dialog', { name: 'The secret of the webhook' })
      .locator('code')
      .textContent()
    expect(secret).toMatch(/^whsec_/)
    await dialog.getByRole('button', { name: 'Done' }).click()

    const client = createClient({ baseUrl: `${server.url}/api` })
    await client.runs.result((await client.runs.start({ kind: 'agent', name: 'echo' }, 'x')).id)
    await expect.poll(() => receiver.payloads('/hook', secret ?? '').length).toBe(1)
    await page.locator('table.managed').getByRole('link', { name: '/hook' }).click()
    const one = page.getByRole('region', { name: 'Details' })
    const deliveries = one.getByRole('listitem')
    await deliveries.getByText('run.completed').click()
    await deliveries.getByText('"text": "said"').waitFor()
    await deliveries.getByText('status 204').waitFor()
    expect(await flawsOf(page)).toEqual([])
    await page.setViewportSize({ width: 1440, height: 900 })
    await one.getByLabel('Event').selectOption('run.failed')
    await one.getByText('No delivery matches.').waitFor()
    await one.getByLabel('Event').selectOption('run.completed')
    await one.getByRole('button', { name: 'Failed' }).click()
    await one.getByText('No delivery matches.').waitFor()
    await one.getByRole('button', { name: 'Delivered' }).click()
    await expect.poll(() => deliveries.count()).toBe(1)

    await page.getByRole('link', { name: 'All deliveries' }).click()
    await deliveries.first().waitFor({ state: 'detached' })
    const all = page.locator('.page').getByRole('listitem')
    await all.getByText('/hook').waitFor()
    await page.getByLabel('Webhook').selectOption({ index: 1 })
    await page.getByLabel('Event').selectOption('webhook.test')
    await page.getByText('No delivery matches.').waitFor()
    await page.getByLabel('Event').selectOption('Any event')
    await expect.poll(() => all.count()).toBe(1)
    expect(await flawsOf(page)).toEqual([])
    await page.setViewportSize({ width: 1440, height: 900 })
    await page.goBack()
    await one.getByRole('button', { name: 'Send a test' }).click()
    await expect.poll(() => deliveries.count()).toBe(2)

    await one.getByRole('button', { name: 'Turn off' }).click()
    await one.getByText('Off', { exact: true }).waitFor()
    await one.getByRole('button', { name: 'Turn on' }).click()
    await one.getByText('On', { exact: true }).waitFor()
    await one.getByRole('button', { name: 'Change…' }).click()
    expect(await dialog.getByLabel('a run is done').isChecked()).toBe(true)
    expect(await dialog.getByLabel('a run failed').isChecked()).toBe(false)
    await dialog.getByLabel('a run failed').check()
    await dialog.getByRole('button', { name: 'Save' }).click()
    await one.getByText('a run is done, a run failed').waitFor()
    await one.getByRole('button', { name: 'Delete…' }).click()
    await dialog.getByRole('button', { name: 'Delete' }).click()
    await page.getByText('You have no webhooks yet.').waitFor()
    expect(await page.content()).not.toContain(secret)
    expect(complaints.filter(each => !each.includes('400'))).toEqual([])
  },
)
