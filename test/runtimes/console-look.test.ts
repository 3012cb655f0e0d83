/**
 * The screens of the console that show and decide what runs did, in a real browser.
 *
 * @module-tag long
 */

import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { type Client, createClient } from '../../src/client/index.ts'
import { serveTools } from '../contracts/admin/served-tools.ts'
import { ADMIN_TOKEN } from '../contracts/console/service.ts'
import { jsonRequest } from '../contracts/http/client.ts'
import { served } from '../contracts/served.ts'
import { eventually } from '../eventually.ts'
import { needing } from '../needing.ts'
import { layLine } from './broken-line.ts'
import { flawsOf, HAS_BROWSER, hostsOf, launch, type Opened, violationsOf, visit } from './browser.ts'
import { CONSOLES } from './console-servers.ts'
import { startNode } from './harness.ts'

const ENTRY = 'test/contracts/console/service.ts'

/** Text that must be shown as it is. */
const HOSTILE = '<img src=x onerror="globalThis.hacked=1">'

/** The lines of the list of runs. */
const LINES = 'table.list tbody tr:not(.gap)'

/** The state of the run that is shown. */
const STATUS = '.title .status'

let browser: Browser
beforeAll(async () => {
  if (HAS_BROWSER) browser = await launch()
})
afterAll(() => browser?.close())

const heading = (page: Page, name: string) => page.getByRole('heading', { name, exact: true })
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })

