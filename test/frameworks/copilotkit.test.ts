/** CopilotKit's runtime and a React page of it against the service of the contract of AG-UI, in Chromium. */
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import process from 'node:process'
import { build } from 'esbuild'
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import type { AgUiClient, ClientOptions } from '../ag-ui/clients.ts'
import { clientCases } from '../contracts/ag-ui.ts'
import { eventually, run } from '../contracts/http/client.ts'
import { own } from '../contracts/runs/client.ts'
import { served } from '../contracts/served.ts'
import { deploymentsOf } from '../runtimes/deployments.ts'
import { type Started, start } from '../runtimes/process.ts'
import { type Installed, install } from './served-framework.ts'

const executablePath = '/usr/bin/chromium'
const isMissing = !existsSync(executablePath)

const server = served(() => deploymentsOf('ag-ui').nodeInMemory(''))

let installed: Installed
beforeAll(async () => {
  installed = await install('copilotkit', [])
})
afterAll(() => installed?.remove())

/** Bundles the page, and gives the folder with it. */
async function bundled(): Promise<string> {
  const outdir = join(installed.folder, 'page')
  await build({
    entryPoints: [join(installed.folder, 'test/frameworks/copilotkit/page.tsx')],
    outdir,
    bundle: true,
    splitting: true,
    format: 'esm',
    jsx: 'automatic',
    define: { 'process.env.NODE_ENV': '"production"' },
    // Fonts, and diagrams that no answer has.
    loader: { '.ttf': 'empty', '.woff': 'empty', '.woff2': 'empty' },
    external: ['mermaid'],
    logLevel: 'error',
  })
  return outdir
}

async function startRuntime(): Promise<Started> {
  const folder = join(installed.folder, 'test/frameworks/copilotkit')
  return start({
    command: process.execPath,
    args: [join(folder, 'runtime.ts'), server().url, await bundled()],
    until: /listening (http:\S+)/,
    env: { COPILOTKIT_TELEMETRY_DISABLED: 'true', DO_NOT_TRACK: '1' },
    cwd: folder,
    startMs: 60_000,
  })
}

/** A page with one conversation. */
interface Opened {
  readonly page: Page
  say(text: string): Promise<void>
  /** The texts of the agent's messages. */
  answers(): Promise<string[]>
  /** What it shows of calls. */
  calls(): Promise<string[]>
}

