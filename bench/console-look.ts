/**
 * How long the console takes to be painted first, to show, sort and filter 5,000 runs, and to open a run of 10,000 events, in Chromium: until
 * it is drawn. Lists are without the network, since the page has the answer at hand; the others are over the loopback.
 *   node bench/console-look.ts
 */
import { execFileSync } from 'node:child_process'
import type { Page } from 'playwright-core'
import { createClient } from '../src/client/index.ts'
import { launch } from '../test/runtimes/browser.ts'
import { startNode } from '../test/runtimes/harness.ts'
import { median } from './measure.ts'

const ROUNDS = 11

execFileSync('node', ['.ci/console.ts'], { stdio: 'inherit' })
const server = await startNode('test/contracts/console/service.ts')
const client = createClient({ baseUrl: `${server.url}/api` })
const { id } = await client.runs.start({ kind: 'agent', name: 'chatty' }, '10000')
await client.runs.result(id)

const COUNT = 5000
const runs = Array.from({ length: COUNT }, (_, index) => ({
  id: `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`,
  kind: 'agent',
  name: `agent-${index % 20}`,
  title: `What is asked of run ${index}`,
  status: index % 7 === 0 ? 'failed' : 'completed',
  createdAt: '2026-01-01T12:00:00.000Z',
  updatedAt: '2026-01-01T12:00:03.200Z',
  sessionId: `session-${index % 30}`,
  durationMs: 3200 + index,
  firstTextMs: 264,
  usage: { promptTokens: 42, completionTokens: 1000, totalTokens: 1042 },
  cost: 0.015,
  toolCalls: 3,
}))

/** In the page: goes to a place, and gives the milliseconds until a condition holds and the page is drawn. */
const TIMED = `async (place, isShown) => {
  const startedAt = performance.now()
  location.hash = place
  while (!isShown()) await new Promise(resolve => requestAnimationFrame(resolve))
  await new Promise(resolve => requestAnimationFrame(() => setTimeout(resolve)))
  return performance.now() - startedAt
}`

const told: string[] = []

function tell(name: string, times: readonly number[]): void {
  const [least, most] = [Math.min(...times), Math.max(...times)]
  told.push(`| ${name} | ${median([...times]).toFixed(0)} ms | ${least.toFixed(0)}-${most.toFixed(0)} |`)
}

/** Goes from one place to another, several times. */
async function measure(page: Page, name: string, [from, place]: readonly [string, string], isShown: string) {
  const times: number[] = []
  for (let round = 0; round <= ROUNDS; round++) {
    await page.goto(`${server.url}/api/console${from}`)
    await page.locator('main h1').first().waitFor()
    if (from !== '#/tools') await page.waitForFunction(`document.querySelector('table.runs') !== null`)
    const time = Number(await page.evaluate(`(${TIMED})(${JSON.stringify(place)}, ${isShown})`))
    // The first round warms up.
    if (round > 0) times.push(time)
  }
  tell(name, times)
}

/** When the first screen has its first content. */
async function firstPaint(page: Page): Promise<void> {
  const times: number[] = []
  for (let round = 0; round <= ROUNDS; round++) {
    await page.goto('about:blank')
    await page.goto(`${server.url}/api/console`)
    await page.locator('main h1').first().waitFor()
    const time = await page.evaluate(
      () => performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? 0,
    )
    if (round > 0) times.push(time)
  }
  tell('first paint', times)
}

const ALL_SHOWN = `() => document.querySelector('table.runs')?.getAttribute('aria-rowcount') === '${COUNT + 1}'`

const browser = await launch()
try {
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 } })
  await page.addInitScript(
    body => {
      const fetched = globalThis.fetch
      globalThis.fetch = (request, init) => {
        const isList = request instanceof Request && new URL(request.url).pathname.endsWith('/api/runs')
        if (!isList) return fetched(request, init)
        // The live list tells of nothing new.
        const isLive = request.headers.get('accept') === 'text/event-stream'
        const headers = { 'content-type': 'text/event-stream' }
        return Promise.resolve(isLive ? new Response(new ReadableStream(), { headers }) : new Response(body))
      }
    },
    JSON.stringify({ runs, nextCursor: null }),
  )
  await firstPaint(page)
  await measure(page, '5,000 runs shown', ['#/tools', '#/runs'], ALL_SHOWN)
  await measure(
    page,
    '5,000 runs sorted by time taken',
    ['#/runs', '#/runs?sort=took'],
    `() => document.querySelector('table.runs a')?.textContent.endsWith(' ${COUNT - 1}')`,
  )
  await measure(
    page,
    'the slow ones of 5,000 runs',
    ['#/runs', '#/runs?quick=slow'],
    `() => document.querySelector('.chip[aria-current]')?.textContent.startsWith('Slow')`,
  )
  await measure(
    page,
    'a run of 10,000 events opened, its events shown',
    ['#/tools', `#/runs/${id}?view=events`],
    `() => document.querySelector('main').textContent.includes('10,001 events')`,
  )
  await measure(
    page,
    'a run of 10,000 events opened, its timeline shown',
    ['#/tools', `#/runs/${id}`],
    `() => document.querySelector('.flow li') !== null`,
  )
  console.log(`| what | median | spread |\n|---|---|---|\n${told.join('\n')}`)
} finally {
  await browser.close()
  await server.stop()
}