needing('chromium-headless-shell').describe('the console of runs', () => {
  const server = served(() => startNode(ENTRY))
  let client: Client
  beforeAll(() => {
    client = createClient({ baseUrl: `${server().url}/api` })
  })

  /** Opens a place of the page. */
  const open = (place: string): Promise<Opened> => visit(browser, `${server().url}/api/console#/${place}`)

  /** Starts a run, and gives its id. */
  const start = async (name: string, input: string, sessionId?: string) =>
    (await client.runs.start({ kind: 'agent', name }, input, sessionId ? { sessionId } : {})).id

  /** Runs to the end, and gives the id. */
  const run = async (name: string, input: string, sessionId?: string) => {
    const id = await start(name, input, sessionId)
    await client.runs.result(id).catch(() => {})
    return id
  }

  /** What the page must never do. */
  const check = ({ requests, complaints }: Opened) => {
    expect(hostsOf(requests)).toEqual(new Set([new URL(server().url).host]))
    expect(complaints).toEqual([])
  }

  it('lists runs and filters them, by the address', async () => {
    await run('helper', 'Oslo', 'filtered')
    await run('failing', 'x', 'filtered')
    const opened = await open('runs')
    const { page } = opened
    await heading(page, 'Runs').waitFor()
    await page.locator(LINES, { hasText: 'failing' }).first().waitFor()
    await page.locator('.choices summary').click()
    await page.getByLabel('Session').fill('filtered')
    await page.getByLabel('Session').press('Enter')
    // A menu closes when something else is touched.
    await page.getByRole('link', { name: /^Failed/ }).click()
    await expect.poll(() => page.url()).toContain('#/runs?status=failed&sessionId=filtered')
    await expect.poll(() => page.locator(LINES).count()).toBe(1)
    // The input is the headline, and a run that is not done has its state in place of its time.
    expect(await page.locator(LINES).innerText()).toMatch(/x\s+failing\s+dev\s+Failed/)
    await page.reload()
    await expect.poll(() => page.locator(LINES).count()).toBe(1)
    await page.locator('.choices summary').click()
    expect(await page.getByLabel('Session').inputValue()).toBe('filtered')
    await page.getByLabel('To').fill('2026-01-01T00:00')
    await page.getByLabel('To').press('Enter')
    await page.getByText('No run matches.').waitFor()
    await page.getByLabel('To').fill('')
    await page.getByLabel('To').press('Enter')
    await expect.poll(() => page.locator(LINES).count()).toBe(1)
    await page.getByLabel('Session').fill('of nobody')
    await page.getByLabel('Session').press('Enter')
    await page.getByText('No run matches.').waitFor()
    await page.getByRole('link', { name: 'Clear' }).click()
    await expect.poll(() => page.url()).toMatch(/#\/runs$/)
    check(opened)
  })

  it('loads the next page, tells how many there are, and draws what is seen', async () => {
    for (let count = 0; count < 101; count++) await start('chatty', '1', 'many')
    const { page } = await open('runs?sessionId=many')
    await page.getByText('101, newest first').waitFor()
    const rows = page.locator('table.list')
    await page
      .locator('.pane')
      .first()
      .evaluate(box => box.scrollTo(0, box.scrollHeight))
    await button(page, 'Load more').click()
    await button(page, 'Load more').waitFor({ state: 'detached' })
    expect(await rows.getAttribute('aria-rowcount')).toBe('102')
    expect(await page.locator(LINES).count()).toBeLessThan(101)
  })

  it('shows a bar for a tool call, with what was asked and answered', async () => {
    const id = await run('helper', HOSTILE)
    const opened = await open(`runs/${id}`)
    const { page } = opened
    await heading(page, HOSTILE).waitFor()
    const bar = page.getByRole('list', { name: 'Timeline' }).getByRole('button', { name: 'forecast' })
    await bar.click()
    const chosen = page.getByRole('region', { name: 'Details of forecast' })
    await chosen.getByText('"sky": "clear"').waitFor()
    expect(await chosen.textContent()).toContain('onerror')
    expect(await bar.locator('rect').first().getAttribute('width')).toMatch(/%$/)
    await page.getByRole('link', { name: 'Events' }).click()
    await page.getByRole('button', { name: 'tool_call_end' }).click()
    await page.getByRole('region', { name: 'Details of the event' }).getByText('tool_call_end').waitFor()
    await page.getByRole('link', { name: 'JSON' }).click()
    await page.getByText('"finishReason": "stop"').first().waitFor()
    expect(await page.evaluate('globalThis.hacked')).toBeUndefined()
    check(opened)
  })

  it('goes on live with a run at work, and cancels it', async () => {
    const id = await start('slow', '600')
    const opened = await open(`runs/${id}`)
    const { page } = opened
    await page.locator(`${STATUS}.running`).waitFor()
    await page.locator('table.list tr.running').first().waitFor()
    await button(page, 'Stop').click()
    await page.locator(`${STATUS}.cancelled`).waitFor()
    expect(await client.runs.get(id)).toMatchObject({ status: 'cancelled' })
    // The list follows.
    await page.locator('table.list tr.cancelled [aria-current]').waitFor()
    check(opened)
  })

  it('goes on with a run at work after the connection was lost', async () => {
    const line = await layLine(server().url)
    onTestFinished(() => line.stop())
    const id = await start('slow', '600')
    const { page } = await visit(browser, `${line.url}/api/console#/runs/${id}?view=events`)
    const events = async () => Number(/(\d+) events so far/.exec((await page.textContent('main')) ?? '')?.[1])
    await expect.poll(events).toBeGreaterThan(2)
    line.down()
    await page.getByText('The connection is lost.').waitFor()
    const before = await events()
    line.up()
    await page.getByText('The connection is lost.').waitFor({ state: 'detached' })
    await expect.poll(events).toBeGreaterThan(before)
    await client.runs.cancel(id)
    await page.locator(`${STATUS}.cancelled`).waitFor()
    // Nothing is missing, and nothing is there twice.
    let count = 0
    for await (const _ of client.runs.stream(id)) count++
    await page.getByText(`${count} events`, { exact: true }).waitFor()
  })

  it('runs the input of a run again', async () => {
    const id = await run('helper', 'Bergen')
    const opened = await open(`runs/${id}`)
    const { page } = opened
    await button(page, 'Run again').click()
    await expect.poll(() => page.url()).not.toContain(id)
    await page.locator(`${STATUS}.completed`).waitFor()
    const next = /runs\/([^?]+)/.exec(page.url())?.[1] ?? ''
    expect((await client.runs.result(next)).text).toContain('Bergen')
    expect(await client.runs.get(next)).toMatchObject({ retryOf: id, title: 'Bergen' })
    await page.getByText('Repeats', { exact: true }).waitFor()
    await page.locator(`.numbers a[href*="${id}"]`).click()
    await expect.poll(() => page.url()).toContain(id)
    check(opened)
  })

  it('opens a run of 10,000 events, of which it draws a few', async () => {
    const id = await run('chatty', '10000')
    const opened = await open(`runs/${id}?view=events`)
    const { page } = opened
    await page.getByText('10,001 events').waitFor()
    const rows = page.getByRole('region', { name: 'Events' })
    expect(await rows.getByRole('listitem').count()).toBeLessThan(100)
    await rows.evaluate(box => box.scrollTo(0, box.scrollHeight))
    await rows.getByRole('button', { name: 'finish' }).waitFor()
    expect(await rows.getAttribute('tabindex')).toBe('0')
    check(opened)
  })

  it('cuts a long value until all of it is asked for', async () => {
    const id = await run('helper', 'x'.repeat(5000))
    const { page } = await open(`runs/${id}?view=json`)
    await page.getByRole('button', { name: /^Show all/ }).click()
    await page.getByText('finishReason').first().waitFor()
    expect((await page.locator('.json pre').textContent())?.length).toBeGreaterThan(5000)
  })

  it('keeps what is said of a run', async () => {
    const id = await run('helper', 'Oslo')
    const { page } = await open(`runs/${id}`)
    await page.getByLabel('Your feedback on this run').fill('too short')
    await page.getByRole('button', { name: 'Bad' }).click()
    await page.getByRole('status').getByText('▼ Bad: too short').waitFor()
    const kept = await fetch(`${server().url}/api/runs/${id}/feedback`)
    expect(await kept.json()).toMatchObject({ score: -1, text: 'too short' })
    await page.reload()
    await page.getByText('▼ Bad: too short').waitFor()
  })

  it('renames, forks and deletes a session', async () => {
    await run('helper', 'Oslo', 'talk')
    await run('helper', 'Bergen', 'talk')
    const opened = await open('sessions')
    const { page } = opened
    await page.locator('a[href="#/sessions/agent/helper/talk"]').click()
    await heading(page, 'Oslo').waitFor()
    expect(await page.locator('table.list [aria-current]').count()).toBe(1)
    expect(await page.locator('.talk .quote').allInnerTexts()).toEqual(['Oslo', 'Bergen'])
    expect(await page.getByRole('link', { name: 'Open in chat' }).getAttribute('href')).toBe(
      '#/chat/agent/helper/talk',
    )
    await button(page, 'Rename').click()
    await page.getByRole('dialog').getByLabel('Title').fill(HOSTILE)
    await page.getByRole('dialog').getByRole('button', { name: 'Rename' }).click()
    await heading(page, HOSTILE).waitFor()
    await button(page, 'Fork up to here').first().click()
    await expect.poll(() => page.url()).not.toContain('/talk')
    await expect.poll(() => page.locator('.talk .quote').allInnerTexts()).toEqual(['Oslo'])
    const fork = page.url().split('/').at(-1) ?? ''
    await button(page, 'Delete').click()
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel', exact: true }).click()
    expect(await page.locator(':focus').textContent()).toBe('Delete')
    await button(page, 'Delete').click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await expect.poll(() => page.url()).toMatch(/#\/sessions$/)
    await expect(client.sessions.get('helper', fork)).rejects.toMatchObject({ code: 'session_not_found' })
    expect((await client.sessions.get('helper', 'talk')).title).toBe(HOSTILE)
    const [file] = await Promise.all([page.waitForEvent('download'), button(page, 'Export all').click()])
    expect(file.suggestedFilename()).toBe('sessions.ndjson')
    check(opened)
  })

  it('shows nothing of a session that was deleted', async () => {
    await run('echo', 'words to forget', 'forgotten')
    const { page } = await open('chat/agent/echo?session=forgotten')
    const message = page.getByRole('article', { name: 'Your message' })
    await message.getByText('words to forget').waitFor()
    await page.evaluate(() => {
      location.hash = '#/sessions/agent/echo/forgotten'
    })
    await button(page, 'Delete').click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await expect.poll(() => page.url()).toMatch(/#\/sessions$/)
    await page.goto(`${server().url}/api/console#/chat/agent/echo?session=forgotten`)
    await heading(page, 'Chat with echo').waitFor()
    expect(await message.count()).toBe(0)
  })

  it('deletes a session whose run is at work once that is cancelled', async () => {
    await start('slow', '600', 'busy')
    const { page } = await open('sessions/agent/slow/busy')
    await button(page, 'Delete').click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await page.getByRole('button', { name: 'Stop its runs and delete it' }).click()
    await expect.poll(() => page.url()).toMatch(/#\/sessions$/)
    await expect(client.sessions.get('slow', 'busy')).rejects.toMatchObject({ code: 'session_not_found' })
  })

  it('tells of an approval once, counts it, and decides it', async () => {
    const opened = await open('approvals')
    const { page } = opened
    await page.getByText('Nothing is waiting for you.').waitFor()
    const id = await run('payer', '50')
    await page.getByRole('status').getByText('New approval: payer wants pay').waitFor({ state: 'attached' })
    await expect.poll(() => page.title()).toContain('(1) Approvals')
    expect(await page.locator('.side .badge').textContent()).toContain('1')
    const card = page.getByRole('article')
    // What changes the order of characters is seen.
    expect(await card.getByLabel('to as JSON').inputValue()).toBe('"abc\\u202edcb"')
    const amount = card.getByLabel('amount', { exact: true })
    await amount.fill('seven')
    await button(page, 'Approve with 1 change').click()
    const wrong = card.getByText('This is not a number.')
    await wrong.waitFor()
    expect(await amount.getAttribute('aria-describedby')).toContain(await wrong.getAttribute('id'))
    await expect.poll(() => amount.evaluate(each => each === document.activeElement)).toBe(true)
    expect(await violationsOf(page)).toEqual([])
    await button(page, 'Take back amount').click()
    await button(page, 'Approve').waitFor()
    await amount.fill('7')
    await card.getByText('It asked for 50.').waitFor()
    await button(page, 'Approve with 1 change').click()
    await page.getByText('✓ Approved.').waitFor()
    expect(await card.locator('pre').textContent()).toContain('"amount": 7')
    await page.locator('.side .badge').waitFor({ state: 'detached' })
    await expect.poll(() => page.title()).not.toContain('(1)')
    await page.getByRole('link', { name: 'See what the run does next' }).click()
    await page.locator(`${STATUS}.completed`).waitFor()
    const { continuedBy = '' } = await client.runs.get(id)
    expect((await client.runs.result(continuedBy)).text).toBe('paid 7')
    check(opened)
  })

  it('says that a request has changed, and decides nothing then', async () => {
    const id = await run('remover', 'Oslo')
    const { page } = await open('approvals')
    const answers = '**/answers'
    await page.route(answers, route =>
      route.fulfill({
        status: 409,
        contentType: 'application/problem+json',
        body: '{"code":"request_changed","detail":"It differs"}',
      }),
    )
    await button(page, 'Approve').click()
    await page.getByText('The request has changed since it was shown.').waitFor()
    await page.unroute(answers)
    await button(page, 'Show the new request').click()
    await page.getByText('The request has changed').waitFor({ state: 'detached' })
    await page.getByLabel('Reason').fill('not mine')
    await button(page, 'Deny').click()
    await page.getByText('■ Denied.').waitFor()
    const { continuedBy = '' } = await client.runs.get(id)
    expect((await client.runs.result(continuedBy)).text).toContain('not mine')
  })

  it('says that an approval was decided elsewhere', async () => {
    const id = await run('remover', 'Oslo')
    const { page } = await open('approvals')
    await button(page, 'Approve').waitFor()
    const [request] = (await client.runs.get(id)).requests ?? []
    await client.runs.answer(id, [{ id: request?.id ?? '', decision: 'approve' }])
    await page.getByText('There is nothing to decide any more').waitFor()
    expect(await button(page, 'Approve').count()).toBe(0)
  })

  it('decides an approval beside its run, and follows the run that goes on', async () => {
    const id = await run('remover', 'Oslo')
    const opened = await open(`runs/${id}`)
    const { page } = opened
    await button(page, 'Approve').click()
    await expect.poll(() => page.url()).not.toContain(id)
    await page.locator(`${STATUS}.completed`).waitFor()
    expect(await page.locator('.numbers').textContent()).toContain(`Continues${id.slice(0, 8)}`)
    check(opened)
  })

  it('answers a question beside its run', async () => {
    const id = await run('tailor', 'A shirt')
    const opened = await open(`runs/${id}?view=json`)
    const { page } = opened
    await page.getByText('Which size').first().waitFor()
    await page.getByLabel('Answer').selectOption({ label: 'M' })
    await button(page, 'Answer').click()
    await expect.poll(() => page.url()).not.toContain(id)
    const { continuedBy = '' } = await client.runs.get(id)
    expect((await client.runs.result(continuedBy)).text).toBe('A shirt in M')
    check(opened)
  })

  it('lets a run that was interrupted go on, and says why it cannot', async () => {
    const id = await run('helper', 'Oslo')
    const { page } = await open('runs')
    await page.route(`**/api/runs/${id}?include=input`, async route => {
      const record = await (await route.fetch()).json()
      await route.fulfill({ json: { ...record, status: 'failed', resumable: true } })
    })
    await page.locator(`a[href*="${id}"]`).click()
    await button(page, 'Resume').click()
    await page.getByRole('alert').locator('code').waitFor()
  })

  it('shows the numbers that records have, in a column each', async () => {
    const { page } = await open('tools')
    const usage = { promptTokens: 1, completionTokens: 2, totalTokens: 1003 }
    const numbers = { durationMs: 158, firstTextMs: 20, usage, cost: 0.0123, toolCalls: 2 }
    await page.route('**/api/runs?*', async route => {
      if ((await route.request().headerValue('accept')) === 'text/event-stream')
        return route.fulfill({ contentType: 'text/event-stream', body: '' })
      const { runs, nextCursor } = await (await route.fetch()).json()
      await route.fulfill({ json: { runs: [{ ...runs[0], ...numbers }], nextCursor } })
    })
    await page.locator('.side').getByRole('link', { name: 'Runs' }).click()
    const row = page.locator(LINES)
    await row.waitFor()
    const heads = await page.locator('table.list th').allInnerTexts()
    expect(heads.slice(1, 7)).toEqual(['Input', 'Agent', 'User', 'Took', 'Tokens', 'Cost'])
    expect((await row.locator('td').allTextContents()).slice(4, 7)).toEqual([
      'Done 158 ms',
      '1,003',
      '$0.0123',
    ])
  })

  it('lists and adds corrections', async () => {
    const opened = await open('corrections')
    const { page } = opened
    const agents = await page.getByLabel('Agent').locator('option').allTextContents()
    expect(agents).not.toContain('slow')
    await page.getByLabel('Agent').selectOption('helper')
    await page.getByText('New correction…').click()
    await page.getByLabel('Wrong output').fill('{"city": "Oslo"}')
    await page.getByLabel('Right output').fill(HOSTILE)
    await page.getByLabel('Why').fill('it moved')
    await button(page, 'Save').click()
    await page.getByText('Saved.').waitFor()
    const { corrections } = await client.agent('helper').corrections.list()
    expect(corrections).toMatchObject([{ originalValue: { city: 'Oslo' }, correctedValue: HOSTILE }])
    await page.reload()
    await page.getByText('it moved').waitFor()
    check(opened)
  })

  it('says how an agent takes corrections that takes none', async () => {
    const { page } = await open('corrections/slow')
    await page.getByText('This agent takes no corrections.').waitFor()
    expect(await button(page, 'Save').count()).toBe(0)
  })

  it('shows the card of all agents and that of one, in each form', async () => {
    const opened = await open('cards')
    const { page } = opened
    await page.getByRole('link', { name: 'The card of helper' }).click()
    await heading(page, 'helper').first().waitFor()
    await page.getByText('JSONRPC 1.0').waitFor()
    await page.getByLabel('Version of A2A').selectOption('0.3')
    await page.getByText('JSONRPC 1.0').waitFor({ state: 'detached' })
    await page.getByText('JSON', { exact: true }).click()
    await page.getByText('"protocolVersion": "0.3.0"').waitFor()
    await page.getByRole('link', { name: 'The card of all agents' }).click()
    await page.getByRole('link', { name: 'The card of helper' }).waitFor()
    check(opened)
  })

  it('lets an administrator add, turn off and delete a tool server', async () => {
    const tools = await serveTools()
    onTestFinished(() => tools.stop())
    const { page, complaints } = await open('tool-servers')
    await page.getByLabel('Admin token').fill('another')
    await button(page, 'Open').click()
    await page.getByText('The service did not accept this token').waitFor()
    await page.getByLabel('Admin token').fill(ADMIN_TOKEN)
    await button(page, 'Open').click()
    await page.getByText('There are no tool servers yet.').waitFor()
    await button(page, 'New tool server…').click()
    const dialog = page.getByRole('dialog', { name: 'New tool server' })
    const add = async (url: string) => {
      await dialog.getByLabel('Address').fill(url)
      await dialog.getByRole('button', { name: 'Add' }).click()
    }
    await add('http://10.0.0.1/mcp')
    // What the browser finds missing is said beside the field, which gets the focus.
    const name = dialog.getByLabel('Name', { exact: true })
    await expect.poll(() => name.getAttribute('aria-invalid')).toBe('true')
    await expect.poll(() => page.locator('[name=name]:focus').count()).toBe(1)
    await name.fill('weather')
    await dialog.getByRole('button', { name: 'Add' }).click()
    // So is what the service refuses.
    const address = dialog.getByLabel('Address')
    await expect.poll(() => address.getAttribute('aria-invalid')).toBe('true')
    const note = (await address.getAttribute('aria-describedby')) ?? ''
    expect(await page.locator(`[id="${note}"]`).textContent()).toContain('not public')
    expect(await name.getAttribute('aria-invalid')).toBe(null)
    expect(await violationsOf(page)).toEqual([])
    // The fields of OAuth are there once it is chosen, with what is wrong beside them.
    const way = dialog.getByLabel('What it sends to be let in')
    await way.selectOption('authorization_code')
    await dialog.getByText('/api/admin/sign-in').waitFor()
    await dialog.getByLabel('Client id').fill('has a space')
    await add(`${tools.url}/mcp`)
    const clientId = dialog.getByLabel('Client id')
    await expect.poll(() => clientId.getAttribute('aria-invalid')).toBe('true')
    await way.selectOption('client_credentials')
    await clientId.fill('console')
    await dialog.getByRole('button', { name: 'Add' }).click()
    const secret = dialog.getByLabel('Client secret')
    await expect.poll(() => secret.getAttribute('aria-invalid')).toBe('true')
    expect(await violationsOf(page)).toEqual([])
    await way.selectOption('')
    await add(`${tools.url}/mcp`)
    await dialog.waitFor({ state: 'detached' })
    const line = page.locator('table.managed tbody tr')
    const act = async (title: string) => {
      await line.getByText('Actions').click()
      await line.getByRole('button', { name: title, exact: true }).click()
    }
    await line.getByText('Connected', { exact: true }).waitFor()
    await line.getByRole('link', { name: 'weather' }).click()
    await page.getByText('weather.forecast').waitFor()
    expect(await violationsOf(page)).toEqual([])
    await act('Turn off')
    await line.getByText('Off', { exact: true }).waitFor()
    await act('Turn on')
    await line.getByText('Connected', { exact: true }).waitFor()
    await act('Delete…')
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await page.getByText('There are no tool servers yet.').waitFor()
    const kept = await page.evaluate(() =>
      JSON.stringify({ ...localStorage, ...sessionStorage, at: location.href }),
    )
    expect(kept).not.toContain(ADMIN_TOKEN)
    expect(complaints.filter(each => !/40[01]/.test(each))).toEqual([])
  })

  it('shows an administrator webhooks, and sends deliveries again', async () => {
    const opened = await open('webhooks')
    const { page } = opened
    await page.getByLabel('Admin token').fill(ADMIN_TOKEN)
    await button(page, 'Open').click()
    await page.getByRole('link', { name: 'crm' }).click()
    const one = page.getByRole('region', { name: 'Details' })
    await one.getByText('https://127.0.0.1/hook').waitFor()
    await one.getByText('Nothing was sent yet.').waitFor()
    await one.getByRole('button', { name: 'Send a test' }).click()
    const delivery = one.getByRole('listitem')
    const failed = async (tries: string) => {
      await expect
        .poll(async () => {
          await button(page, 'Refresh the deliveries').click()
          if ((await delivery.locator('details[open]').count()) === 0)
            await delivery.locator('summary').click({ timeout: 1000 })
          return delivery.textContent()
        })
        .toMatch(new RegExp(`Failed.*webhook\\.test.*Tries${tries}`))
    }
    await failed('1')
    expect(await violationsOf(page)).toEqual([])
    await delivery.getByRole('button', { name: 'Send again' }).click()
    await failed('2')
    const choose = (name: string) => one.getByRole('group').getByRole('button', { name }).click()
    await choose('Delivered')
    await expect.poll(() => delivery.count()).toBe(0)
    await choose('Failed')
    await expect.poll(() => delivery.count()).toBe(1)
    check(opened)
  })

  it('lets an administrator call a tool', async () => {
    const opened = await open('tools')
    const { page } = opened
    const card = page.getByRole('listitem').filter({ has: heading(page, 'calculate') })
    await card.waitFor()
    expect(await card.getByText('Try it').count()).toBe(0)
    await page.getByLabel('Admin token').fill(ADMIN_TOKEN)
    await button(page, 'Open').click()
    await card.getByText('Try it').click()
    expect(await violationsOf(page)).toEqual([])
    await card.getByLabel('expression').fill('6*7')
    await card.getByRole('button', { name: 'Call calculate' }).click()
    await card.getByText('It took').waitFor()
    expect(await card.getByRole('region', { name: 'Result of calculate' }).locator('pre').textContent()).toBe(
      '42',
    )
    check(opened)
  })

  it('lets an administrator issue, change and revoke a key, and give it a new secret', async () => {
    const opened = await open('keys')
    const { page } = opened
    await page.getByLabel('Admin token').fill(ADMIN_TOKEN)
    await button(page, 'Open').click()
    await page.getByText('There are no keys yet.').waitFor()
    await button(page, 'New key…').click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Owner').fill('ada')
    await dialog.getByLabel('Name').fill('laptop')
    await dialog.getByLabel('May do').fill('fly')
    await dialog.getByLabel('Most requests a minute').fill('60')
    await dialog.getByRole('button', { name: 'Create' }).click()
    await dialog.getByText('This must be one of read, run, all').waitFor()
    await expect.poll(() => page.locator('[name=scopes]:focus').count()).toBe(1)
    expect(await violationsOf(page)).toEqual([])
    await dialog.getByLabel('May do').fill('read, agent:helper')
    await dialog.getByRole('button', { name: 'Create' }).click()
    const shown = page.getByRole('dialog', { name: 'The key laptop' })
    await shown.waitFor()
    const first = await shown.locator('code').textContent()
    expect(first).toMatch(/^sk_servable_\w{16}_\w{49}$/)
    expect(await violationsOf(page)).toEqual([])
    await shown.getByRole('button', { name: 'Done' }).click()
    await shown.waitFor({ state: 'detached' })
    const line = page.locator('table.managed tbody tr')
    const act = async (title: string) => {
      await line.getByText('Actions').click()
      await line.getByRole('button', { name: title, exact: true }).click()
    }
    await line.getByRole('link', { name: 'laptop' }).click()
    const one = page.getByRole('region', { name: 'Details' })
    await one.getByText('read agent:helper').waitFor()
    await one.getByText('60 in 60 s').waitFor()
    expect(await flawsOf(page)).toEqual([])
    await page.setViewportSize({ width: 1440, height: 900 })
    await act('New secret…')
    await dialog.getByRole('button', { name: 'Create' }).click()
    await shown.waitFor()
    const second = await shown.locator('code').textContent()
    expect(second?.slice(0, 28)).toBe(first?.slice(0, 28))
    expect(second).not.toBe(first)
    await shown.getByRole('button', { name: 'Done' }).click()
    await shown.waitFor({ state: 'detached' })
    // The focus is where it was before the first dialog.
    await expect.poll(() => page.locator('[aria-label="Actions: laptop"]:focus').count()).toBe(1)
    await act('Change…')
    expect(await dialog.getByLabel('Most requests a minute').inputValue()).toBe('60')
    await dialog.getByLabel('Name').fill('tablet')
    await dialog.getByLabel('Most requests a minute').fill('')
    await dialog.getByRole('button', { name: 'Save' }).click()
    await heading(page, 'tablet').waitFor()
    expect(await one.textContent()).not.toContain('in 60 s')
    await act('Revoke…')
    await dialog.getByText('This cannot be undone.').waitFor()
    await dialog.getByRole('button', { name: 'Revoke' }).click()
    await line.getByText('Revoked').waitFor()
    expect(await one.getByRole('button').count()).toBe(0)
    await page.getByLabel('Keys of one owner').fill('bob')
    await page.getByLabel('Keys of one owner').press('Enter')
    await page.getByText('bob has no keys.').waitFor()
    expect(page.url()).toContain('#/keys?owner=bob')
    const kept = await page.evaluate(() =>
      JSON.stringify({
        ...localStorage,
        ...sessionStorage,
        at: location.href,
        text: document.body.innerHTML,
      }),
    )
    for (const secret of [ADMIN_TOKEN, first ?? '', second ?? '']) expect(kept).not.toContain(secret)
    expect(opened.complaints.filter(each => !/400/.test(each))).toEqual([])
  })

  it('forgets the admin token after 15 minutes', async () => {
    const { page } = await open('tools')
    await page.getByLabel('Admin token').waitFor()
    await page.clock.install()
    await page.getByLabel('Admin token').fill(ADMIN_TOKEN)
    await button(page, 'Open').click()
    await heading(page, 'arithmetic').waitFor()
    await page.clock.fastForward('15:01')
    await page.getByLabel('Admin token').waitFor()
    expect(await page.getByLabel('Admin token').inputValue()).toBe('')
  })

  it('moves the focus to the heading of what is opened', async () => {
    const id = await run('helper', 'Oslo')
    const { page } = await open('tools')
    await heading(page, 'Tools').waitFor()
    await page.getByRole('link', { name: 'Runs', exact: true }).first().click()
    const focused = () => page.locator(':focus').textContent()
    await expect.poll(focused).toBe('Runs')
    await page.locator(`a[href*="${id}"]`).click()
    await expect.poll(focused).toBe('Oslo')
  })

  it('has no violation on any screen, in light and dark, from a desktop to a phone', {
    timeout: 300_000,
  }, async () => {
    const ended = await run('helper', 'Oslo', 'axe')
    const waits = await run('payer', '5', 'axe')
    const screens = {
      home: 'Newest failures',
      runs: 'Filters',
      'runs?sort=took': 'longest first',
      agents: 'Tells the weather of a city',
      'agents/agent/helper': '95 % within',
      webhooks: 'Admin token',
      metrics: 'Since the service started',
      [`runs/${ended}`]: 'forecast',
      [`runs/${ended}?view=events`]: 'tool_call_end',
      [`runs/${waits}?view=json`]: 'Approve',
      sessions: 'Export all',
      'sessions/agent/helper/axe': 'Fork up to here',
      approvals: 'Approve',
      'corrections/helper': 'New correction',
      tools: 'Admin token',
      keys: 'Admin token',
      'tool-servers': 'Admin token',
      cards: 'The card of helper',
    }
    const opened = await open('runs')
    const { page } = opened
    const found: string[] = []
    for (const [place, sign] of Object.entries(screens)) {
      await page.setViewportSize({ width: 1440, height: 900 })
      await page.goto(`${server().url}/api/console#/${place}`)
      await page.getByText(sign).or(page.getByLabel(sign)).first().waitFor({ state: 'attached' })
      found.push(...(await flawsOf(page)).map(each => `${place}: ${each}`))
    }
    expect(found).toEqual([])
    check(opened)
  })
})

needing('chromium-headless-shell').describe.each(CONSOLES)(
  'the console of two users on %s',
  (_, startServer) => {
    const server = served(() => startServer({ SETTINGS: 'guarded' }))

    const logIn = async (user: string, place: string) => {
      const { page } = await visit(browser, `${server().url}/api/console#/${place}`)
      await page.getByLabel('Bearer token').fill(`token-of-${user}`)
      await button(page, 'Log in').click()
      await page.locator('.who', { hasText: user }).waitFor()
      return page
    }

    it('shows neither the runs, the sessions nor the approvals of the other', async () => {
      const headers = { authorization: 'Bearer token-of-ada' }
      const ada = createClient({ baseUrl: `${server().url}/api`, headers })
      const { id } = await ada.runs.start({ kind: 'agent', name: 'payer' }, '5', { sessionId: 'of ada' })
      await ada.runs.result(id)
      const hers = await logIn('ada', 'approvals')
      await button(hers, 'Approve').waitFor()
      const his = await logIn('bob', 'approvals')
      await his.getByText('Nothing is waiting for you.').waitFor()
      await his.locator('.side').getByRole('link', { name: 'Runs' }).click()
      await his.getByText('There are no runs yet.').waitFor()
      await his.locator('.side').getByRole('link', { name: 'Sessions' }).click()
      await his.getByText('There are no sessions yet.').waitFor()
      await his.goto(`${server().url}/api/console#/runs/${id}`)
      await his.getByText('run_not_found').waitFor()
    })

    it('lets one decide what a run of the other asks, without showing the run', async () => {
      const headers = { authorization: 'Bearer token-of-ada' }
      const ada = createClient({ baseUrl: `${server().url}/api`, headers })
      const { id } = await ada.runs.start({ kind: 'agent', name: 'remover' }, 'Oslo')
      await ada.runs.result(id)
      const page = await logIn('bob', 'approvals')
      const card = page.getByRole('article')
      await card.getByText('remover wants remove').waitFor()
      expect(await card.locator('.facts').textContent()).toContain('Asked byada')
      const said = card.getByRole('region', { name: 'What was said before' })
      await said.getByText('Oslo', { exact: true }).waitFor()
      // The run itself is not there for him, so nothing leads to it.
      expect(await card.getByRole('link').count()).toBe(0)
      expect(await violationsOf(page)).toEqual([])
      await button(page, 'Approve').click()
      await page.getByText('✓ Approved. The run goes on.').waitFor()
      expect(await page.getByRole('link', { name: 'See what the run does next' }).count()).toBe(0)
      const { continuedBy = '' } = await ada.runs.get(id)
      expect((await ada.runs.result(continuedBy)).text).toBe('removed Oslo')
    })
  },
)

needing('chromium-headless-shell').describe.each(CONSOLES)(
  'what an A2A task asks in the console on %s',
  (_, startServer) => {
    const server = served(() => startServer({ SETTINGS: 'guarded' }))

    it('is decided there', async () => {
      const send = async (method: string, params: object) => {
        const response = await fetch(
          `${server().url}/`,
          jsonRequest(
            { jsonrpc: '2.0', id: 1, method, params },
            { 'a2a-version': '1.0', authorization: 'Bearer token-of-ada' },
          ),
        )
        return (await response.json()).result
      }
      const message = { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'Oslo' }] }
      const { task } = await send('SendMessage', { message, metadata: { agentName: 'remover' } })
      const { page } = await visit(browser, `${server().url}/api/console#/approvals`)
      await page.getByLabel('Bearer token').fill('token-of-bob')
      await button(page, 'Log in').click()
      const card = page.getByRole('article')
      await card.getByText(task.id).waitFor()
      const said = card.getByRole('region', { name: 'What was said before' })
      await said.getByText('Oslo', { exact: true }).waitFor()
      await button(page, 'Approve').click()
      await page.getByText('✓ Approved.').waitFor()
      await eventually(async () => {
        const { status, artifacts } = await send('GetTask', { id: task.id })
        expect(status.state).toBe('TASK_STATE_COMPLETED')
        expect(JSON.stringify(artifacts)).toContain('removed Oslo')
      })
    })
  },
)

needing('chromium-headless-shell').describe('the console of a service that has little', () => {
  const server = served(() => startNode(ENTRY, { env: { SETTINGS: 'unstored' } }))

  it('says which option turns on what is not there', async () => {
    const opened = await visit(browser, `${server().url}/api/console#/runs`)
    const { page } = opened
    const said: Record<string, string> = {
      Runs: '`runs.store`',
      Sessions: 'Add the plugin `sessions()`',
      Approvals: 'Add the plugin `approvals()`',
      Cards: 'set `a2a: true`',
    }
    for (const [screen, option] of Object.entries(said)) {
      await page.goto(`${server().url}/api/console#/${screen.toLowerCase()}`)
      await page.getByText(option).waitFor()
      // What is off is not offered.
      expect(await page.locator('.side').getByRole('link', { name: screen }).count()).toBe(0)
    }
    expect(opened.complaints).toEqual([])
  })
})