describe('a page of CopilotKit', () => {
  let runtime: Started
  let browser: Browser
  let context: BrowserContext
  const strange: string[] = []
  beforeAll(async () => {
    if (isMissing) return
    runtime = await startRuntime()
    const flags = ['--disable-gpu', '--disable-background-networking', '--disable-component-update']
    browser = await chromium.launch({ executablePath, args: ['--no-sandbox', ...flags] })
    context = await browser.newContext()
    await context.route('**', route => {
      const url = new URL(route.request().url())
      if (url.hostname === '127.0.0.1') return route.continue()
      strange.push(url.href)
      return route.abort()
    })
  })
  afterAll(async () => {
    await browser?.close()
    await runtime?.stop()
  })

  async function open(agent: string, thread = crypto.randomUUID()): Promise<Opened> {
    const page = await context.newPage()
    onTestFinished(() => page.close())
    page.setDefaultTimeout(20_000)
    await page.goto(`${runtime.ready[1]}/?agent=${agent}&thread=${thread}`)
    const texts = async (selector: string) => {
      const all = await page.locator(selector).allInnerTexts()
      return all.map(text => text.trim()).filter(text => text !== '')
    }
    return {
      page,
      answers: () => texts('[data-testid=copilot-assistant-message] .cpk\\:prose'),
      calls: () => texts('[data-call]'),
      async say(text) {
        await page.getByRole('textbox').fill(text)
        await page.getByTestId('copilot-send-button').click()
      },
    }
  }

  beforeEach(({ skip }) => skip(isMissing, 'skipped: needs chromium'))

  const decide = (page: Page, word: string) => page.getByRole('button', { name: word, exact: true }).click()

  it('shows text, thoughts, tools of the service, and the state of the agent', async () => {
    const { page, say, answers, calls } = await open('talks')
    await say('hello')
    await eventually(async () => expect(await answers()).toEqual(['You said hello.', 'It is 3.']))
    expect(await calls()).toEqual(['add {"a":1,"b":2} complete {"sum":3}'])
    await page.getByText('Let me see. A sum.').waitFor({ state: 'attached' })
    expect(await page.locator('output').textContent()).toBe('{"count":2}')
    expect(await page.getByRole('alert').textContent()).toBe('')
  })

  it('runs tools of its own, whose results the agent gets', async () => {
    const { say, answers, calls } = await open('paints')
    await say('paint it')
    await eventually(async () => expect(await answers()).toEqual(['It is {"color":"warm red"}']))
    expect(await calls()).toEqual(['pick_color {"hue":"warm"} complete {"color":"warm red"}'])
  })

  it.each([
    ['Approve', 'I have paid 5.'],
    ['Deny', 'I have not: The call was denied: too much'],
    ['Cancel', 'I have not: The call was denied'],
  ])('asks for an approval, and goes on after `%s`', async (word, end) => {
    const { page, say, answers } = await open('pays')
    await say('5')
    await eventually(async () => expect(await answers()).toEqual(['I ask.']))
    await decide(page, word)
    await eventually(async () => expect(await answers()).toEqual(['I ask.', end]))
    await eventually(async () => expect(await page.getByRole('button', { name: word }).count()).toBe(0))
  })

  it('asks for an approval and a question at once', async () => {
    const { page, say, answers } = await open('orders')
    await say('a shirt')
    await page.getByText('Which size?').waitFor()
    await decide(page, 'M')
    await decide(page, 'Approve')
    await eventually(async () => expect(await answers()).toEqual(['paid 5 in M']))
  })

  it.each([
    ['of the client', 'recalls', 'its client tells', /^two: its client tells 2 in \S+$/],
    ['of the service', 'remembers', 'it remembers', /^two: it remembers \d in \S+ from \S+$/],
  ])('goes on in the memory %s, and asks again', async (_, agent, who, again) => {
    const thread = crypto.randomUUID()
    const { page, say, answers } = await open(agent, thread)
    await say('one')
    await eventually(async () => expect(await answers()).toEqual([`one: ${who} 0 in ${thread}`]))
    await say('two')
    const both = [`one: ${who} 0 in ${thread}`, `two: ${who} 2 in ${thread}`]
    await eventually(async () => expect(await answers()).toEqual(both))
    const asked = page.waitForResponse(response => response.url().endsWith('/run'))
    await decide(page, 'Again')
    await asked
    const expected = [both[0], expect.stringMatching(again)]
    await eventually(async () => expect(await answers()).toEqual(expected))
  })

  it('stops the run', async () => {
    const word = own('left')
    const { page, say, answers } = await open('waits')
    await say(word)
    await eventually(async () => expect(await answers()).toEqual(['I wait']))
    await page.getByTestId('copilot-send-button').click()
    await eventually(async () => {
      expect((await run(server, '/api/agents/was-left/run', { input: word })).text).toBe('true')
    })
  })

  it.each([
    ['fails', 'Internal server error'],
    ['gone', 'agent_not_found'],
  ])('is told an error: `%s`', async (agent, error) => {
    const { page, say } = await open(agent)
    await say('hello')
    await eventually(async () => expect(await page.getByRole('alert').textContent()).toContain(error))
    expect(await page.locator('body').textContent()).not.toContain('vault')
  })

  it('has its conversation after a reload', async () => {
    const { page, say, answers } = await open('recalls')
    await say('one')
    await eventually(async () => expect(await answers()).toHaveLength(1))
    const before = await answers()
    await page.reload()
    await eventually(async () => expect(await answers()).toEqual(before))
  })

  it('asks no other host', () => {
    expect(strange).toEqual([])
  })
})

/** The client in CopilotKit's runtime. */
const make = (options: ClientOptions): AgUiClient => {
  const { HttpAgent } = createRequire(join(installed.folder, 'package.json'))('@ag-ui/client')
  return new HttpAgent(options)
}
clientCases('0.0.59', make, server)
