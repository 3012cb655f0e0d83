/**
 * The chat of the console in a real browser.
 *
 * @module-tag long
 */

import { mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Browser, Locator } from 'playwright-core'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { createClient } from '../../src/client/index.ts'
import { PICTURE, talksToTool, Visitor } from '../contracts/console/visitor.ts'
import { onDisk } from '../contracts/run-host/folder.ts'
import { served } from '../contracts/served.ts'
import { needing } from '../needing.ts'
import { HAS_BROWSER, launch, violationsOf } from './browser.ts'
import { CONSOLES } from './console-servers.ts'
import { freePort, type Runtime, startNode } from './harness.ts'

const NODE = 'test/contracts/console/service.ts'

let browser: Browser
beforeAll(async () => {
  if (HAS_BROWSER) browser = await launch()
})
afterAll(() => browser?.close())

needing('chromium-headless-shell').describe('the chat of the console', () => {
  const server = served(() => startNode(NODE))
  const at = (agent: string) => Visitor.at(browser, server().url, agent)
  const client = () => createClient({ baseUrl: `${server().url}/api` })

  it('shows text and tool calls in their order, in any light and on a phone', async () => {
    const visitor = await at('helper')
    await talksToTool(visitor, 'Oslo', 'forecast', 'It will be clear in Oslo')
    const { page, answer } = visitor
    expect(await answer.getByRole('listitem').allTextContents()).toEqual(['one', 'two'])
    expect(await answer.locator('strong', { hasText: 'clear' }).count()).toBe(1)
    await answer.getByText('As code').click()
    await answer.getByText('curl -N').waitFor()
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      expect(await violationsOf(page)).toEqual([])
    }
    await page.setViewportSize({ width: 360, height: 740 })
    await page.getByRole('combobox', { name: 'Chat with' }).waitFor()
    expect(await violationsOf(page)).toEqual([])
    await page.setViewportSize({ width: 320, height: 640 })
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(320)
    visitor.isClean()
  })

  it('lists agents, teams and workflows, and runs each kind', async () => {
    const visitor = await at('helper')
    const { page } = visitor
    await page.getByRole('link', { name: /^both/ }).click()
    await page.getByRole('heading', { name: 'Chat with both' }).waitFor()
    await page.getByRole('link', { name: /^initials/ }).click()
    await page.getByRole('heading', { name: 'Chat with initials' }).waitFor()
    await visitor.say('Ada King')
    await visitor.isSaid('Answer complete')
    await visitor.answer.getByText('AK', { exact: true }).waitFor()
    expect(await visitor.answer.getByText(/^.? ?Step/).allTextContents()).toHaveLength(2)
    visitor.isClean()
  })

  it('asks for an approval in place, and goes on in the same answer', async () => {
    const visitor = await at('remover')
    await visitor.say('Oslo')
    await visitor.isSaid('The agent is waiting for you: 1 request')
    expect(await violationsOf(visitor.page)).toEqual([])
    await visitor.button('Approve').click()
    await visitor.isSaid('Answer complete, 1 tool call')
    await visitor.answer.getByText('removed Oslo').waitFor()
    // The button is gone, so the focus is where one goes on.
    await expect.poll(() => visitor.page.locator(':focus').getAttribute('aria-describedby')).toBe('keys')
    await visitor.say('Rome')
    await visitor.isSaid('The agent is waiting for you: 1 request')
    await visitor.page.getByLabel('Reason').fill('too old')
    await visitor.button('Deny').click()
    await visitor.answer.getByText(/^not removed: .*too old/).waitFor()
    visitor.isClean()
  })

  it('gives up what waits when its message runs again, so that nothing runs twice', async () => {
    const visitor = await at('remover')
    await visitor.say('Paris')
    await visitor.isSaid('The agent is waiting for you: 1 request')
    const waiting = () => client().approvals.list({ whose: 'mine' })
    const before = (await waiting()).approvals.length
    await visitor.button('Run again').click()
    await visitor.isSaid('The agent is waiting for you: 1 request')
    await expect.poll(async () => (await waiting()).approvals.length).toBe(before)
    expect(await visitor.button('Approve').count()).toBe(1)
    await visitor.button('Deny').click()
    await visitor.isSaid('Answer complete')
    visitor.isClean()
  })

  it('follows a request that is decided elsewhere', async () => {
    const visitor = await at('remover')
    await visitor.say('Quito')
    await visitor.isSaid('The agent is waiting for you: 1 request')
    const { approvals } = await client().approvals.list({ whose: 'mine' })
    const { run, request } = approvals.find(({ request }) => Object(request.args).city === 'Quito')!
    // The page has heard of it.
    await visitor.page.getByRole('status').getByText('New approval: remover').waitFor({ state: 'attached' })
    await client().runs.answer(run.id, [{ id: request.id, decision: 'approve' }])
    await visitor.answer.getByText('removed Quito').waitFor()
    expect(await visitor.button('Approve').count()).toBe(0)
    visitor.isClean()
  })

  it('keeps what is being written with its conversation', async () => {
    const visitor = await at('echo')
    const { page } = visitor
    await visitor.field.fill('not sent yet')
    await page.getByRole('link', { name: 'Tools' }).click()
    await page.getByRole('heading', { name: 'Tools', exact: true }).waitFor()
    await page.goBack()
    await expect.poll(() => visitor.field.inputValue()).toBe('not sent yet')
    await visitor.button('New chat').click()
    await expect.poll(() => visitor.field.inputValue()).toBe('')
  })

  it('begins no third answer where the browser has no connection left for it', async () => {
    const visitor = await at('slow')
    for (let count = 0; count < 2; count++) {
      await visitor.say('1000')
      await visitor.answer.getByText('1 2 3').waitFor()
      await visitor.button('New chat').click()
      await expect.poll(() => visitor.messages()).toEqual([])
    }
    await visitor.say('1000')
    await visitor.answer.getByText('The browser has no connection left').waitFor()
    visitor.isClean()
  })

  it('sends a message now to the run at work, or after it', async () => {
    const visitor = await at('listener')
    const { page, answer } = visitor
    await visitor.say('count')
    await answer.getByText('1 2 3').waitFor()
    await visitor.field.fill('later')
    expect(await violationsOf(page)).toEqual([])
    await visitor.button('Queue').click()
    await expect.poll(() => visitor.messages()).toEqual(['count', 'later'])
    await visitor.field.fill('never')
    await visitor.button('Queue').click()
    await expect.poll(() => visitor.messages()).toEqual(['count', 'later', 'never'])
    expect(await page.getByText('Queued', { exact: true }).count()).toBe(2)
    await visitor.button('Remove').last().click()
    await expect.poll(() => visitor.messages()).toEqual(['count', 'later'])
    await visitor.field.fill('stop')
    await visitor.button('Send now').click()
    await page.getByText('Heard later.').waitFor()
    await visitor.isSaid('Answer complete')
    expect(await visitor.messages()).toEqual(['count', 'later'])
    const first = page.getByRole('article', { name: /^Answer of/ }).first()
    expect(await first.textContent()).toMatch(/you.*stop.*Stopped\./s)
    expect(await visitor.button('Send now').count()).toBe(0)
    await page.reload()
    await first.getByText('Stopped.').waitFor()
    expect(await first.textContent()).toMatch(/you.*stop.*Stopped\./s)
    expect(await visitor.messages()).toEqual(['count', 'later'])
    visitor.isClean()
  })

  it('keeps the versions of a message, and leads from one to the other', async () => {
    const visitor = await at('helper')
    const { page } = visitor
    const shown = () => visitor.messages()
    await visitor.say('Oslo')
    await visitor.isSaid('Answer complete')
    await visitor.say('Rome')
    await visitor.answer.getByText('in Rome').waitFor()
    await visitor.isSaid('Answer complete')
    await page.getByRole('button', { name: 'Edit and run again' }).first().click()
    await expect.poll(() => visitor.field.inputValue()).toBe('Oslo')
    await visitor.say('Bergen')
    await visitor.answer.getByText('in Bergen').waitFor()
    await visitor.isSaid('Answer complete')
    expect(await shown()).toEqual(['Bergen'])
    await page.getByText('2 of 2').waitFor()
    expect(await violationsOf(page)).toEqual([])
    await visitor.button('Earlier version').click()
    await expect.poll(shown).toEqual(['Oslo', 'Rome'])
    await page.getByText('1 of 2').waitFor()
    await visitor.say('Quito')
    await visitor.answer.getByText('in Quito').waitFor()
    await visitor.isSaid('Answer complete')
    await page.reload()
    await expect.poll(shown).toEqual(['Oslo', 'Rome', 'Quito'])
    await visitor.button('Later version').click()
    await expect.poll(shown).toEqual(['Bergen'])
    await visitor.button('Run again').click()
    await page.getByText('3 of 3').waitFor()
    await visitor.isSaid('Answer complete')
    visitor.isClean()
  })

  it('asks again after a reload for what a run waits for', async () => {
    const visitor = await at('remover')
    await visitor.say('Bergen')
    await visitor.isSaid('The agent is waiting for you: 1 request')
    await visitor.page.reload()
    await visitor.button('Approve').waitFor()
    await visitor.answer.getByText('not done').waitFor()
    await visitor.button('Approve').click()
    await visitor.answer.getByText('removed Bergen').waitFor()
    await visitor.page.reload()
    await visitor.answer.getByText('removed Bergen').waitFor()
    expect(await visitor.answer.getByText('remove', { exact: true }).count()).toBe(1)
    expect(await visitor.messages()).toEqual(['Bergen'])
    visitor.isClean()
  })

  it('answers a question with a form, and approves arguments that were edited', async () => {
    const visitor = await at('tailor')
    const { page } = visitor
    await visitor.say('a silk shirt')
    await visitor.isSaid('The agent is waiting for you')
    expect(await violationsOf(page)).toEqual([])
    await page.getByRole('combobox', { name: 'Answer' }).selectOption({ label: 'M' })
    await visitor.button('Answer').click()
    const item = page.getByRole('textbox', { name: 'item', exact: true })
    await item.fill('')
    await visitor.button('Approve with 1 change').click()
    await page.getByRole('alert').getByText('Fill this in').waitFor()
    expect(await violationsOf(page)).toEqual([])
    await item.fill('a wool shirt')
    await page.getByLabel('size', { exact: true }).fill('L')
    await visitor.button('Approve with 2 changes').click()
    await visitor.answer.getByText('a wool shirt in L').waitFor()
    visitor.isClean()
  })

  it('answers several requests one at a time, or all together', async () => {
    const visitor = await at('planner')
    const { page } = visitor
    const answerBoth = async (said: string) => {
      await page.getByLabel('Where to?').fill('Oslo')
      await visitor.button('Answer').first().click()
      await page.getByText(said).waitFor()
      await page.getByLabel('How many?').fill('2')
      await visitor.button('Answer').last().click()
      await visitor.answer.getByText('2 to Oslo').waitFor()
      await visitor.isSaid('Answer complete')
    }
    await visitor.say('x')
    await visitor.isSaid('The agent is waiting for you: 2 requests')
    expect(await violationsOf(page)).toEqual([])
    await answerBoth('The agent is waiting for you: 1 request')
    await visitor.say('y')
    await page.getByLabel('Send all 2 answers together').check()
    await answerBoth('It is sent when you have answered the others')
    visitor.isClean()
  })

  it('stops an answer with Escape', async () => {
    const visitor = await at('slow')
    await visitor.say('1000')
    await visitor.answer.getByText('1 2 3').waitFor()
    await visitor.field.press('Escape')
    await visitor.isSaid('Answer stopped')
    await visitor.page.getByRole('complementary').getByText('Stopped').waitFor()
    await visitor.say('2')
    await visitor.isSaid('Answer complete')
    visitor.isClean()
  })

  it('runs a message again, and an edited one, in the place of what came after it', async () => {
    const visitor = await at('helper')
    await visitor.say('Oslo')
    await visitor.isSaid('Answer complete')
    await visitor.say('Rome')
    await visitor.answer.getByText('in Rome').waitFor()
    await visitor.isSaid('Answer complete')
    await visitor.button('Run again').last().click()
    await visitor.isSaid('Answer complete')
    expect(await visitor.messages()).toEqual(['Oslo', 'Rome'])
    await visitor.button('Edit and run again').first().click()
    await expect.poll(() => visitor.field.inputValue()).toBe('Oslo')
    await visitor.say('Lima')
    await visitor.answer.getByText('in Lima').waitFor()
    await visitor.isSaid('Answer complete')
    expect(await visitor.messages()).toEqual(['Lima'])
    await visitor.page.reload()
    await visitor.answer.getByText('in Lima').waitFor()
    expect(await visitor.messages()).toEqual(['Lima'])
    visitor.isClean()
  })

  it('begins new sessions, and continues an earlier one', async () => {
    const visitor = await at('echo')
    await visitor.say('first words')
    await visitor.isSaid('Answer complete')
    await visitor.button('New chat').click()
    await expect.poll(() => visitor.messages()).toEqual([])
    await visitor.say('second words')
    await visitor.isSaid('Answer complete')
    await visitor.page.reload()
    await visitor.page
      .getByRole('navigation', { name: 'Chats' })
      .getByRole('link', { name: 'first words' })
      .click()
    await expect.poll(() => visitor.messages()).toEqual(['first words'])
    visitor.isClean()
  })

  it('sends files, and says which are too large', async () => {
    const visitor = await at('echo')
    const { page } = visitor
    const file = (name: string, mimeType: string, buffer: Buffer) => ({ name, mimeType, buffer })
    await page.getByLabel('Attach files').setInputFiles(file('large.bin', 'a/b', Buffer.alloc(2_000_000)))
    await page.getByRole('alert').filter({ hasText: 'The message is too large' }).waitFor()
    await visitor.button('Remove large.bin').click()
    await page
      .getByLabel('Attach files')
      .setInputFiles([file('p.png', 'image/png', PICTURE), file('page.html', 'text/html', Buffer.from(HTML))])
    await visitor.button('Remove page.html').waitFor()
    await visitor.say('Look')
    await visitor.isSaid('Answer complete')
    const message = page.getByRole('article', { name: 'Your message' }).last()
    await message.getByRole('img').evaluate(image => (image as HTMLImageElement).decode())
    await message.getByRole('button', { name: 'Show source of page.html' }).click()
    await message.getByText(HTML).waitFor()
    const downloading = page.waitForEvent('download')
    await message.getByRole('button', { name: 'Save page.html' }).click()
    expect((await downloading).suggestedFilename()).toBe('page.html')
    expect(await violationsOf(page)).toEqual([])
    visitor.isClean()
  })

  it('shows what a run has made: pictures, sources and links, and nothing that runs', async () => {
    const visitor = await at('maker')
    const { page, answer } = visitor
    await visitor.say('x')
    await visitor.isSaid('Answer complete')
    await answer.getByText('Reasoning').click()
    await answer.getByText('What kinds are there?').waitFor()
    await answer.getByRole('img', { name: 'dot.png' }).evaluate(image => (image as HTMLImageElement).decode())
    await answer.getByRole('button', { name: 'Show source of dot.svg' }).click()
    await answer.getByText('globalThis.hacked = 1').waitFor()
    expect(await answer.getByRole('img').count()).toBe(1)
    expect(await answer.getByRole('link').allTextContents()).toEqual(['https://evil.example/far.png'])
    await answer.getByText('"answer": 42').waitFor()
    expect(await answer.locator('em', { hasText: 'made' }).count()).toBe(1)
    expect(await page.evaluate(() => Object(globalThis).hacked)).toBe(undefined)
    expect(await violationsOf(page)).toEqual([])
    visitor.isClean()
  })

  it('shows an output that is an object, to be copied', async () => {
    const visitor = await at('clerk')
    await visitor.say('Oslo')
    await visitor.isSaid('Answer complete')
    expect(JSON.parse((await visitor.answer.locator('figure pre').textContent()) ?? '')).toEqual({
      city: 'Oslo',
      size: { code: 'M' },
    })
    await visitor.answer.getByRole('button', { name: 'Copy output' }).waitFor()
    visitor.isClean()
  })

  it('can be seen in forced colours, and moves nothing', async () => {
    const visitor = await at('slow')
    const { page } = visitor
    await page.emulateMedia({ forcedColors: 'active', reducedMotion: 'reduce' })
    await visitor.say('1000')
    await visitor.answer.getByText('1 2 3').waitFor()
    expect(await page.evaluate(() => document.getAnimations().length)).toBe(0)
    const edgeOf = (all: Locator) => all.last().evaluate(each => getComputedStyle(each).borderTopStyle)
    const edges = ['article.user', '.composer', '.targets a[aria-current]', 'button']
    expect(await Promise.all(edges.map(each => edgeOf(page.locator(each))))).toEqual(edges.map(() => 'solid'))
    expect(await violationsOf(page)).toEqual([])
    await visitor.button('Stop').click()
    await visitor.isSaid('Answer stopped')
    visitor.isClean()
  })

  it('says the code of a run that failed', async () => {
    const visitor = await at('failing')
    await visitor.say('x')
    await visitor.isSaid('Answer failed: agent_failed')
    await visitor.answer.getByText('so far so good').waitFor()
    await visitor.answer.getByText('the model is away').waitFor()
    expect(await violationsOf(visitor.page)).toEqual([])
    visitor.isClean()
  })

  it('goes on after a reload in the middle', async () => {
    const visitor = await at('slow')
    await visitor.say('30')
    await visitor.answer.getByText('1 2 3').waitFor()
    await visitor.page.reload()
    await visitor.isSaid('Answer complete')
    const all = Array.from({ length: 30 }, (_, index) => index + 1).join(' ')
    await visitor.answer.getByText(all).waitFor()
    expect(await visitor.messages()).toEqual(['30'])
    visitor.isClean()
  })

  it('scrolls along only while one is at the end', async () => {
    const visitor = await at('slow')
    const { page } = visitor
    await page.setViewportSize({ width: 360, height: 300 })
    const isAtEnd = () =>
      page.evaluate(() => {
        const { scrollHeight, clientHeight } = document.documentElement
        return scrollHeight - clientHeight - scrollY < 2
      })
    await visitor.say('100')
    await visitor.answer.getByText('28 29 30').waitFor()
    await expect.poll(isAtEnd).toBe(true)
    await page.evaluate(() => scrollTo(0, 0))
    await visitor.answer.getByText('69 70').waitFor()
    expect(await page.evaluate(() => scrollY)).toBe(0)
    await visitor.field.press('Escape')
    await visitor.isSaid('Answer stopped')
    await visitor.say('1')
    await visitor.isSaid('Answer complete')
    await expect.poll(isAtEnd).toBe(true)
  })

  it('goes on while other screens are shown', async () => {
    const visitor = await at('slow')
    await visitor.say('20')
    await visitor.answer.getByText('1 2').waitFor()
    await visitor.page.getByRole('link', { name: 'Tools' }).click()
    await visitor.page.getByRole('heading', { name: 'Tools' }).waitFor()
    await visitor.page.goBack()
    await visitor.isSaid('Answer complete')
    await visitor.answer.getByText('19 20').waitFor()
    visitor.isClean()
  })

  it('runs nothing and loads nothing of what a hostile agent says', async () => {
    const visitor = await at('hostile')
    await visitor.say('x')
    await visitor.isSaid('Answer complete')
    await visitor.answer.getByText('the end', { exact: true }).waitFor()
    const links = await visitor.answer
      .getByRole('link')
      .evaluateAll(all => all.map(each => each.getAttribute('href')))
    expect(links).toEqual(['https://evil.example/c.png'])
    expect(await visitor.page.evaluate(() => Object(globalThis).hacked)).toBe(undefined)
    expect(await visitor.answer.locator('img, script, iframe, svg').count()).toBe(0)
    visitor.isClean()
  })
})

