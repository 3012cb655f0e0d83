/**
 * The inbox of the console, in a real browser: what is asked, keys, and several decisions at once.
 *
 * @module-tag long
 */

import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Client, createClient } from '../../src/client/index.ts'
import { served } from '../contracts/served.ts'
import { needing } from '../needing.ts'
import { HAS_BROWSER, launch, type Opened, violationsOf, visit } from './browser.ts'
import { startNode } from './harness.ts'

const ENTRY = 'test/contracts/console/service.ts'

let browser: Browser
beforeAll(async () => {
  if (HAS_BROWSER) browser = await launch()
})
afterAll(() => browser?.close())

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })

/** Runs an agent to its question, and gives the id of the run. */
async function asks(client: Client, name: string, input: string, sessionId?: string): Promise<string> {
  const { id } = await client.runs.start(
    { kind: 'agent', name },
    input,
    sessionId === undefined ? {} : { sessionId },
  )
  await client.runs.result(id)
  return id
}

/** What the agent said in the end. */
async function saidAfter(client: Client, id: string): Promise<string> {
  const { continuedBy = '' } = await client.runs.get(id)
  return (await client.runs.result(continuedBy)).text
}

needing('chromium-headless-shell').describe('the inbox', () => {
  const server = served(() => startNode(ENTRY))
  let client: Client
  beforeAll(() => {
    client = createClient({ baseUrl: `${server().url}/api` })
  })

  const open = (place = 'approvals'): Promise<Opened> =>
    visit(browser, `${server().url}/api/console#/${place}`)
  const line = (page: Page, name: string) => page.locator('.item', { hasText: name })
  const chosen = (page: Page) => page.locator('.item a[aria-current]').textContent()

  it('is moved in, decided and denied with keys, but not while one types', async () => {
    const ids = [await asks(client, 'remover', 'Oslo'), await asks(client, 'remover', 'Rome')]
    const { page, complaints } = await open()
    await line(page, 'Oslo').waitFor()
    await line(page, 'Rome').waitFor()
    await expect.poll(() => chosen(page)).toBe('Rome')
    await page.keyboard.press('j')
    await expect.poll(() => chosen(page)).toBe('Oslo')
    await page.keyboard.press('j')
    await page.keyboard.press('k')
    await expect.poll(() => page.locator(':focus').textContent()).toBe('Rome')
    expect(await chosen(page)).toBe('Rome')
    await page.getByLabel('Reason').fill('')
    await page.keyboard.type('jkadx')
    expect(await page.getByLabel('Reason').inputValue()).toBe('jkadx')
    expect(await chosen(page)).toBe('Rome')
    await page.getByRole('heading', { name: 'Rome' }).click()
    await page.keyboard.press('d')
    const dialog = page.getByRole('dialog', { name: 'Deny it' })
    expect(await violationsOf(page)).toEqual([])
    await page.keyboard.type('add no roads')
    await page.keyboard.press('Enter')
    await page.getByText('■ Denied.').waitFor()
    expect(await dialog.count()).toBe(0)
    await page.keyboard.press('j')
    await page.getByRole('heading', { name: 'Oslo' }).waitFor()
    await page.keyboard.press('a')
    await page.getByText('✓ Approved.').waitFor()
    // What is decided stays where it was, and says so.
    await line(page, 'Rome').getByText('denied').waitFor()
    await line(page, 'Oslo').getByText('approved').waitFor()
    await page.locator('.side .badge').waitFor({ state: 'detached' })
    await page.locator('.notice .status.completed').waitFor()
    expect(await Promise.all(ids.map(id => saidAfter(client, id)))).toEqual([
      'removed Oslo',
      expect.stringContaining('add no roads'),
    ])
    expect(complaints).toEqual([])
  })

  it('has keys that can be turned off, also after a reload', async () => {
    const id = await asks(client, 'remover', 'Quito')
    const { page } = await open()
    await button(page, 'Approve').waitFor()
    expect(await button(page, 'Approve').getAttribute('aria-keyshortcuts')).toBe('a')
    await page.getByLabel('Letter keys').uncheck()
    await page.reload()
    await button(page, 'Approve').waitFor()
    expect(await page.getByLabel('Letter keys').isChecked()).toBe(false)
    expect(await button(page, 'Approve').getAttribute('aria-keyshortcuts')).toBe(null)
    await page.keyboard.press('a')
    await page.keyboard.press('d')
    await page.keyboard.press('?')
    expect(await page.getByRole('dialog').count()).toBe(0)
    await page.getByLabel('Letter keys').check()
    await page.keyboard.press('?')
    await page
      .getByRole('dialog', { name: 'Keyboard shortcuts' })
      .getByText('Approve it, or deny it')
      .waitFor()
    expect((await client.runs.get(id)).requests).toHaveLength(1)
    await page.keyboard.press('Escape')
    await page.keyboard.press('a')
    await page.getByText('✓ Approved.').waitFor()
  })

  it('decides several at once, after it has shown the arguments of each', async () => {
    const ids = [await asks(client, 'remover', 'Lima'), await asks(client, 'remover', 'Cairo')]
    await asks(client, 'payer', '12')
    const { page, complaints } = await open()
    await line(page, '12').waitFor()
    await page.getByLabel('Agent and tool').selectOption({ label: 'remover' })
    await expect.poll(() => page.locator('.item').count()).toBe(2)
    await page.getByLabel('Choose all: remover · remove').check()
    await page.getByText('2 chosen').waitFor()
    await button(page, 'Decide them…').click()
    const dialog = page.getByRole('dialog', { name: 'Decide several at once' })
    expect((await dialog.locator('pre').allTextContents()).toSorted()).toEqual([
      expect.stringContaining('Cairo'),
      expect.stringContaining('Lima'),
    ])
    expect(await violationsOf(page)).toEqual([])
    await dialog.getByLabel('Reason').fill('too far')
    const refused = `**/runs/${ids[0]}/answers`
    await page.route(refused, route =>
      route.fulfill({
        status: 409,
        contentType: 'application/problem+json',
        body: '{"code":"request_changed","detail":"It differs"}',
      }),
    )
    await button(page, 'Deny 2').click()
    await dialog
      .getByText('These are not decided yet. Look at each, and decide it there. Lima: It differs')
      .waitFor()
    await page.unroute(refused)
    await button(page, 'Deny 1').click()
    await dialog.waitFor({ state: 'detached' })
    await expect.poll(() => page.locator('.item.past').count()).toBe(2)
    expect(await Promise.all(ids.map(id => saidAfter(client, id)))).toEqual([
      expect.stringContaining('too far'),
      expect.stringContaining('too far'),
    ])
    await page.getByLabel('Agent and tool').selectOption({ label: 'Any agent' })
    await line(page, '12').getByRole('link').click()
    await page.keyboard.press('x')
    await page.getByText('1 chosen').waitFor()
    await page.keyboard.press('x')
    await page.getByText('1 chosen').waitFor({ state: 'detached' })
    await page.keyboard.press('a')
    await page.getByText('✓ Approved.').waitFor()
    // The answer that was refused above is the only complaint.
    expect(complaints.filter(each => !each.includes('409'))).toEqual([])
  })

  it('answers a question with choices', async () => {
    const id = await asks(client, 'tailor', 'A shirt')
    const { page } = await open()
    await page.getByText('tailor asks').first().waitFor()
    await page.getByText('Which size').first().waitFor()
    await page.keyboard.press('x')
    expect(await page.getByText('1 chosen').count()).toBe(0)
    await page.getByLabel('Answer').selectOption({ label: 'M' })
    await button(page, 'Answer').click()
    await page.getByText('✓ Answered.').waitFor()
    await page.locator('.notice .status').waitFor()
    const { continuedBy = '' } = await client.runs.get(id)
    expect((await client.runs.get(continuedBy)).continuedFrom).toBe(id)
    const [request] = (await client.runs.get(continuedBy)).requests ?? []
    if (request) await client.runs.answer(continuedBy, [{ id: request.id, decision: 'approve' }])
  })

  it('says that more waits than it lists', async () => {
    await asks(client, 'remover', 'Turin')
    const { page } = await open('home')
    await page.route('**/api/approvals?whose=mine&kind=approval*', async route => {
      const listed = await (await route.fetch()).json()
      await route.fulfill({ json: { ...listed, nextCursor: 'more' } })
    })
    await page.locator('.side').getByRole('link', { name: 'Approvals' }).click()
    await page.reload()
    await page.getByText('There are more.').waitFor()
    await page.unroute('**/api/approvals?whose=mine&kind=approval*')
    await button(page, 'Approve').click()
    await page.getByText('There are more.').waitFor({ state: 'detached' })
  })

  it('shows the turns of the session before, and on a phone one thing at a time', async () => {
    const first = await asks(client, 'remover', 'Bern', 'trip')
    const [request] = (await client.runs.get(first)).requests ?? []
    const { next } = await client.runs.answer(first, [{ id: request?.id ?? '', decision: 'approve' }])
    await next?.result()
    await asks(client, 'remover', 'Basel', 'trip')
    const { page } = await open()
    await page.setViewportSize({ width: 390, height: 844 })
    await line(page, 'Basel').getByRole('link').click()
    const said = page.getByRole('region', { name: 'What was said before' })
    await said.getByText('removed Bern').waitFor()
    expect(await said.locator('.quote').allTextContents()).toEqual(['Bern', 'Basel'])
    expect(await line(page, 'Basel').isVisible()).toBe(false)
    expect(await violationsOf(page)).toEqual([])
    await page.getByRole('link', { name: '‹ Approvals' }).click()
    await line(page, 'Basel').waitFor()
    expect(await button(page, 'Approve').count()).toBe(0)
    await line(page, 'Basel').getByRole('link').click()
    await button(page, 'Approve').click()
    await page.getByText('✓ Approved.').waitFor()
  })
})

