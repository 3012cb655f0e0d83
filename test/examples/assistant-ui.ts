/** The example `assistant-ui` in Chromium, over both of its protocols. */
import process from 'node:process'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { skipWithout } from '../needing.ts'
import { HAS_BROWSER, launch } from '../runtimes/browser.ts'
import { type Examples, installExamples } from '../runtimes/example-folders.ts'
import { type Started, start } from '../runtimes/process.ts'

/** A page with a thread. */
class Opened {
  readonly page: Page

  constructor(page: Page) {
    this.page = page
  }

  async say(text: string): Promise<void> {
    await this.page.getByLabel('Message').fill(text)
    await this.page.getByRole('button', { name: 'Send' }).click()
  }

  messages(): Promise<string[]> {
    return this.page.locator('.message').allInnerTexts()
  }

  /** What the agent said of its calls. */
  async ends(): Promise<string[]> {
    const lines = (await this.messages()).flatMap(text => text.split('\n'))
    return lines.filter(line => /^(Posted|Not posted)/.test(line))
  }

  threads(): Promise<string[]> {
    return this.page.locator('.item > button:first-child').allInnerTexts()
  }

  async shows(...messages: readonly string[]): Promise<void> {
    await expect.poll(() => this.messages(), { timeout: 15_000 }).toEqual(messages)
  }

  /** Waits until an answer has begun. */
  async hasBegun(text: string): Promise<void> {
    await expect.poll(async () => (await this.messages()).at(-1)).toMatch(new RegExp(`^${text}`))
  }

  async isIdle(): Promise<void> {
    await this.page.getByRole('button', { name: 'Send' }).waitFor()
  }
}

/** Forty words, which take two seconds. */
const LONG = Array.from({ length: 40 }, (_, at) => `w${at}`).join(' ')

/** The tests of the example. */
export function assistantUiExample(): void {
  let examples: Examples
  let service: Started
  let browser: Browser

  beforeAll(async () => {
    examples = await installExamples(['assistant-ui'])
    if (!HAS_BROWSER) return
    const example = examples.of('assistant-ui')
    await example.script('build')
    service = await start({
      command: process.execPath,
      args: ['server.ts'],
      cwd: example.folder,
      env: { PORT: '0', DATABASE: ':memory:' },
      until: /listening (http:\/\/127\.0\.0\.1:\d+)/,
      startMs: 60_000,
    })
    browser = await launch()
  })
  afterAll(async () => {
    await browser?.close()
    await service?.stop()
    await examples?.remove()
  })

  it('has types that fit', () => examples.of('assistant-ui').script('check'))

  describe.each([
    ['useChat', ''],
    ['AG-UI', '?ag-ui'],
  ])('over %s', (_, query) => {
    beforeEach(context => skipWithout('chromium-headless-shell', context))

    const open = async (): Promise<Opened> => {
      const context = await browser.newContext({ viewport: { width: 1000, height: 700 } })
      onTestFinished(() => context.close())
      const page = await context.newPage()
      const wrong: string[] = []
      page.on('pageerror', error => wrong.push(String(error)))
      onTestFinished(() => expect(wrong).toEqual([]))
      page.setDefaultTimeout(15_000)
      await page.goto(`${service.ready[1]}/${query}`)
      return new Opened(page)
    }

    it('answers, lists threads by their titles, and goes from one to the other', async () => {
      const opened = await open()
      const first = `first ${crypto.randomUUID()}`
      await opened.say(first)
      await opened.shows(first, first)
      await opened.isIdle()
      await opened.say('and then')
      await opened.shows(first, first, 'and then', 'and then')
      await expect.poll(() => opened.threads()).toContain(first)
      await opened.page.getByRole('button', { name: 'New thread' }).first().click()
      await opened.shows()
      const second = `second ${crypto.randomUUID()}`
      await opened.say(second)
      await opened.shows(second, second)
      await opened.page.getByRole('button', { name: first }).click()
      await opened.shows(first, first, 'and then', 'and then')
      await opened.page.reload()
      await opened.shows(first, first, 'and then', 'and then')
      await opened.isIdle()
      await opened.say('after')
      await opened.shows(first, first, 'and then', 'and then', 'after', 'after')
      const item = opened.page.locator('.item', { hasText: second })
      await item.getByRole('button', { name: 'Delete the thread' }).click()
      await expect.poll(() => opened.threads()).not.toContain(second)
      await opened.page.reload()
      await expect.poll(() => opened.threads()).toContain(first)
      expect(await opened.threads()).not.toContain(second)
    })

    it('has an answer whole and once after a reload in its middle', async () => {
      const opened = await open()
      await opened.say(LONG)
      await opened.hasBegun('w0 w1 w2')
      await opened.page.reload()
      await opened.hasBegun('w0 w1')
      await opened.shows(LONG, LONG)
      await opened.isIdle()
      await opened.say('next')
      await opened.shows(LONG, LONG, 'next', 'next')
    })

    it.each([
      ['Approve', 'Posted: hello'],
      ['Deny', 'Not posted'],
    ])('decides on a call, also after a reload: %s', async (word, end) => {
      const opened = await open()
      const decision = opened.page.getByRole('button', { name: word })
      for (const reloads of [false, true]) {
        await opened.say('post hello')
        await decision.waitFor()
        if (reloads) await opened.page.reload()
        await decision.click()
        await expect.poll(() => opened.ends()).toEqual(Array(reloads ? 2 : 1).fill(end))
        await decision.waitFor({ state: 'detached' })
        await opened.isIdle()
      }
      await opened.page.reload()
      await expect.poll(() => opened.ends()).toEqual([end, end])
      await opened.say('next')
      await expect.poll(async () => (await opened.messages()).slice(-2)).toEqual(['next', 'next'])
      expect(await decision.count()).toBe(0)
    })

    it('stops an answer, also one that it came back to', async () => {
      const opened = await open()
      for (const reloads of [false, true]) {
        await opened.say(LONG)
        await opened.hasBegun('w0 w1')
        if (reloads) {
          await opened.page.reload()
          await opened.hasBegun('w0 w1')
        }
        await opened.page.getByRole('button', { name: 'Stop' }).click()
        await opened.isIdle()
        await opened.page.reload()
        await opened.hasBegun('w0 w1')
        expect((await opened.messages()).at(-1)).not.toBe(LONG)
        await opened.isIdle()
      }
    })
  })
}
