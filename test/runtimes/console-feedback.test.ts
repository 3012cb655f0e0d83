/**
 * What people said of runs, the cases that they save, and their conversations in the console, in a real browser.
 *
 * @module-tag long
 */
import { readFile } from 'node:fs/promises'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Client, createClient } from '../../src/client/index.ts'
import { webConsole } from '../../src/features/console/plugin.ts'
import { sessions } from '../../src/features/sessions/plugin.ts'
import { Agent, createHandler, memoryState, Registry, textOf } from '../../src/index.ts'
import { serve } from '../../src/runtimes/node.ts'
import { served } from '../contracts/served.ts'
import { needing } from '../needing.ts'
import { HAS_BROWSER, launch, type Opened, violationsOf, visit } from './browser.ts'

const says = new Agent({
  name: 'says',
  register: false,
  corrections: true,
  run: input => `It is **${textOf(input)}**`,
})

let browser: Browser
beforeAll(async () => {
  if (HAS_BROWSER) browser = await launch()
})
afterAll(() => browser?.close())

needing('chromium-headless-shell').describe('what people say of runs', () => {
  const server = served(async () => {
    const handler = createHandler({
      serve: [says],
      registry: new Registry(),
      logger: false,
      state: memoryState(),
      runs: { keepInput: true, store: 'all' },
      middleware: [
        (_, context, next) => {
          context.identity = { id: 'ada' }
          return next()
        },
      ],
      plugins: [sessions(), webConsole()],
    })
    const { url, close } = await serve(handler, { port: 0 })
    return { url, stop: close }
  })
  let client: Client
  beforeAll(() => {
    client = createClient({ baseUrl: `${server().url}/api` })
  })

  const open = async (place: string): Promise<Opened> =>
    visit(browser, `${server().url}/api/console#/${place}`)
  const run = async (input: string, more: object = {}): Promise<string> =>
    (await client.agent('says').run(input, more)).runId ?? ''
  const line = (page: Page, name: string) => page.locator('table.runs tbody tr', { hasText: name })
  const clean = async ({ page, complaints }: Opened) => {
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      expect(await violationsOf(page)).toEqual([])
    }
    expect(complaints).toEqual([])
  }

  it('is beside the run in the list, which it filters', async () => {
    const id = await run('rated')
    await client.runs.feedback(await run('liked'), { score: 1 })
    await client.runs.feedback(await run('commented'), { text: 'too long' })
    await run('silent')
    const opened = await open(`runs/${id}`)
    const { page } = opened
    await page.getByLabel('What you say of this run').fill('wrong city')
    await page.getByRole('button', { name: 'Bad', exact: true }).click()
    await page.getByText('▼ Bad: wrong city').waitFor()
    // The list hears of it.
    await line(page, 'rated').getByText('Feedback: Bad.').waitFor()
    expect(await line(page, 'silent').locator('.rated').count()).toBe(0)
    await clean(opened)
    await page.getByRole('navigation', { name: 'Quick filters' }).getByRole('link', { name: 'Good' }).click()
    await expect.poll(() => page.url()).toContain('feedback=positive')
    await expect.poll(() => page.locator('table.runs tbody tr').allInnerTexts()).toHaveLength(1)
    await line(page, 'liked').waitFor()
    await page.locator('.choices summary').click()
    await page.getByLabel('Feedback').selectOption({ label: 'With some' })
    await expect.poll(() => page.locator('table.runs tbody tr').count()).toBe(3)
    await line(page, 'commented').getByText('Feedback: Neither good nor bad.').waitFor()
    await clean(opened)
  })

  it('becomes a case for tests, which is downloaded with the others', async () => {
    const id = await run('Oslo')
    await client.runs.feedback(id, { score: -1, text: 'No stars', correction: 'It is Oslo' })
    const opened = await open(`runs/${id}`)
    const { page } = opened
    const button = page.getByRole('button', { name: 'Save as case' })
    await page.getByText('Should be: It is Oslo').waitFor()
    await button.click()
    const dialog = page.getByRole('dialog', { name: 'Save as case' })
    await dialog.waitFor()
    expect(await dialog.getByLabel('Input').inputValue()).toBe('Oslo')
    expect(await dialog.getByLabel('Output').inputValue()).toBe('It is **Oslo**')
    expect(await dialog.getByLabel('Expected').inputValue()).toBe('It is Oslo')
    await clean(opened)
    await dialog.getByLabel('Note').fill('Plain text')
    await dialog.getByRole('button', { name: 'Save' }).click()
    await page.getByText('The case is saved.').waitFor()
    await page.getByRole('link', { name: 'See all' }).click()
    await page.getByRole('heading', { name: 'Case' }).waitFor()
    await clean(opened)
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Download cases' }).click(),
    ])
    expect(file.suggestedFilename()).toBe('cases.jsonl')
    const text = await readFile(await file.path(), 'utf8')
    expect(JSON.parse(text)).toMatchObject({
      ...{ input: 'Oslo', output: 'It is **Oslo**', expected: 'It is Oslo', note: 'Plain text', runId: id },
    })
  })

  it('is with the turn of a session', async () => {
    await run('first', { sessionId: 'rated' })
    const runId = await run('second', { sessionId: 'rated' })
    await client.runs.feedback(runId, { score: 1, text: 'Quick', correction: 'Bergen' })
    const opened = await open('sessions/agent/says/rated')
    const { page } = opened
    const turn = page.locator('.talk > li', { hasText: 'second' })
    await turn.getByText('▲ Good: Quick').waitFor()
    await turn.getByText('Should be: Bergen').waitFor()
    expect(await page.locator('.talk .rated').count()).toBe(1)
    await clean(opened)
  })
})