needing('chromium-headless-shell').describe('the inbox of two users', () => {
  const server = served(() => startNode(ENTRY, { env: { SETTINGS: 'guarded' } }))
  const clientOf = (user: string) =>
    createClient({ baseUrl: `${server().url}/api`, headers: { authorization: `Bearer token-of-${user}` } })
  const logIn = async (user: string, place: string) => {
    const { page } = await visit(browser, `${server().url}/api/console#/${place}`)
    await page.getByLabel('Bearer token').fill(`token-of-${user}`)
    await button(page, 'Log in').click()
    return page
  }

  it('says who decided, and leads only the owner to the run that goes on', async () => {
    const id = await asks(clientOf('ada'), 'remover', 'Oslo')
    const [hers, his] = [await logIn('ada', 'approvals'), await logIn('bob', 'approvals')]
    await button(hers, 'Approve').waitFor()
    await button(his, 'Approve').waitFor()
    await his.getByText('whoever the service lets').waitFor()
    const { approvals } = await clientOf('bob').approvals.list({ whose: 'others' })
    await clientOf('bob').approvals.decide(approvals[0]!, { decision: 'approve' })
    await hers.getByText('✓ approved by bob').waitFor()
    await his.getByText('✓ approved by you').waitFor()
    expect(await his.getByRole('article').getByRole('link').count()).toBe(0)
    const request = approvals[0]!.request.id
    const later = await logIn('bob', `approvals/${encodeURIComponent(request)}`)
    await later.getByText('✓ approved by you').waitFor()
    await hers.getByRole('link', { name: 'See what the run does next' }).click()
    await hers.locator('.title .status.completed').waitFor()
    const { continuedBy = '' } = await clientOf('ada').runs.get(id)
    expect(hers.url()).toContain(continuedBy)
  })
})