needing('chromium-headless-shell').describe('the chat of a service that stores no runs', () => {
  const server = served(() => startNode(NODE, { env: { SETTINGS: 'unstored' } }))

  it('has plain runs, and stops them', async () => {
    const helped = await Visitor.at(browser, server().url, 'helper')
    await talksToTool(helped, 'Oslo', 'forecast', 'It will be clear in Oslo')
    const visitor = await Visitor.at(browser, server().url, 'slow')
    await visitor.say('1000')
    await visitor.answer.getByText('1 2 3').waitFor()
    await visitor.button('Stop').click()
    await visitor.isSaid('Answer stopped')
    await visitor.button('Run again').click()
    await visitor.answer.getByText('1 2 3').waitFor()
    expect(await visitor.messages()).toEqual(['1000'])
    visitor.isClean()
  })
})

needing('chromium-headless-shell').describe.each(CONSOLES)(
  'a chat with a server that is killed on %s',
  (_, startServer) => {
    it('goes on when the server is back', async () => {
      const folder = await mkdtemp(join(onDisk(), 'servable-console-'))
      onTestFinished(() => rm(folder, { recursive: true, force: true }))
      const env = { DATABASE: join(folder, 'state.db'), PORT: String(await freePort()) }
      const start = () => startServer(env)
      let server: Runtime = await start()
      onTestFinished(() => server.stop())
      const visitor = await Visitor.at(browser, server.url, 'slow')
      await visitor.say('1000')
      await visitor.answer.getByText('1 2 3').waitFor()
      await server.kill()
      server = await start()
      // The run is gone with its process, and the client finds that out.
      await visitor.isSaid('Answer failed: interrupted')
      await visitor.button('Run again').click()
      await visitor.answer.getByText('1 2 3').waitFor()
      await visitor.field.press('Escape')
      await visitor.isSaid('Answer stopped')
      expect(await visitor.messages()).toEqual(['1000'])
    })
  },
)

const HTML = '<script>globalThis.hacked = 1</script>'
