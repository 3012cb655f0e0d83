/**
 * The tutorial about a chat product, step by step, and its page in a browser.
 *
 * @module-tag long
 */
import { afterAll, expect, it } from 'vitest'
import { needing, skipWithout } from '../needing.ts'
import { tutorial } from '../pages/tutorial.ts'
import { launch, visit } from './browser.ts'
import { type PostgresServer, startPostgres } from './postgres/server.ts'

let database: PostgresServer | undefined
afterAll(() => database?.stop())

needing('postgresql').describe('a chat for many people', () => {
  tutorial('start/tutorial-chat.md', {
    example: 'chat-product',
    installs: true,
    async prepare() {
      database = await startPostgres()
      return { DATABASE_URL: database.url }
    },
    more(reader) {
      it('has a page with branches, whose answers outlive it', async context => {
        skipWithout('chromium-headless-shell', context)
        const browser = await launch()
        context.onTestFinished(() => browser.close())
        const { page, complaints } = await visit(browser, reader().url('3001'))
        const button = (name: string | RegExp) => page.getByRole('button', { name, exact: true })
        await page.getByLabel('Name').fill('bob')
        await page.getByLabel('Password').fill('tables')
        await button('Log in').click()
        await page.getByLabel('Message').fill('Hello')
        await button('Send').click()
        await page.getByText('Hello', { exact: true }).waitFor()
        // Its answer is at work.
        await page.reload()
        await page.getByText('Message 1 was: Hello').waitFor()
        await button('Again').click()
        await button('2 of 2').waitFor()
        page.once('dialog', dialog => dialog.accept('Good evening'))
        await button('Edit').click()
        await button('3 of 3').waitFor()
        await page.getByText('Message 1 was: Good evening').waitFor()
        await button('3 of 3').click()
        await button('1 of 3').waitFor()
        expect(await page.getByText('Message 1 was: Hello').count()).toBe(1)
        // Nobody was logged in at first, and a new conversation is not kept yet.
        expect(complaints.filter(each => !/status of 40[14]/.test(each))).toEqual([])
      })
    },
  })
})
