/** The example `copilotkit` in Chromium: a page, CopilotKit's runtime with `servableRunner`, and a service in a process of its own. */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import process from 'node:process'
import { pathToFileURL } from 'node:url'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { type Answer, calls, type Provider, says, startProvider } from '../adapters/model-agent/provider.ts'
import { eventually } from '../eventually.ts'
import { skipWithout } from '../needing.ts'
import { snippetOf } from '../pages/pages.ts'
import { HAS_BROWSER, launch } from '../runtimes/browser.ts'
import { type Examples, installExamples } from '../runtimes/example-folders.ts'
import { freePort } from '../runtimes/harness.ts'
import { type Started, start } from '../runtimes/process.ts'

const LISTENING = /listening (http:\/\/127\.0\.0\.1:\d+)/

/** A page with a thread. */
interface Opened {
  readonly page: Page
  say(text: string): Promise<void>
  /** Presses the button that stops. */
  stop(): Promise<void>
  /** What the agent has said, a text for each of its messages. */
  answers(): Promise<string[]>
  /** What the user has said. */
  asked(): Promise<string[]>
  /** The titles of the threads. */
  threads(): Promise<string[]>
}

/** The tests of the example. */
export function copilotkitExample(): void {
  let examples: Examples
  let provider: Provider
  let service: Started
  let runtime: Started
  let browser: Browser
  let port: number
  const strange: string[] = []
  /** Lets answers go on that wait. */
  const waiting = new Map<string, () => void>()

  /** What the model says depends on what it is told last. */
  const model: Answer = (response, asked, request) => {
    const { role, content } = asked.body.messages.at(-1) ?? { role: '', content: '' }
    const text = typeof content === 'string' ? content : JSON.stringify(content)
    const [, word = ''] = /^long (\w+)/.exec(text) ?? []
    if (role === 'tool') says('Done: ', text)(response, asked, request)
    else if (text === 'refund') calls(['refund', { order: 'A1' }])(response, asked, request)
    else if (text === 'paint') calls(['set_color', { color: 'rgb(1, 2, 3)' }])(response, asked, request)
    else if (word === '') says('You said ', text)(response, asked, request)
    else {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      const delta = (more: object) => `data: ${JSON.stringify({ choices: [{ index: 0, ...more }] })}\n\n`
      response.write(delta({ delta: { role: 'assistant', content: `Begun ${word}, ` } }))
      waiting.set(word, () => {
        response.write(delta({ delta: { content: `ended ${word}.` } }))
        response.end(`${delta({ delta: {}, finish_reason: 'stop' })}data: [DONE]\n\n`)
      })
    }
  }
  const go = async (word: string) => {
    await eventually(() => expect(waiting.has(word)).toBe(true))
    waiting.get(word)?.()
  }

  const serve = (file: string, env: Record<string, string>) =>
    start({
      command: process.execPath,
      args: [file],
      cwd: examples.of('copilotkit').folder,
      env: { COPILOTKIT_TELEMETRY_DISABLED: 'true', ...env },
      until: LISTENING,
      startMs: 60_000,
    })
  const startRuntime = () => serve('server.ts', { PORT: String(port), SERVICE_URL: service.ready[1] ?? '' })

  beforeAll(async () => {
    examples = await installExamples(['copilotkit'])
    if (!HAS_BROWSER) return
    await examples.of('copilotkit').script('build')
    provider = await startProvider()
    provider.script(model)
    port = await freePort()
    service = await serve('service.ts', {
      PORT: '0',
      PAGE_ORIGIN: `http://127.0.0.1:${port}`,
      OPENAI_BASE_URL: provider.url,
      OPENAI_API_KEY: 'k',
    })
    runtime = await startRuntime()
    browser = await launch()
  })
  afterAll(async () => {
    await browser?.close()
    await runtime?.stop()
    await service?.stop()
    await provider?.stop()
    await examples?.remove()
  })

  beforeEach(context => skipWithout('chromium-headless-shell', context))

  /** Opens the page with a thread. */
  async function open(thread: string = crypto.randomUUID(), user = 'ada'): Promise<Opened> {
    const context = await browser.newContext({ viewport: { width: 1000, height: 700 } })
    onTestFinished(() => context.close())
    await context.route('**', route => {
      const url = new URL(route.request().url())
      if (url.hostname === '127.0.0.1') return route.continue()
      strange.push(url.href)
      return route.abort()
    })
    const page = await context.newPage()
    page.setDefaultTimeout(20_000)
    await page.goto(`${runtime.ready[1]}/?user=${user}#${thread}`)
    const texts = async (selector: string) => {
      const all = await page.locator(selector).allInnerTexts()
      return all.map(text => text.trim()).filter(text => text !== '')
    }
    const press = async (isRunning: boolean) => {
      await page.locator(`[data-copilot-running=${isRunning}]`).waitFor()
      await page.getByTestId('copilot-send-button').click()
    }
    return {
      page,
      async say(text) {
        await page.getByRole('textbox').fill(text)
        await press(false)
      },
      stop: () => press(true),
      answers: () => texts('[data-testid=copilot-assistant-message] .cpk\\:prose'),
      asked: () => texts('[data-testid=copilot-user-message]'),
      threads: () => texts('nav li button:first-child'),
    }
  }

  const idle = ({ page }: Opened) => page.locator('[data-copilot-running=false]').waitFor()
  const shows = (opened: Opened, ...answers: string[]) =>
    eventually(async () => expect(await opened.answers()).toEqual(answers))
  const button = ({ page }: Opened, name: string) => page.getByRole('button', { name, exact: true })

  describe('the example copilotkit', () => {
    it('type-checks by itself, and so does what the documentation shows', async () => {
      const { folder, script } = examples.of('copilotkit')
      const shown = join(folder, 'shown.ts')
      const snippet = snippetOf('framework-copilotkit-runner.ts')
      await writeFile(shown, snippet.replace(/http:\/\/127\.0\.0\.1:\d+/, service.ready[1] ?? ''))
      await script('check')
      const { GET } = await import(pathToFileURL(shown).href)
      const info: Response = await GET(new Request('http://127.0.0.1/api/copilotkit/info'))
      expect(Object.keys((await info.json()).agents)).toEqual(['helper'])
    })

    it('answers, is whole after a reload in the middle, and goes on', async () => {
      const opened = await open()
      await opened.say('hello')
      await shows(opened, 'You said hello')
      await opened.say('long reload')
      await shows(opened, 'You said hello', 'Begun reload,')
      await opened.page.reload()
      await shows(opened, 'You said hello', 'Begun reload,')
      await go('reload')
      await shows(opened, 'You said hello', 'Begun reload, ended reload.')
      await idle(opened)
      await opened.say('on')
      await shows(opened, 'You said hello', 'Begun reload, ended reload.', 'You said on')
      expect(await opened.asked()).toEqual(['hello', 'long reload', 'on'])
      expect(provider.asked.at(-1)?.body.messages.map(({ role }) => role)).toEqual([
        'system',
        'user',
        'assistant',
        'user',
        'assistant',
        'user',
      ])
    })

    it.each(['in the page that asked', 'after a reload'])('stops %s', async when => {
      const opened = await open()
      const word = when === 'after a reload' ? 'later' : 'now'
      await opened.say(`long ${word}`)
      await shows(opened, `Begun ${word},`)
      if (word === 'later') await opened.page.reload()
      await shows(opened, `Begun ${word},`)
      await opened.stop()
      const isOf = ({ body }: Provider['asked'][number]) => body.messages.at(-1)?.content === `long ${word}`
      await eventually(() => expect(provider.asked.findLast(isOf)?.hasLeft).toBe(true))
      await idle(opened)
      await opened.say('next')
      await shows(opened, `Begun ${word},`, 'You said next')
      await opened.page.reload()
      await shows(opened, `Begun ${word},`, 'You said next')
    })

    it('has other threads, which can be renamed and deleted', async () => {
      const opened = await open(undefined, 'bob')
      const { page, threads } = opened
      await opened.say('first')
      await shows(opened, 'You said first')
      await eventually(async () => expect(await threads()).toEqual(['first']))
      await button(opened, 'New thread').click()
      await shows(opened)
      await idle(opened)
      await opened.say('second')
      await shows(opened, 'You said second')
      await eventually(async () => expect(await threads()).toEqual(['second', 'first']))
      await button(opened, 'first').click()
      await shows(opened, 'You said first')
      page.once('dialog', dialog => dialog.accept('Renamed'))
      await button(opened, 'Rename first').click()
      await eventually(async () => expect(await threads()).toEqual(['second', 'Renamed']))
      await button(opened, 'Delete second').click()
      await eventually(async () => expect(await threads()).toEqual(['Renamed']))
      await page.reload()
      await shows(opened, 'You said first')
    })

    it('shows nobody the threads of another user', async () => {
      const thread = crypto.randomUUID()
      const own = await open(thread)
      await own.say('mine')
      await shows(own, 'You said mine')
      const other = await open(thread, 'bob')
      await idle(other)
      await other.say('whose')
      await shows(other, 'You said whose')
      expect(await other.threads()).not.toContain('mine')
      expect(await own.threads()).not.toContain('whose')
    })

    it.each([
      ['Approve', 'Done: The price of A1 was paid back'],
      ['Deny', 'Done: The call was denied: No'],
    ])('asks for an approval, also after a reload: `%s`', async (word, end) => {
      const opened = await open()
      await opened.say('refund')
      await button(opened, word).waitFor()
      await opened.page.reload()
      await button(opened, word).click()
      await shows(opened, end)
      expect(await button(opened, word).count()).toBe(0)
      await idle(opened)
      await opened.page.reload()
      await shows(opened, end)
      expect(await button(opened, word).count()).toBe(0)
    })

    it('runs a tool of the page', async () => {
      const opened = await open()
      await opened.say('paint')
      await shows(opened, 'Done: {"color":"rgb(1, 2, 3)"}')
      const color = () => getComputedStyle(document.body).backgroundColor
      expect(await opened.page.evaluate(color)).toBe('rgb(1, 2, 3)')
    })

    it('loses nothing if the runtime is killed in the middle', async () => {
      const opened = await open()
      await opened.say('long killed')
      await shows(opened, 'Begun killed,')
      await runtime.kill()
      await go('killed')
      runtime = await startRuntime()
      await opened.page.reload()
      await shows(opened, 'Begun killed, ended killed.')
      await idle(opened)
      await opened.say('long again')
      await shows(opened, 'Begun killed, ended killed.', 'Begun again,')
      await runtime.kill()
      runtime = await startRuntime()
      await opened.page.reload()
      await shows(opened, 'Begun killed, ended killed.', 'Begun again,')
      await go('again')
      await shows(opened, 'Begun killed, ended killed.', 'Begun again, ended again.')
    })

    it('stops a run for its user alone, by a process that has not seen it', async () => {
      const thread = crypto.randomUUID()
      const opened = await open(thread)
      await opened.say('long theirs')
      await shows(opened, 'Begun theirs,')
      await runtime.kill()
      runtime = await startRuntime()
      const url = `${runtime.ready[1]}/api/copilotkit/agent/desk/stop/${thread}`
      const stopped = async (headers: Record<string, string>) => {
        const answer = await fetch(url, { method: 'POST', headers })
        return [answer.status, (await answer.json()).stopped]
      }
      expect(await stopped({ authorization: 'Bearer token-of-bob' })).toEqual([200, false])
      expect(await stopped({})).toEqual([401, undefined])
      await opened.page.reload()
      await shows(opened, 'Begun theirs,')
      expect(await stopped({ authorization: 'Bearer token-of-ada' })).toEqual([200, true])
      await idle(opened)
      expect(await opened.answers()).toEqual(['Begun theirs,'])
    })

    it('asks no other host', () => {
      expect(strange).toEqual([])
    })
  })
}
