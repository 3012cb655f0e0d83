/** The console in a real browser, on a server of its own. */
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createClient } from '../../src/client/index.ts'
import { needing } from '../needing.ts'
import { hostsOf, launch, visit } from '../runtimes/browser.ts'
import { chatCases, TALKS, type Talks } from './console/chat.ts'
import { jsonRequest } from './http/client.ts'
import { served } from './served.ts'

/** The console of a server: its page, its files and what it asks work there. */
export function consoleContract(
  start: () => Promise<{ readonly url: string; stop(): Promise<unknown> }>,
  talks: Talks = TALKS,
): void {
  needing('chromium-headless-shell').describe('the console', () => {
    const server = served(start)
    let browser: Browser
    beforeAll(async () => {
      browser = await launch()
    })
    afterAll(() => browser?.close())

    it('shows its screens, with no complaint and no request to another host', async () => {
      const { page, requests, complaints } = await visit(browser, `${server().url}/api/console#/tools`)
      await page.getByRole('heading', { name: 'Tools', exact: true }).waitFor()
      for (const screen of await page.getByRole('navigation', { name: 'Screens' }).getByRole('link').all()) {
        await screen.click()
        await page.locator('main h1').waitFor()
        await page.locator('main [aria-busy=true]').waitFor({ state: 'detached' })
        expect(await page.locator('.notice.error').count()).toBe(0)
      }
      expect(hostsOf(requests)).toEqual(new Set([new URL(server().url).host]))
      expect(complaints).toEqual([])
    })

    chatCases(server, () => browser, talks)
    // The dev server lists runs to known users only.
    if (talks === TALKS) taskCases(server)

    it('has files that are compressed once, and kept for good', async () => {
      const page = await (
        await fetch(`${server().url}/api/console`, { headers: { accept: 'text/html' } })
      ).text()
      const [, script] = /src="console\/(assets\/main-\w+\.js)"/.exec(page)!
      const file = await fetch(`${server().url}/api/console/${script}`, {
        headers: { 'accept-encoding': 'gzip' },
      })
      expect(file.headers.get('content-encoding')).toBe('gzip')
      expect(file.headers.get('cache-control')).toContain('immutable')
      // Compressed once, it is the script.
      expect(await file.text()).toMatch(/^(var|import|const|let|function)\b/)
    })
  })
}

/** The runs of A2A tasks, where everyone may see them. */
function taskCases(server: () => { readonly url: string }): void {
  it('lists the runs of A2A tasks beside the others, and their results', async () => {
    const message = { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ text: 'over A2A' }] }
    const sent = await fetch(
      `${server().url}/`,
      jsonRequest(
        { jsonrpc: '2.0', id: 1, method: 'SendMessage', params: { message } },
        { 'a2a-version': '1.0' },
      ),
    )
    const { task } = (await sent.json()).result
    const client = createClient({ baseUrl: `${server().url}/api` })
    const find = async () => (await client.runs.list({})).runs.find(({ taskId }) => taskId === task.id)
    await expect.poll(find).toMatchObject({
      kind: 'agent',
      name: 'echo',
      status: 'completed',
      transport: 'a2a',
      sessionId: task.contextId,
      durationMs: expect.any(Number),
    })
    const { id = '' } = (await find()) ?? {}
    expect((await client.runs.get(id)).result?.text).toContain('over A2A')
    const events: string[] = []
    for await (const { type } of client.runs.stream(id)) events.push(type)
    expect(events).toEqual(['finish'])
  })
}
