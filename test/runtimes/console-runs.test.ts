/**
 * The first screen, the list of runs and one run, in a real browser over a service in this process.
 *
 * @module-tag long
 */

import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Client, createClient } from '../../src/client/index.ts'
import { localState } from '../../src/core/local-state.ts'
import { approvals } from '../../src/features/approvals/plugin.ts'
import { webConsole } from '../../src/features/console/plugin.ts'
import { sessions } from '../../src/features/sessions/plugin.ts'
import {
  Agent,
  createHandler,
  pausing,
  Registry,
  sequence,
  steps,
  Team,
  textOf,
  tool,
  Workflow,
} from '../../src/index.ts'
import { serve } from '../../src/runtimes/node.ts'
import { memoryStore } from '../../src/stores/memory.ts'
import { served } from '../contracts/served.ts'
import { needing } from '../needing.ts'
import { HAS_BROWSER, launch, type Opened, violationsOf, visit } from './browser.ts'

let browser: Browser
beforeAll(async () => {
  if (HAS_BROWSER) browser = await launch()
})
afterAll(() => browser?.close())

const usage = (totalTokens: number, cost: number) => ({
  usage: { promptTokens: totalTokens, completionTokens: 0, totalTokens, cost },
})

const lookUp = tool({
  name: 'look_up',
  description: 'Looks a word up',
  parameters: { type: 'object', properties: { word: { type: 'string' } } },
  execute: args => {
    if (Object(args).word === 'lost') throw new Error('The shelf is empty')
    return { found: String(Object(args).word) }
  },
})

const remove = tool({
  name: 'remove',
  description: 'Removes a word',
  needsApproval: true,
  parameters: { type: 'object', properties: { word: { type: 'string' } } },
  execute: () => 'removed',
})

/** Answers with a table. What it costs is what it is told. */
const writer = new Agent({
  name: 'writer',
  register: false,
  description: 'Writes tables',
  examples: ['Which words are there?'],
  async *run(input) {
    yield { type: 'thinking', text: 'Which words?' }
    yield '# Words\n\n| word | count |\n|---|--:|\n| lamp | 12 |\n'
    yield { type: 'model_call', model: 'test/large', durationMs: 1, finishReason: 'stop', ...usage(40, 0.5) }
    return usage(40, Number(/\d+/.exec(textOf(input))?.[0] ?? 1) / 100)
  },
})

const finder = new Agent({
  name: 'finder',
  register: false,
  tools: [lookUp],
  async *run(input, { callTool }) {
    yield* callTool(lookUp, { word: textOf(input) })
    return { structured: { word: textOf(input), deep: { list: [1, 2] } } }
  },
})

const remover = new Agent({
  name: 'remover',
  register: false,
  tools: [remove],
  async *run(input, { callTool }) {
    yield String(yield* callTool(remove, { word: textOf(input) }))
  },
})

const slow = new Agent({
  name: 'slow',
  register: false,
  async *run(_, { signal }) {
    yield 'begun'
    await new Promise(resolve => signal.addEventListener('abort', resolve))
  },
})

const both = new Team({ name: 'both', register: false, members: [writer, finder], strategy: sequence })

const report = new Workflow({
  name: 'report',
  register: false,
  steps: steps()
    .step('gather', input => textOf(input))
    .step('check', text => {
      if (text === 'wrong') throw new Error('It is wrong')
      return text
    }),
})

