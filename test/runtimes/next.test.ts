/**
 * A real Next.js, built and started: the contracts in its Node runtime and in its Edge runtime, and the example.
 *
 * Left out, for Next decides it before any route handler is asked (docs/deploy-next.md): paths with broken percent-encoding,
 * WebSockets, and in the Edge runtime bodies that never end. Stored runs, and with them A2A's tasks and the socket, have
 * no memory to share in the Edge runtime.
 */
import { existsSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { chromium, type Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { a2aContract } from '../contracts/a2a.ts'
import { adminContract } from '../contracts/admin.ts'
import { agUiContract } from '../contracts/ag-ui.ts'
import { clientContract, clientServer } from '../contracts/client.ts'
import {
  clientOf,
  connected,
  plain,
  play,
  refusal,
  stock,
  textOf,
  WAIT,
} from '../contracts/gateway/client.ts'
import { runCases } from '../contracts/gateway/runs.ts'
import { NARROW } from '../contracts/gateway/service.ts'
import { ask, expectProblem, jsonRequest, post, run } from '../contracts/http/client.ts'
import { httpContract } from '../contracts/http.ts'
import { countingCases } from '../contracts/metrics/counting.ts'
import { aiContract } from '../contracts/model-agent.ts'
import { runsContract } from '../contracts/runs.ts'
import { served } from '../contracts/served.ts'
import { buildNextApps, type NextApps } from './next-apps.ts'

let apps: NextApps
beforeAll(async () => {
  apps = await buildNextApps()
}, 180_000)
afterAll(() => apps?.remove())

const deploy = (ENTRY: string) => (SETTINGS: string) => apps.start('node', { ENTRY, SETTINGS })

describe('a Node route', () => {
  httpContract(() => deploy('http')(''), { decodesPaths: true })
  runsContract(deploy('runs'), { decodesPaths: true })
  a2aContract(deploy('a2a'))
  describe('AG-UI', () => agUiContract(deploy('ag-ui')))
  describe('metrics', () =>
    countingCases(
      served(() => deploy('metrics')('')),
      1000,
      'polling',
    ))
})

describe('a Node route over a database', () => {
  const files = async () => (await readdir(apps.folder)).filter(name => name.startsWith('kept.db'))

  it('opens it when it is asked, not when it is built, and leaves nothing beside it when it ends', async () => {
    expect(await files()).toEqual([])
    const app = await deploy('kept')('')
    try {
      const request = jsonRequest({ input: 'x' }, { prefer: 'respond-async' })
      const answer = await fetch(`${app.url}/api/agents/echo/run`, request)
      expect(answer.status).toBe(202)
      // Else the connection is in use, and the server does not end by itself.
      await answer.text()
      expect((await files()).length).toBeGreaterThan(1)
    } finally {
      await app.stop()
    }
    expect(await files()).toEqual(['kept.db'])
  })
})

adminContract('a Node route', () => deploy('admin')(''))

describe('a model-backed agent on a Node route', () => aiContract(deploy('ai')))

describe('the client on a Node route', () => clientContract(clientServer(), () => deploy('client')('')))

describe('the client on an Edge route', () =>
  clientContract(clientServer(), () => apps.start('edge'), '/exercise'))

describe('the gateway in a Node route', () => {
  const server = served(() => deploy('gateway')('usual'))

  runCases(server, async auth => {
    const socket = stock(server, auth && { auth })
    await connected(socket)
    expect(socket.io.engine.transport.name).toBe('polling')
    return clientOf(socket)
  })

  it('has told the log that nobody says the address of its clients', async () => {
    await connected(stock(server))
    await vi.waitFor(() => expect(server().log()).toContain('limits.no_address'), WAIT)
  })

  it('ends the connection of a client that wants a WebSocket and nothing else', async () => {
    const socket = stock(server, { transports: ['websocket'], reconnection: false })
    expect((await refusal(socket)).message).toBe('websocket error')
    await expect(plain(server)).rejects.toThrow('socket hang up')
  })

  it('has a client that tries a WebSocket first go on with polling', async () => {
    const socket = stock(server, { transports: ['websocket', 'polling'], tryAllTransports: true })
    await connected(socket)
    expect(socket.io.engine.transport.name).toBe('polling')
    const events = await play(clientOf(socket), 'agent.run', { name: 'echo', input: 'after all' })
    expect(textOf(events)).toBe('after all')
  })
})

describe('the gateway with `trustProxy` in a Node route', () => {
  const server = served(() => deploy('gateway')('narrow'))

  it('counts clients behind one proxy by what that says, and not by what they say', async () => {
    let forged = 0
    const openFor = async (address: string) => {
      const headers = { 'x-forwarded-for': `9.9.9.${++forged}, ${address}` }
      return (await fetch(`${server().url}/socket.io/?EIO=4&transport=polling`, { headers })).status
    }
    const own = Array.from({ length: NARROW.maxSocketsPerIp }, () => openFor('1.1.1.1'))
    expect(new Set(await Promise.all(own))).toEqual(new Set([200]))
    expect(await openFor('1.1.1.1')).toBe(503)
    expect(await openFor('2.2.2.2')).toBe(200)
    expect(server().log()).not.toContain('limits.no_address')
  })
})

describe('an Edge route', () => {
  const server = served(() => apps.start('edge'))
  httpContract(() => apps.start('edge'), { decodesPaths: true, readsBodies: true, logsLeaving: true })

  it('refuses stored runs, which have no memory to share', async () => {
    const answer = await post(server, '/api/agents/echo/run', { input: 'x', background: true })
    await expectProblem(server, answer, 400, 'runs_not_stored')
  })
})

describe('the example', () => {
  const server = served(() => apps.start('example'))

  it('serves agents, teams, workflows and A2A below /api', async () => {
    const echoed = await run(server, '/api/agents/echo/run', { input: 'Hello' })
    expect(echoed.text).toBe('Hello')
    expect(JSON.parse((await ask(server, '/api/registry')).text)).toMatchObject({ teams: ['desk'] })
    const message = { kind: 'message', messageId: '1', role: 'user', parts: [{ kind: 'text', text: 'Hi' }] }
    const request = { jsonrpc: '2.0', id: 1, method: 'message/send', params: { message } }
    const answer = await fetch(`${server().url}/api/a2a`, jsonRequest(request))
    expect(await answer.json()).toMatchObject({ result: { status: { state: 'completed' } } })
    const { url } = server()
    const card = await (await fetch(`${url}/api/a2a/agents/echo/.well-known/agent-card.json`)).json()
    expect(card.url).toBe(`${url}/api/a2a/agents/echo`)
  })

  it('serves the stock socket client', async () => {
    const socket = stock(server, { path: '/api/socket.io' })
    const events = await play(clientOf(socket), 'agent.run', { name: 'echo', input: 'by polling' })
    expect(textOf(events)).toBe('by polling')
  })

  describe('its page', { timeout: 60_000 }, () => {
    const browser = served(startBrowser)

    it('shows an answer that grows as it comes', async ({ skip }) => {
      skip(browser().isMissing, 'skipped: needs chromium')
      const { page, complaints } = await browser().open(server().url)
      await say(page, WORDS)
      await answerOf(page).getByText(WORDS, { exact: true }).waitFor()
      const shown = await shownIn(page)
      expect(shown.length).toBeGreaterThan(3)
      expect(areGrowing(shown)).toBe(true)
      expect(complaints).toEqual([])
    })

    it('draws the chat again and follows on, where it is reloaded in the middle of an answer', async ({
      skip,
    }) => {
      skip(browser().isMissing, 'skipped: needs chromium')
      const { page, complaints } = await browser().open(server().url)
      await say(page, WORDS)
      await answerOf(page).getByText(WORDS, { exact: true }).waitFor()
      await say(page, MANY_WORDS)
      await answerOf(page).getByText('word2').waitFor()
      await page.reload()
      await page.locator('[data-from=you]').nth(1).waitFor()
      const shown = (await answerOf(page).textContent()) ?? ''
      expect(MANY_WORDS.startsWith(shown) && shown.length < MANY_WORDS.length).toBe(true)
      await answerOf(page).getByText(MANY_WORDS, { exact: true }).waitFor()
      expect(await page.locator('span').allTextContents()).toEqual([WORDS, WORDS, MANY_WORDS, MANY_WORDS])
      expect(areGrowing(await shownIn(page))).toBe(true)
      await page.getByRole('button', { name: 'Send' }).and(page.locator(':enabled')).waitFor()
      expect(complaints).toEqual([])
    })

    it('can stop an answer that it found after it was reloaded', async ({ skip }) => {
      skip(browser().isMissing, 'skipped: needs chromium')
      const { page } = await browser().open(server().url)
      await say(page, MANY_WORDS)
      await answerOf(page).getByText('word2').waitFor()
      await page.reload()
      await answerOf(page).getByText('word2').waitFor()
      await page.getByRole('button', { name: 'Stop' }).click()
      await page.getByRole('button', { name: 'Send' }).and(page.locator(':enabled')).waitFor()
      const stopped = (await answerOf(page).textContent()) ?? ''
      expect(stopped.length).toBeLessThan(MANY_WORDS.length)
      await page.reload()
      await answerOf(page).getByText(stopped, { exact: true }).waitFor()
    })

    it('goes on with an answer in the middle of which its server was killed', async ({ skip }) => {
      skip(browser().isMissing, 'skipped: needs chromium')
      const env = { DATABASE: join(apps.folder, 'killed.db') }
      const killed = await apps.start('example', env)
      const { page } = await browser().open(killed.url)
      await say(page, MANY_WORDS)
      await answerOf(page).getByText('word9').waitFor()
      await killed.kill()
      const next = await apps.start('example', env, new URL(killed.url).port)
      try {
        await answerOf(page).getByText(MANY_WORDS, { exact: true }).waitFor()
        const shown = await shownIn(page)
        expect(shown.every(text => MANY_WORDS.startsWith(text))).toBe(true)
        // What came before the kill was dropped.
        expect(areGrowing(shown)).toBe(false)
        await page.reload()
        await answerOf(page).getByText(MANY_WORDS, { exact: true }).waitFor()
      } finally {
        await next.stop()
      }
    })
  })
})

const WORDS = 'one two three four five six seven eight nine ten'

const MANY_WORDS = Array.from({ length: 150 }, (_, index) => `word${index}`).join(' ')

const executablePath = '/usr/bin/chromium'

/** A browser, in which each page is a visitor of its own. */
async function startBrowser() {
  if (!existsSync(executablePath)) {
    return { isMissing: true, open: () => Promise.reject(new Error('no chromium')), stop: async () => {} }
  }
  const flags = ['--disable-gpu', '--disable-background-networking', '--disable-component-update']
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', ...flags] })
  return {
    isMissing: false,
    stop: () => browser.close(),
    async open(url: string): Promise<{ page: Page; complaints: string[] }> {
      const page = await (await browser.newContext()).newPage()
      const complaints: string[] = []
      page.on('console', message => message.type() === 'error' && complaints.push(message.text()))
      page.on('pageerror', error => complaints.push(String(error)))
      await page.addInitScript(WATCH)
      await page.goto(url)
      return { page, complaints }
    },
  }
}

const answerOf = (page: Page) => page.locator('[data-from=agent] span').last()

async function say(page: Page, words: string): Promise<void> {
  await page.getByRole('textbox').fill(words)
  await page.getByRole('button', { name: 'Send' }).click()
}

/** What the page has shown as its last answer since it was loaded. */
const shownIn = (page: Page): Promise<string[]> => page.evaluate('shown')

/** Whether each text begins with the one before. */
const areGrowing = (shown: readonly string[]) =>
  shown.every((text, index) => text.startsWith(shown[index - 1] ?? ''))

/** Keeps each text that the page shows as its last answer. */
const WATCH = `
  globalThis.shown = []
  new MutationObserver(() => {
    const text = [...document.querySelectorAll('[data-from=agent] span')].at(-1)?.textContent
    if (text && text !== shown.at(-1)) shown.push(text)
  }).observe(document, { childList: true, subtree: true, characterData: true })
`
