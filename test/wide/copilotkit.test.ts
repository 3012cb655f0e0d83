/** CopilotKit's runtime and a React page of it against the service of the contract of AG-UI, in Chromium. */
import { writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import process from 'node:process'
import { HttpAgent } from '@ag-ui/client'
import { build } from 'esbuild'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { clientCases } from '../contracts/ag-ui.ts'
import { run } from '../contracts/http/client.ts'
import { own } from '../contracts/runs/client.ts'
import { served } from '../contracts/served.ts'
import { eventually } from '../eventually.ts'
import { copilotkitExample } from '../examples/copilotkit.ts'
import { type Installed, install, SHOWN } from '../frameworks/served-framework.ts'
import { skipWithout } from '../needing.ts'
import { snippetOf } from '../pages/pages.ts'
import { takesAnyRun } from '../protocols/ag-ui/any-run.ts'
import type { AgUiClient, ClientOptions } from '../protocols/ag-ui/clients.ts'
import { HAS_BROWSER, launch } from '../runtimes/browser.ts'
import { deploymentsOf } from '../runtimes/deployments.ts'
import { type Started, start } from '../runtimes/process.ts'

const OWN = 'test/frameworks/copilotkit'

const server = served(() => deploymentsOf('ag-ui').nodeInMemory(''))

let installed: Installed
beforeAll(async () => {
  installed = await install('copilotkit', [])
  const page = snippetOf('framework-copilotkit-page.tsx')
  await writeFile(join(installed.folder, 'examples/page.tsx'), page)
})
afterAll(() => installed?.remove())

/** Bundles the pages: those of the tests, and the one of the documentation. */
async function bundle(outdir: string): Promise<void> {
  const pages = ['page', 'older', 'shown'].map(name => join(installed.folder, OWN, `${name}.tsx`))
  await build({
    entryPoints: pages,
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
}

/** Serves the pages, and the runtime of a module. */
function startRuntime(module: string, pages: string): Promise<Started> {
  const { folder } = installed
  return start({
    command: process.execPath,
    args: [join(folder, OWN, 'serve.ts'), join(folder, module), pages],
    until: /listening (http:\S+)/,
    env: {
      COPILOTKIT_TELEMETRY_DISABLED: 'true',
      SERVICE_URL: server().url,
      HELPER_URL: `${server().url}/api/agents/pays/ag-ui`,
    },
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
  let shown: Started
  let browser: Browser
  let context: BrowserContext
  const strange: string[] = []
  beforeAll(async () => {
    if (!HAS_BROWSER) return
    const pages = join(installed.folder, 'pages')
    await bundle(pages)
    runtime = await startRuntime(`${OWN}/agents.ts`, pages)
    shown = await startRuntime(SHOWN, pages)
    browser = await launch()
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
    await shown?.stop()
  })

  /** Opens the page of the tests with an agent. */
  function open(agent: string, more: Readonly<Record<string, string>> = {}): Promise<Opened> {
    const query = new URLSearchParams({ agent, thread: crypto.randomUUID(), ...more })
    return visit(`${runtime.ready[1]}/page?${query}`)
  }

  async function visit(url: string): Promise<Opened> {
    const page = await context.newPage()
    onTestFinished(() => page.close())
    page.setDefaultTimeout(20_000)
    await page.goto(url)
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
        await press(page, false)
      },
    }
  }

  beforeEach(context => skipWithout('chromium-headless-shell', context))

  /** Presses the button that sends, or that stops the run that goes on. */
  async function press(page: Page, isRunning: boolean): Promise<void> {
    await page.locator(`[data-copilot-running=${isRunning}]`).waitFor()
    await page.getByTestId('copilot-send-button').click()
  }

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
    ['Approve', 'I have paid 5.', '{"approved":true}'],
    ['Deny', 'I have not: The call was denied: too much', '{"approved":false,"reason":"too much"}'],
    ['Cancel', 'I have not: The call was denied', '{"status":"cancelled"}'],
  ])('asks for an approval, and goes on after `%s`', async (word, end, result) => {
    const { page, say, answers, calls } = await open('pays')
    await say('5')
    await eventually(async () => expect(await answers()).toEqual(['I ask.']))
    await decide(page, word)
    await eventually(async () => expect(await answers()).toEqual(['I ask.', end]))
    await eventually(async () => expect(await page.getByRole('button', { name: word }).count()).toBe(0))
    // CopilotKit shows the decision in place of what the tool gave.
    expect(await calls()).toEqual([`pay {"amount":5} complete ${result}`])
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
    ['of the client', {}, 'its client tells', /^two: its client tells 2 in no session$/],
    ['of the service', { user: 'ann' }, 'it remembers', /^two: it remembers 2 in \S+ from \S+$/],
  ])('goes on in the memory %s, and asks again', async (_, asker, who, again) => {
    const thread = crypto.randomUUID()
    const place = 'user' in asker ? thread : 'no session'
    const { page, say, answers } = await open('recalls', { thread, ...asker })
    await say('one')
    await eventually(async () => expect(await answers()).toEqual([`one: ${who} 0 in ${place}`]))
    await say('two')
    const both = [`one: ${who} 0 in ${place}`, `two: ${who} 2 in ${place}`]
    await eventually(async () => expect(await answers()).toEqual(both))
    await page.locator('[data-copilot-running=false]').waitFor()
    const asked = page.waitForResponse(response => response.url().endsWith('/run'))
    await decide(page, 'Again')
    await asked
    const expected = [both[0], expect.stringMatching(again)]
    await eventually(async () => expect(await answers()).toEqual(expected))
  })

  it('has one conversation with a client of 1.0', async () => {
    const [thread, user] = [crypto.randomUUID(), own('ann')]
    const { say, answers } = await open('recalls', { thread, user })
    await say('one')
    await eventually(async () => expect(await answers()).toHaveLength(1))
    const url = `${server().url}/api/agents/recalls/ag-ui`
    const client = new HttpAgent({ url, threadId: thread, headers: { 'x-test-user': user } })
    client.addMessage({ id: own('message'), role: 'user', content: 'two' })
    await client.runAgent()
    expect(client.messages.at(-1)?.content).toBe(`two: it remembers 2 in ${thread}`)
    await say('three')
    const last = `three: it remembers 4 in ${thread}`
    await eventually(async () => expect((await answers()).at(-1)).toBe(last))
  })

  it('follows the run after a reload, and stops it', async () => {
    const word = own('left')
    const { page, say, answers } = await open('waits')
    await say(word)
    await eventually(async () => expect(await answers()).toEqual(['I wait']))
    await page.reload()
    await eventually(async () => expect(await answers()).toEqual(['I wait']))
    await press(page, true)
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

  it('decides after a reload', async () => {
    const { page, say, answers } = await open('pays')
    await say('5')
    await eventually(async () => expect(await answers()).toEqual(['I ask.']))
    await page.reload()
    await decide(page, 'Approve')
    await eventually(async () => expect(await answers()).toEqual(['I ask.', 'I have paid 5.']))
  })

  it('has the hooks of the first version', async () => {
    const paints = await visit(`${runtime.ready[1]}/older?agent=paints`)
    await paints.say('paint it')
    await eventually(async () => expect(await paints.answers()).toEqual(['It is {"color":"warm blue"}']))
    const { page, say, answers } = await visit(`${runtime.ready[1]}/older?agent=pays`)
    await say('5')
    await decide(page, 'Approve')
    await eventually(async () => expect(await answers()).toEqual(['I ask.', 'I have paid 5.']))
  })

  it('is shown in the documentation', async () => {
    const { page, say, answers } = await visit(`${shown.ready[1]}/shown`)
    await say('5')
    await decide(page, 'No')
    const end = 'I have not: The call was denied: No'
    await eventually(async () => expect(await answers()).toEqual(['I ask.', end]))
    await say('7')
    await decide(page, 'Yes')
    await eventually(async () => expect(await answers()).toEqual(['I ask.', end, 'I ask.', 'I have paid 7.']))
  })

  it('has types that fit, in the documentation too', () => installed.check())

  it('asks no other host', () => {
    expect(strange).toEqual([])
  })
})

/** The client in CopilotKit's runtime. */
const make = (options: ClientOptions): AgUiClient => {
  const { HttpAgent: HttpAgent0 } = createRequire(join(installed.folder, 'package.json'))('@ag-ui/client')
  return new HttpAgent0(options)
}
clientCases('0.0.59', make, server)

copilotkitExample()

it('takes whatever a run says, in whatever order', () => takesAnyRun(make, false))
