/**
 * What people said of runs, the cases that they save, and their conversations in the console, in a real browser.
 *
 * @module-tag long
 */
import { readFile } from 'node:fs/promises'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { type Client, createClient } from '../../src/client/index.ts'
import { webConsole } from '../../src/features/console/plugin.ts'
import { sessions } from '../../src/features/sessions/plugin.ts'
import { Agent, createHandler, type Identity, memoryState, Registry, textOf } from '../../src/index.ts'
import { serve } from '../../src/runtimes/node.ts'
import { jsonRequest } from '../contracts/http/client.ts'
import { served } from '../contracts/served.ts'
import { needing } from '../needing.ts'
import { HAS_BROWSER, launch, type Opened, violationsOf, visit } from './browser.ts'

const says = new Agent({
  name: 'says',
  register: false,
  corrections: true,
  run: input => `It is **${textOf(input)}**`,
})

const gates = new Set<string>()

/** Takes messages while it waits for its gate. */
const steered = new Agent({
  name: 'steered',
  register: false,
  steering: true,
  async *run(input, { signal, steering }) {
    while (!gates.has(textOf(input)) && !signal.aborted) await new Promise(resolve => setTimeout(resolve, 10))
    for (const message of yield* steering.take()) yield `Noted: ${textOf(message.input)}. `
    yield 'Done.'
  },
})

/** Who asks now. */
let identity: Identity = { id: 'ada' }

let browser: Browser
beforeAll(async () => {
  if (HAS_BROWSER) browser = await launch()
})
afterAll(() => browser?.close())

needing('chromium-headless-shell').describe('what people say of runs', () => {
  const server = served(async () => {
    const handler = createHandler({
      serve: [says, steered],
      registry: new Registry(),
      logger: false,
      state: memoryState(),
      runs: { keepInput: true, store: 'all' },
      middleware: [
        (_, context, next) => {
          context.identity = identity
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
    await page.getByLabel('Your feedback on this run').fill('wrong city')
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
    await page.getByText('Right output: It is Oslo').waitFor()
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
    await turn.getByText('Right output: Bergen').waitFor()
    expect(await page.locator('.talk .rated').count()).toBe(1)
    await clean(opened)
  })

  it('finds sessions by their titles and by what was said', async () => {
    await run('Flights to Tromsø', { sessionId: 'north' })
    await run('And a hotel', { sessionId: 'north' })
    await run('A hotel in Rome', { sessionId: 'south' })
    const opened = await open('sessions')
    const { page } = opened
    const rows = (name: string) => page.locator(`table.talks:has(th:text-is("${name}")) tbody tr`)
    await page.getByLabel('Search sessions').fill('HOTEL')
    await expect.poll(() => page.url()).toContain('search=HOTEL')
    await expect
      .poll(() => rows('Title').allInnerTexts())
      .toEqual([expect.stringContaining('A hotel in Rome')])
    await expect.poll(() => rows('Said in').allInnerTexts()).toEqual([expect.stringContaining('And a hotel')])
    await clean(opened)
    await page.getByRole('link', { name: 'And a hotel' }).click()
    await page.getByRole('heading', { name: 'Flights to Tromsø' }).waitFor()
    await expect.poll(() => rows('Said in').count()).toBe(1)
    await page.getByLabel('Search sessions').fill('of nobody')
    await page.getByText('No title has these words.').waitFor()
  })

  it('goes from one branch of a session to another, and lets one count', async () => {
    await run('one', { sessionId: 'forked', messageId: 'm1' })
    await run('two', { sessionId: 'forked', messageId: 'm2' })
    await run('three', { sessionId: 'forked', messageId: 'm3' })
    const last = await run('other', { sessionId: 'forked', messageId: 'm2', replaces: 'm2' })
    const opened = await open('sessions/agent/says/forked')
    const { page } = opened
    const asked = () => page.locator('.talk > li > .said').allInnerTexts()
    const turn = page.locator('.talk > li').nth(1)
    await turn.getByText('2 of 2').waitFor()
    expect(await asked()).toEqual(['one', 'other'])
    await turn.getByRole('link', { name: 'Earlier version' }).click()
    await turn.getByText('1 of 2').waitFor()
    await expect.poll(asked).toEqual(['one', 'two', 'three'])
    await page.getByText('This is not the current version').waitFor()
    await clean(opened)
    // What people see is the branch that counts.
    await page.getByRole('link', { name: 'As they saw it' }).click()
    await page.locator('.seen').getByText('other').first().waitFor()
    await page.goBack()
    await page.getByRole('button', { name: 'Make this the current version' }).click()
    await page.getByText('This is not the current version').waitFor({ state: 'detached' })
    const branches = await client.sessions.branches('says', 'forked')
    expect(branches.find(({ isHead }) => isHead)?.runId).not.toBe(last)
    await expect.poll(asked).toEqual(['one', 'two', 'three'])
  })

  it('shows who sent a message to a run at work, and what people saw of it', async () => {
    const { id } = await client.runs.start({ kind: 'agent', name: 'steered' }, 'a trip', {
      sessionId: 'trip',
    })
    await expect
      .poll(
        async () => (await client.sessions.messages('steered', 'trip').catch(() => undefined))?.turns.length,
      )
      .toBe(1)
    const body = { input: 'only by train', sessionId: 'trip', concurrency: 'steer', background: true }
    const sent = await fetch(`${server().url}/api/agents/steered/run`, jsonRequest(body))
    expect(sent.status, await sent.text()).toBe(202)
    gates.add('a trip')
    await client.runs.result(id)
    const opened = await open('sessions/agent/steered/trip')
    const { page } = opened
    const steering = page.locator('.steered')
    await steering.getByText('only by train').waitFor()
    expect(await steering.textContent()).toMatch(/^Sent while the agent was answering by ada at \d/)
    await clean(opened)
    await page.getByRole('link', { name: 'As they saw it' }).click()
    await expect.poll(() => page.locator('.seen > li').count()).toBe(3)
    expect(await page.locator('.seen > li').allTextContents()).toEqual([
      'User: a trip',
      'User: only by train',
      'Answer: Noted: only by train. Done.',
    ])
    expect(await page.locator('.seen .status').count()).toBe(0)
    await clean(opened)
  })

  it('shows the conversation of another user to whom may read it, who changes nothing', async () => {
    const id = await run('a secret', { sessionId: 'hers' })
    identity = { id: 'root', roles: ['operator'] }
    onTestFinished(() => {
      identity = { id: 'ada' }
    })
    const opened = await open(`runs/${id}?of=ada`)
    const { page } = opened
    await page.getByRole('link', { name: 'session', exact: true }).click()
    await page.getByRole('heading', { name: 'a secret' }).waitFor()
    await page.getByRole('heading', { name: 'Sessions of ada' }).waitFor()
    for (const name of ['Rename', 'Fork', 'Fork up to here'])
      expect(await page.getByRole('button', { name, exact: true }).count()).toBe(0)
    await page.getByRole('link', { name: 'As they saw it' }).click()
    await page.locator('.seen').getByText('a secret').first().waitFor()
    await clean(opened)
    await page.getByRole('link', { name: 'See its runs' }).click()
    await line(page, 'a secret').waitFor()
  })
})
