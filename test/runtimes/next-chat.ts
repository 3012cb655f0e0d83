/** The chat of the example for Next.js, as Chromium shows it to a visitor. */
import { join } from 'node:path'
import type { Browser, Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import type { Deployment } from '../contracts/runs/client.ts'
import { skipWithout } from '../needing.ts'
import { HAS_BROWSER, launch } from './browser.ts'
import type { NextApps } from './next-apps.ts'

const WORDS = 'one two three four five six seven eight nine ten'
const MANY_WORDS = Array.from({ length: 150 }, (_, index) => `word${index}`).join(' ')

/** So large that the service stores it as a file. What follows the end of a picture is no part of it. */
const PICTURE = Buffer.concat([
  Buffer.from(
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
    'base64',
  ),
  Buffer.alloc(8192),
])

/** Tests of the page that a server shows. */
export function chatCases(server: () => Deployment, apps: () => NextApps): void {
  let browser: Browser | undefined
  beforeAll(async () => {
    if (HAS_BROWSER) browser = await launch()
  })
  afterAll(() => browser?.close())
  beforeEach(context => skipWithout('chromium-headless-shell', context))

  const visit = (url = server().url) => Visitor.at(url, browser!)

  it('shows an answer that grows as it comes, in markdown', async () => {
    const visitor = await visit()
    await visitor.say(WORDS)
    await visitor.isTold(WORDS)
    const shown = await visitor.shown()
    expect(shown.length).toBeGreaterThan(3)
    expect(areGrowing(shown)).toBe(true)
    await visitor.say('# Hello\n\n- a **bold** item\n\n<b>no HTML</b> ![no picture](/icon.svg)')
    await visitor.isIdle()
    const { answer } = visitor
    expect(await answer.getByRole('heading', { name: 'Hello' }).count()).toBe(1)
    expect(await answer.getByRole('listitem').innerHTML()).toBe('a <strong>bold</strong> item')
    expect(await answer.textContent()).toContain('<b>no HTML</b>')
    expect(await answer.getByRole('img').count()).toBe(0)
    expect(visitor.complaints).toEqual([])
  })

  it('shows thoughts folded and tools as they stand, and goes on with a call that is approved', async () => {
    const visitor = await visit()
    const { page, answer } = visitor
    await visitor.begin('caterer')
    await visitor.say('Dinner for 12')
    await visitor.button('Approve').waitFor()
    expect(await answer.getByText('I round up').isVisible()).toBe(false)
    await answer.getByText('Thoughts').click()
    await answer.getByText('I round up').waitFor()
    expect(await answer.getByRole('cell', { name: '€ 36.73' }).or(answer.getByText('€ 36.73')).count()).toBe(
      2,
    )
    expect(await answer.locator('.tool').allInnerTexts()).toEqual([
      'list done',
      expect.stringMatching(/^order needs your approval[\s\S]*"total": "€ 36.73"/),
    ])
    // Enter in the reason decides nothing.
    await page.getByLabel('Reason').press('Enter')
    await visitor.button('Approve').click()
    await answer.getByText('Ordered: 4 items').waitFor()
    await visitor.isIdle()
    expect(await answer.locator('.tool').allInnerTexts()).toEqual(['list done', 'order done'])
    expect(await page.getByRole('article').count()).toBe(2)
    expect(visitor.complaints).toEqual([])
  })

  it('asks again after a reload, and goes on with what is answered and denied', async () => {
    const visitor = await visit()
    const { page, answer } = visitor
    await visitor.begin('tailor')
    await visitor.say('A silk tie')
    await page.getByRole('form', { name: 'Question' }).waitFor()
    await page.reload()
    await page.getByLabel('Which size').selectOption('L')
    await visitor.button('Answer').click()
    await visitor.button('Deny').waitFor()
    await page.reload()
    await page.getByLabel('Reason').fill('Too costly')
    await visitor.button('Deny').click()
    await answer.getByText('Nothing is sewn. The call was denied: Too costly.').waitFor()
    await visitor.isIdle()
    expect(await answer.locator('.tool').allInnerTexts()).toEqual(['sew denied'])
    expect(await page.getByRole('article').count()).toBe(2)
    expect(visitor.complaints).toEqual([])
  })

  it('shows the steps of a workflow', async () => {
    const visitor = await visit()
    await visitor.begin('digest')
    await visitor.say('# One\nA first thing. A second thing.')
    await visitor.answer.getByRole('heading', { name: 'One' }).waitFor()
    await visitor.isIdle()
    const steps = await visitor.answer.locator('.step').allTextContents()
    expect(steps.map(text => text.slice(2))).toEqual([
      'split, completed',
      'summarize, completed',
      'outline, completed',
    ])
  })

  it('stops an answer on the service', async () => {
    const visitor = await visit()
    await visitor.say(MANY_WORDS)
    await visitor.answer.getByText('word2').waitFor()
    await visitor.button('Stop').click()
    await visitor.isIdle()
    const stopped = await visitor.told()
    expect(MANY_WORDS.startsWith(stopped) && stopped.length < MANY_WORDS.length).toBe(true)
    await visitor.page.reload()
    await visitor.isTold(stopped)
    await visitor.answer.getByText('Stopped').waitFor()
    expect(visitor.complaints).toEqual([])
  })

  it('sends a message to the answer at work, and lets one wait for its turn', async () => {
    const visitor = await visit()
    const { page } = visitor
    await visitor.say(MANY_WORDS)
    await visitor.answer.getByText('word2').waitFor()
    await page.getByRole('textbox', { name: 'Message', exact: true }).fill('later')
    await visitor.button('Queue').click()
    await page.getByText('Waits: later').waitFor()
    await page.getByRole('textbox', { name: 'Message', exact: true }).fill('meanwhile')
    await visitor.button('Send now').click()
    await visitor.answer.getByText('(meanwhile)').waitFor()
    await page.getByLabel('You, meanwhile').getByText('meanwhile', { exact: true }).waitFor()
    expect(await page.getByText('Waits: meanwhile').count()).toBe(0)
    // Then the one that waited has an answer of its own.
    await expect.poll(() => page.getByRole('article').count(), { timeout: 20_000 }).toBe(4)
    await visitor.isTold('later')
    await visitor.isIdle()
    expect(await page.getByText('Waits:').count()).toBe(0)
    expect(visitor.complaints).toEqual([])
  })

  it('goes on with an answer in the middle of which it is reloaded, and can stop it', async () => {
    const visitor = await visit()
    const { page, answer } = visitor
    await visitor.say(WORDS)
    await visitor.isTold(WORDS)
    await visitor.isIdle()
    await visitor.say(MANY_WORDS)
    await answer.getByText('word2').waitFor()
    await page.reload()
    await answer.getByText('word2').waitFor()
    expect((await visitor.told()).length).toBeLessThan(MANY_WORDS.length)
    await visitor.isTold(MANY_WORDS)
    await visitor.isIdle()
    expect(await page.getByRole('article').count()).toBe(4)
    const shown = await visitor.shown()
    expect(areGrowing(shown.filter(text => text !== WORDS))).toBe(true)
    await visitor.say(MANY_WORDS)
    await page.getByRole('article').nth(5).getByText('word2').waitFor()
    await page.reload()
    await page.getByRole('article').nth(5).getByText('word2').waitFor()
    await visitor.button('Stop').click()
    await answer.getByText('Stopped').waitFor()
    expect((await visitor.told()).length).toBeLessThan(MANY_WORDS.length)
    expect(visitor.complaints).toEqual([])
  })

  it('goes on with an answer in the middle of which its server was killed', async () => {
    const env = { DATABASE: join(apps().folder, 'killed.db') }
    const killed = await apps().start('example', env)
    const visitor = await visit(killed.url)
    await visitor.say(MANY_WORDS)
    await visitor.answer.getByText('word9').waitFor()
    await killed.kill()
    const next = await apps().start('example', env, new URL(killed.url).port)
    try {
      await visitor.isTold(MANY_WORDS)
      expect((await visitor.shown()).every(text => MANY_WORDS.startsWith(text))).toBe(true)
      await visitor.page.reload()
      await visitor.isTold(MANY_WORDS)
    } finally {
      await next.stop()
    }
  })

  it('answers an edited message, and answers again', async () => {
    const visitor = await visit()
    const { page } = visitor
    for (const words of ['first', 'second']) {
      await visitor.say(words)
      await visitor.isTold(words)
      await visitor.isIdle()
    }
    await visitor.button('Edit').first().click()
    await page.getByLabel('Edited message').fill('changed')
    await visitor.button('Save').click()
    await visitor.isTold('changed')
    await visitor.isIdle()
    await page.reload()
    await visitor.isTold('changed')
    expect(await page.getByRole('article').count()).toBe(2)
    // The answer may be there before anyone sees that it is awaited.
    const asked = page.waitForRequest(request => request.method() === 'POST')
    await visitor.button('Regenerate').click()
    await asked
    await visitor.isTold('changed')
    await visitor.isIdle()
    await page.reload()
    await visitor.isTold('changed')
    expect(await page.getByRole('article').count()).toBe(2)
    expect(visitor.complaints).toEqual([])
  })

  it('lists the chats of a visitor: opens, renames and deletes them', async () => {
    const visitor = await visit()
    const { page } = visitor
    const chats = page.getByRole('navigation').getByRole('link')
    await visitor.say('An old chat')
    await visitor.isTold('An old chat')
    await visitor.begin('echo')
    await visitor.say('A new one')
    await chats.nth(1).waitFor()
    expect(await chats.allInnerTexts()).toEqual(['A new one\necho', 'An old chat\ntypist'])
    await chats.nth(1).click()
    await visitor.isTold('An old chat')
    await visitor.button('Rename An old chat').click()
    await page.getByLabel('Title').fill('Kept')
    await visitor.button('Save').click()
    await chats.getByText('Kept').waitFor()
    page.once('dialog', dialog => dialog.accept())
    await visitor.button('Delete A new one').click()
    await chats.getByText('A new one').waitFor({ state: 'detached' })
    await page.reload()
    await visitor.isTold('An old chat')
    expect(await chats.allInnerTexts()).toEqual(['Kept\ntypist'])
    expect(visitor.complaints).toEqual([])
    // Another one has none of it, though it knows the address.
    const other = await visit(page.url())
    await other.page.getByText('Says it back').waitFor()
    expect(await other.page.getByRole('navigation').getByRole('link').count()).toBe(0)
    expect(await other.page.getByRole('article').count()).toBe(0)
  })

  it('shows a picture of either side, also after a reload, and sends it again with an edited message', async () => {
    const visitor = await visit()
    const { page, answer } = visitor
    await page
      .getByLabel('Attach files')
      .setInputFiles({ name: 'picture.png', mimeType: 'image/png', buffer: PICTURE })
    await page.getByText('picture.png').waitFor()
    await visitor.say('Look')
    await isDrawn(answer.getByRole('img'))
    await visitor.isIdle()
    await page.reload()
    await visitor.isTold('Look')
    await isDrawn(page.getByRole('img', { name: 'A picture' }))
    await visitor.button('Edit').click()
    await page.getByLabel('Edited message').fill('Look again')
    await visitor.button('Save').click()
    await visitor.isTold('Look again')
    await isDrawn(answer.getByRole('img'))
    await visitor.isIdle()
    expect(visitor.complaints).toEqual([])
  })

  it('shows what went wrong as text, and tries again', async () => {
    const visitor = await visit()
    const alert = visitor.page.getByRole('main').getByRole('alert')
    await visitor.begin('summarizer')
    await visitor.say('Summarize this:')
    await alert.getByText('`input` has no text to summarize').waitFor()
    await visitor.button('Edit').click()
    await visitor.page.getByLabel('Edited message').fill('Summarize this: It works.')
    await visitor.button('Save').click()
    await visitor.isTold('It works.')
    await alert.waitFor({ state: 'detached' })
  })

  it('names all that can be used, on a phone too', async () => {
    const visitor = await visit()
    const { page } = visitor
    await visitor.begin('caterer')
    await visitor.say('Dinner for 2')
    await visitor.button('Approve').waitFor()
    const unnamed = /- (button|link|textbox|combobox|img|form|region|article|log|navigation)(?! ["'])/
    expect(await page.locator('body').ariaSnapshot()).not.toMatch(unnamed)
    expect(await page.getByRole('log', { name: 'Messages' }).getAttribute('aria-live')).toBe('polite')
    expect(await page.locator('html').getAttribute('lang')).toBe('en')
    await page.setViewportSize({ width: 360, height: 640 })
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(360)
    await visitor.button('Approve').click()
    await visitor.answer.getByText('Ordered').waitFor()
    await visitor.button('Chats').click()
    await page.getByRole('link', { name: 'Dinner for 2' }).click()
    await visitor.answer.getByText('Ordered').waitFor()
    expect(visitor.complaints).toEqual([])
  })
}

/** A browser without cookies, and its page. */
class Visitor {
  readonly page: Page
  /** What its console calls errors. */
  readonly complaints: string[] = []

  private constructor(page: Page) {
    this.page = page
    page.on('console', message => message.type() === 'error' && this.complaints.push(message.text()))
    page.on('pageerror', error => this.complaints.push(String(error)))
  }

  static async at(url: string, browser: Browser): Promise<Visitor> {
    const visitor = new Visitor(await (await browser.newContext()).newPage())
    await visitor.page.addInitScript(WATCH)
    await visitor.page.goto(url)
    return visitor
  }

  /** The last answer. */
  get answer(): Locator {
    return this.page.getByRole('article', { name: 'Answer' }).last()
  }

  button(name: string): Locator {
    return this.page.getByRole('button', { name, exact: true })
  }

  /** Begins a chat. */
  async begin(name: string): Promise<void> {
    await this.page.getByLabel('Chat with').selectOption({ label: name })
    await this.button('New chat').click()
    await this.page.getByRole('region', { name, exact: true }).waitFor()
  }

  async say(words: string): Promise<void> {
    const field = this.page.getByRole('textbox', { name: 'Message', exact: true })
    await field.fill(words)
    await field.press('Enter')
  }

  /** Waits until the last answer is this text. */
  async isTold(text: string): Promise<void> {
    await this.answer.locator('.markdown').getByText(text, { exact: true }).waitFor()
  }

  async told(): Promise<string> {
    return (await this.answer.locator('.markdown').textContent()) ?? ''
  }

  /** Waits until nothing is at work. */
  async isIdle(): Promise<void> {
    await this.button('Send').waitFor()
  }

  /** What the page has shown as its last answer since it was loaded. */
  shown(): Promise<string[]> {
    return this.page.evaluate('shown')
  }
}

/** Waits until a picture is there, and not only its address. */
async function isDrawn(picture: Locator): Promise<void> {
  await picture.waitFor()
  await picture.evaluate('async image => image.decode()')
}

/** Whether each text begins with the one before. */
const areGrowing = (shown: readonly string[]) =>
  shown.every((text, index) => text.startsWith(shown[index - 1] ?? ''))

/** Keeps each text that the page shows as its last answer. */
const WATCH = `
  globalThis.shown = []
  new MutationObserver(() => {
    const text = [...document.querySelectorAll('.answer .markdown')].at(-1)?.textContent
    if (text && text !== shown.at(-1)) shown.push(text)
  }).observe(document, { childList: true, subtree: true, characterData: true })
`
