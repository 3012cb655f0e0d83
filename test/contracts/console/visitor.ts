/** What a person does in a chat of the console. */
import type { Browser, Locator, Page } from 'playwright-core'
import { expect } from 'vitest'
import { hostsOf, type Opened, visit } from '../../runtimes/browser.ts'

/** A chat with an agent, and what can be done in it. */
export class Visitor {
  readonly page: Page
  readonly opened: Opened

  private constructor(opened: Opened) {
    this.page = opened.page
    this.opened = opened
  }

  static async at(browser: Browser, url: string, agent: string): Promise<Visitor> {
    const visitor = new Visitor(await visit(browser, `${url}/api/console#/chat/agent/${agent}`))
    await visitor.page.getByRole('heading', { name: `Chat with ${agent}` }).waitFor()
    return visitor
  }

  get field(): Locator {
    return this.page.getByRole('textbox', { name: 'Message', exact: true })
  }

  /** The last answer. */
  get answer(): Locator {
    return this.page.getByRole('article', { name: /^Answer of/ }).last()
  }

  button(name: string): Locator {
    return this.page.getByRole('button', { name, exact: true })
  }

  async say(text: string): Promise<void> {
    await this.field.fill(text)
    await this.field.press('Enter')
  }

  /** Waits until the line of the last answer says so. */
  async isSaid(text: string): Promise<void> {
    await this.page.getByRole('status').filter({ hasText: text }).waitFor()
  }

  /** The texts of all messages of the user. */
  messages(): Promise<string[]> {
    return this.page.getByRole('article', { name: 'Your message' }).allTextContents()
  }

  /** Expects no complaint of the page, and that it asked no other host. */
  isClean(): void {
    const { requests, complaints } = this.opened
    expect(complaints).toEqual([])
    expect(hostsOf(requests)).toEqual(new Set([new URL(this.page.url()).host]))
  }
}

/** Has an agent call a tool. */
export async function talksToTool(
  visitor: Visitor,
  words: string,
  tool: string,
  said: string,
): Promise<void> {
  await visitor.say(words)
  await visitor.isSaid('Answer complete, 1 tool call')
  expect(await visitor.answer.textContent()).toMatch(new RegExp(`${tool}[^]*${said}`))
  await visitor.answer.getByText(tool, { exact: true }).click()
  await visitor.answer.getByText('Result', { exact: true }).waitFor()
  expect(await visitor.answer.getAttribute('aria-busy')).toBe('false')
  visitor.isClean()
}

/** A PNG of one pixel. */
export const PICTURE: Buffer = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)