needing('chromium-headless-shell').describe('the console of a development server', () => {
  const server = served(async () => {
    const handler = createHandler({
      serve: [writer, finder, remover, slow, both, report],
      registry: new Registry(),
      production: false,
      logger: false,
      // Journals are kept as in a file.
      state: localState({ store: memoryStore(), retention: {}, isVolatile: false }),
      runs: { keepInput: true, keepJournal: true, measure: true, store: 'all', disconnect: 'continue' },
      plugins: [sessions(), approvals(), pausing(), webConsole()],
    })
    const running = await serve(handler, { port: 0, hostname: '127.0.0.1' })
    return { ...running, stop: () => running.close() }
  })
  let client: Client
  beforeAll(() => {
    client = createClient({ baseUrl: `${server().url}/api` })
  })

  const open = (place: string): Promise<Opened> => visit(browser, `${server().url}/api/console#/${place}`)
  const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name, exact: true })
  const lines = (page: Page) => page.locator('table.runs tbody tr:not(.gap)')
  const headlines = (page: Page) => page.locator('table.runs tbody a').allInnerTexts()

  const run = async (name: string, input: string, kind: 'agent' | 'team' = 'agent', sessionId?: string) => {
    const { id } = await client.runs.start({ kind, name }, input, sessionId ? { sessionId } : {})
    await client.runs.result(id).catch(() => {})
    return id
  }

  it('begins with how it is: each number leads to its list', async () => {
    await run('writer', 'cost 7')
    await run('finder', 'lost')
    const waits = await run('remover', 'lamp')
    const { page, complaints } = await open('')
    // One of two that ended has failed.
    await page.getByRole('heading', { name: 'Not well' }).waitFor()
    const figure = (title: string) =>
      page.locator('.figures > div', { has: page.getByText(title, { exact: true }) })
    expect(await figure('Done').innerText()).toMatch(/50\s*%/)
    expect(await figure('Waiting for you').locator('.big').innerText()).toBe('1')
    expect(await figure('Cost today').locator('.big').innerText()).toBe('$0.0700')
    await page.getByRole('link', { name: 'finder: agent_failed' }).click()
    await expect.poll(() => headlines(page)).toEqual(['lost'])
    expect(page.url()).toMatch(/status=failed.*name=finder/)
    await page.goBack()
    await page.locator('.legend a', { hasText: 'Waiting' }).click()
    await expect.poll(() => headlines(page)).toEqual(['lamp'])
    await page.goBack()
    await figure('Cost today').getByRole('link').click()
    await expect.poll(async () => (await headlines(page))[0]).toBe('cost 7')
    await page.goBack()
    await page.getByRole('link', { name: '1', exact: true }).first().click()
    await page.getByRole('heading', { name: 'Approvals' }).waitFor()
    await page.goto(`${server().url}/api/console#/home`)
    // It follows what happens.
    await run('writer', 'one more')
    await expect.poll(() => page.locator('.legend a', { hasText: 'Done' }).innerText()).toMatch(/2$/)
    await client.runs.cancel(waits)
    await expect.poll(() => figure('Waiting for you').locator('.big').innerText()).toBe('0')
    expect(complaints).toEqual([])
  })

  it('tells the story of a run: what was asked, what came of it, and how', async () => {
    const id = await run('both', 'lamp\nand more', 'team', 'story')
    const { page, complaints } = await open(`runs/${id}`)
    await page.getByRole('heading', { name: 'lamp', exact: true }).waitFor()
    await page.getByText('lamp\nand more').first().waitFor()
    const input = page.getByRole('region', { name: 'Input' })
    expect(await input.locator('.quote').innerText()).toBe('lamp\nand more')
    // Members are nested in their steps, and text is part of the call that said it.
    // What is not seen is not drawn.
    await page.setViewportSize({ width: 1280, height: 1000 })
    const bars = page.getByRole('list', { name: 'Timeline' }).locator('.bar-row')
    await expect.poll(() => bars.locator('.label').allInnerTexts()).toHaveLength(4)
    const labels = (await bars.locator('.label').allInnerTexts()).map(each => each.split('\n').at(-1)?.trim())
    expect(labels).toEqual(['writer', 'test/large', 'finder', 'look_up'])
    await bars.nth(1).click()
    const details = page.getByRole('region', { name: 'Details of test/large' })
    await details.getByText('Which words?').waitFor()
    await page.getByRole('group', { name: 'What is shown' }).getByRole('button', { name: 'Tools' }).click()
    await expect.poll(() => bars.count()).toBe(1)
    await page.getByRole('group', { name: 'What is shown' }).getByRole('button', { name: 'All' }).click()
    await page.getByLabel('Find in the timeline').fill('LARGE')
    await expect.poll(() => bars.count()).toBe(1)
    const axis = () => page.locator('.axis .ticks').innerText()
    const whole = await axis()
    await button(page, 'Zoom in').click()
    await expect.poll(axis).not.toBe(whole)
    await button(page, 'Zoom out').click()
    await expect.poll(axis).toBe(whole)
    expect(complaints).toEqual([])
  })

  it('has its list beside it, whose head is one line', async () => {
    const { page } = await open(`runs/${await run('writer', 'lamp')}`)
    const list = page.getByRole('region', { name: 'Runs: list' })
    for (const width of [1280, 1440, 1920]) {
      await page.setViewportSize({ width, height: 900 })
      await expect
        .poll(async () => {
          const shown = await list.locator('.top').locator('h1, .choices > select, summary').all()
          const boxes = await Promise.all(shown.map(each => each.boundingBox()))
          const middles = boxes.flatMap(box => (box === null ? [] : box.y + box.height / 2))
          return middles.length >= 4 && Math.max(...middles) - Math.min(...middles) < 10
        })
        .toBe(true)
      expect(await list.evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)).toBe(0)
    }
  })

  it('shows an answer as Markdown, or as it came', async () => {
    const { page } = await open(`runs/${await run('writer', 'lamp')}`)
    const output = page.getByRole('region', { name: 'Output' })
    expect(await output.getByRole('cell', { name: '12' }).getAttribute('class')).toBe('right')
    await output.getByRole('button', { name: 'Source' }).click()
    await output.getByText('|---|--:|').waitFor()
  })

  it('shows an object as a tree, and why a run failed', async () => {
    const { page } = await open(`runs/${await run('finder', 'lamp')}`)
    const output = page.getByRole('region', { name: 'Output' })
    await output.getByText('deep').waitFor()
    expect(await output.locator('.tree').innerText()).toMatch(/word\s+lamp\s+deep\s+1\s+list\s+2/)
    await page.goto(`${server().url}/api/console#/runs/${await run('finder', 'lost')}`)
    await page.getByRole('region', { name: 'Error' }).getByText('The shelf is empty').waitFor()
    // A failure is open, so that nobody has to look for it.
    await page.getByRole('region', { name: 'Details of look_up' }).getByText('"word": "lost"').waitFor()
  })

  it('joins a chat, its runs and its session', async () => {
    const { page } = await open('chat/agent/writer')
    await page.getByRole('textbox', { name: 'Message', exact: true }).fill('hello there')
    await page.getByRole('textbox', { name: 'Message', exact: true }).press('Enter')
    await page.getByRole('link', { name: 'See the run' }).click()
    await page.getByRole('heading', { name: 'hello there' }).waitFor()
    await page.getByRole('link', { name: 'session', exact: true }).click()
    await page.getByRole('heading', { name: 'Words' }).waitFor()
    await page.getByRole('link', { name: 'See the run' }).click()
    await page.getByRole('link', { name: 'Open in chat' }).click()
    await page.getByRole('heading', { name: 'Chat with writer' }).waitFor()
    await page.getByRole('article', { name: 'Your message' }).getByText('hello there').waitFor()
    // A run without a session is shown in a chat, too.
    await page.goto(`${server().url}/api/console#/runs/${await run('finder', 'alone')}`)
    await page.getByRole('link', { name: 'Open in chat' }).click()
    await page.getByRole('article', { name: 'Your message' }).getByText('alone').waitFor()
  })

  it('searches, sorts, and finds what is far above the middle', async () => {
    for (const cents of [3, 1, 90, 2]) await run('writer', `needle ${cents}`, 'agent', 'costs')
    const { page, complaints } = await open('runs')
    await page.getByRole('searchbox', { name: 'Search runs' }).fill('NEEDLE 9')
    await expect.poll(() => headlines(page)).toEqual(['needle 90'])
    expect(page.url()).toContain('search=NEEDLE+9')
    await page.getByRole('searchbox', { name: 'Search runs' }).fill('needle')
    await expect.poll(() => headlines(page)).toEqual(['needle 2', 'needle 90', 'needle 1', 'needle 3'])
    // What comes meanwhile is searched, too.
    await run('writer', 'needle 4', 'agent', 'costs')
    await expect.poll(() => headlines(page)).toContain('needle 4')
    await button(page, 'Cost').click()
    await page.getByText('5, costliest first').waitFor()
    expect(await headlines(page)).toEqual(['needle 90', 'needle 4', 'needle 3', 'needle 2', 'needle 1'])
    expect(await page.getByRole('columnheader', { name: 'Cost' }).getAttribute('aria-sort')).toBe(
      'descending',
    )
    await page.getByRole('link', { name: /^Costly/ }).click()
    await expect.poll(() => headlines(page)).toEqual(['needle 90'])
    await page.reload()
    await expect.poll(() => headlines(page)).toEqual(['needle 90'])
    expect(complaints).toEqual([])
  })

  it('is used with the keyboard: / searches, arrows go along the lines, Ctrl K finds', async () => {
    for (const input of ['needle a', 'needle b']) await run('writer', input)
    const { page } = await open('runs?search=needle')
    await lines(page).first().waitFor()
    // Two stops of the Tab key lead to the first run, whatever is in the head and in the navigation.
    await page.locator('body').press('Tab')
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    expect(await page.locator(':focus').getAttribute('data-at')).toBe('0')
    await page.keyboard.press('/')
    expect(await page.locator(':focus').getAttribute('type')).toBe('search')
    // The list is one stop of the Tab key.
    await page.locator('table.runs a[tabindex="0"]').focus()
    await page.keyboard.press('ArrowDown')
    const focused = () => page.locator(':focus').getAttribute('data-at')
    await expect.poll(focused).toBe('1')
    await page.keyboard.press('ArrowUp')
    await expect.poll(focused).toBe('0')
    expect(await page.locator('table.runs a[tabindex="0"]').count()).toBe(1)
    await page.keyboard.press('Control+k')
    const field = page.getByRole('combobox', { name: 'Find a run, a session, an agent or a screen' })
    await field.fill('find')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Chat with finder' }).waitFor()
    await page.keyboard.press('Control+k')
    const [first] = (await client.runs.list({ limit: 1 })).runs
    await field.fill(first!.id)
    await page.getByRole('option', { name: 'needle b' }).waitFor()
    expect(await violationsOf(page)).toEqual([])
    await page.keyboard.press('Enter')
    await expect.poll(() => page.url()).toContain(first!.id)
  })

  it('finds runs and sessions by their words in the palette, and shows its keys', async () => {
    const said = await run('writer', 'haystack one')
    await client.agent('writer').run('haystack two', { sessionId: 'hay' })
    const { page } = await open('home')
    await page.getByRole('heading', { name: 'Newest failures' }).waitFor()
    await page.keyboard.press('Control+k')
    const field = page.getByRole('dialog', { name: 'Find' }).getByRole('combobox')
    await field.fill('haystack')
    const options = page.getByRole('option')
    await expect.poll(() => options.count()).toBeGreaterThan(1)
    const chosen = () => page.locator('[role=option][aria-selected=true]').textContent()
    const before = await chosen()
    await page.keyboard.press('ArrowDown')
    expect(await chosen()).not.toBe(before)
    await page.keyboard.press('ArrowUp')
    expect(await chosen()).toBe(before)
    expect(await violationsOf(page)).toEqual([])
    await options.filter({ hasText: 'haystack one' }).first().click()
    await expect.poll(() => page.url()).toContain(said)
    await page.keyboard.press('Control+k')
    await field.fill('no such words anywhere')
    await page.getByText('Nothing was found.').waitFor()
    await page.keyboard.press('Escape')
    await field.waitFor({ state: 'detached' })
    await page.keyboard.press('?')
    await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor()
    expect(await violationsOf(page)).toEqual([])
    await page.getByRole('button', { name: 'Close' }).click()
    await page.keyboard.press('Control+k')
    await field.fill('keyboard')
    await page.keyboard.press('Enter')
    await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor()
  })

  it('acts on all runs that fit, and counts them first', async () => {
    const [a, b] = await Promise.all(
      ['x', 'y'].map(input =>
        client.runs.start({ kind: 'agent', name: 'slow' }, input, { sessionId: 'bulk' }),
      ),
    )
    const { page } = await open('runs?sessionId=bulk')
    await expect.poll(() => lines(page).count()).toBe(2)
    const act = async (name: string, sure: string, done: string) => {
      await page.getByText('Change all', { exact: true }).click()
      await button(page, `${name}…`).click()
      const dialog = page.getByRole('dialog', { name: 'Change all these runs' })
      await dialog.getByText(sure).waitFor()
      expect(await violationsOf(page)).toEqual([])
      await dialog.getByRole('button', { name: `${name} 2` }).click()
      await dialog.getByText(done).waitFor()
      await dialog.getByRole('button', { name: 'Close' }).click()
    }
    await act('Stop', 'Stop 2 runs?', '2 of 2 stopped.')
    expect(await client.runs.get(a!.id)).toMatchObject({ status: 'cancelled' })
    await expect.poll(() => page.locator('table.runs tr.cancelled').count()).toBe(2)
    await act('Delete', 'They and their files are deleted for good.', '2 of 2 deleted.')
    await expect(client.runs.get(b!.id)).rejects.toMatchObject({ code: 'run_not_found' })
    await page.getByText('No run matches.').waitFor()
  })

  it('has a page for each agent, with its last day and its example prompts', async () => {
    await run('writer', 'cost 3')
    const { page } = await open('agents')
    await page.getByRole('link', { name: 'writer', exact: true }).click()
    await page.getByRole('heading', { name: 'writer', level: 1 }).waitFor()
    await page.getByText('Writes tables').waitFor()
    const failed = page.locator('.figures > div', { has: page.getByText('Failed', { exact: true }) })
    expect(await failed.locator('.big').innerText()).toMatch(/^0\s*%$/)
    expect(await headlines(page)).toContain('cost 3')
    expect(await violationsOf(page)).toEqual([])
    await button(page, 'Pause…').waitFor()
    const example = 'Which words are there?'
    await button(page, example).click()
    await page.getByRole('heading', { name: 'Chat with writer' }).waitFor()
    const message = page.getByRole('textbox', { name: 'Message' })
    expect(await message.inputValue()).toBe(example)
    await message.fill('')
    await button(page, example).click()
    await expect.poll(() => message.inputValue()).toBe(example)
    expect(await violationsOf(page)).toEqual([])
    await page.goto(`${server().url}/api/console#/agents/agent/finder`)
    await page.getByRole('heading', { name: 'look_up' }).waitFor()
    await page.goto(`${server().url}/api/console#/agents/team/both`)
    await page.getByText('writer, finder').waitFor()
    expect(await violationsOf(page)).toEqual([])
  })

  it('shows the steps of a workflow with what its last run did', async () => {
    const { page } = await open('agents/workflow/report')
    const lines = page.locator('ol.graph > li')
    await expect.poll(() => lines.allTextContents()).toEqual(['gather ', 'check '])
    await client.workflow('report').run('words')
    await page.reload()
    await expect
      .poll(async () => (await lines.allTextContents()).join())
      .toMatch(/gather done, .*ms,check done, .*ms/)
    await client
      .workflow('report')
      .run('wrong')
      .catch(() => {})
    await page.reload()
    await expect
      .poll(async () => (await lines.allTextContents()).join())
      .toMatch(/gather done, .*ms,check failed, .*ms/)
    expect(await violationsOf(page)).toEqual([])
  })

  it('runs a changed input again, beside the run before', async () => {
    const id = await run('finder', 'lamp of oil')
    const { page, complaints } = await open(`runs/${id}`)
    await button(page, 'Edit and run again…').click()
    const dialog = page.getByRole('dialog', { name: 'Edit and run again' })
    expect(await violationsOf(page)).toEqual([])
    await dialog.getByLabel('Input').fill('lamp of gas')
    await dialog.getByLabel('Session').fill('changed')
    await button(page, 'Run').click()
    await page.getByRole('link', { name: 'Compare', exact: true }).waitFor()
    const input = page.getByRole('region', { name: 'Input', exact: true })
    await input.locator('ins').waitFor()
    expect(await input.locator('del').allTextContents()).toEqual(['oil'])
    expect(await input.locator('ins').allTextContents()).toEqual(['gas'])
    expect(await page.locator('.compared tbody th').allTextContents()).toContain('Tool calls')
    expect(await violationsOf(page)).toEqual([])
    const [next] = (await client.runs.list({ sessionId: 'changed' })).runs
    expect(next).toMatchObject({ retryOf: id })
    expect(complaints).toEqual([])
  })

  it('starts a run after a step of another one', async () => {
    const { id } = await client.runs.start({ kind: 'workflow', name: 'report' }, 'right')
    await client.runs.result(id)
    const { page } = await open(`runs/${id}`)
    await page.getByRole('list', { name: 'Timeline' }).getByRole('button', { name: 'gather' }).click()
    await button(page, 'Start a new run after this').click()
    await page.getByRole('link', { name: 'The run before' }).waitFor()
    const [next] = (await client.runs.list({ name: 'report', limit: 1 })).runs
    expect(next).toMatchObject({ retryOf: id })
    const { events } = await client.runs.events(next!.id)
    const begun = events.flatMap(({ event }) =>
      event.type === 'step' && event.status === 'started' ? [event.name] : [],
    )
    expect(begun).toEqual(['check'])
  })

  it('pauses an agent for an incident', async () => {
    const { page } = await open('agents')
    const card = page.getByRole('listitem').filter({ has: page.getByRole('heading', { name: 'writer' }) })
    await card.getByRole('button', { name: 'Pause…' }).click()
    await page.getByRole('dialog').getByLabel('Reason').fill('it writes nonsense')
    await page.getByRole('dialog').getByRole('button', { name: 'Pause' }).click()
    await card.getByText('it writes nonsense').waitFor()
    expect(await violationsOf(page)).toEqual([])
    await expect(client.agent('writer').run('x')).rejects.toMatchObject({ code: 'agent_paused' })
    await page.goto(`${server().url}/api/console#/chat/agent/writer`)
    await page.getByText('writer is paused and takes no messages now. it writes nonsense').waitFor()
    await page.goto(`${server().url}/api/console#/agents`)
    await card.getByRole('button', { name: 'Resume' }).click()
    await card.getByRole('button', { name: 'Pause…' }).waitFor()
    expect((await client.agent('writer').run('x')).text).toContain('Words')
  })
})
