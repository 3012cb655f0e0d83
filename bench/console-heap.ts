/**
 * The heap of the console's pages over ten minutes: `node bench/console-heap.ts [MINUTES]`.
 *
 * One run says 20 pieces of Markdown a second, all the time, and a short run starts each second. Four pages watch: the home, the list of
 * runs, the run and its events. The heap of each is read once a minute, after its garbage was collected.
 */
import { execFileSync } from 'node:child_process'
import process from 'node:process'
import { setTimeout as pause } from 'node:timers/promises'
import type { CDPSession } from 'playwright-core'
import { createClient } from '../src/client/index.ts'
import { Agent, createHandler, MetricsExporter, Registry } from '../src/index.ts'
import { serve } from '../src/runtimes/node.ts'
import { launch } from '../test/runtimes/browser.ts'

const MINUTES = Number(process.argv[2] ?? 10)
const PIECES_A_SECOND = 20

execFileSync(process.execPath, ['.ci/console.ts'])
const { webConsole } = await import('../src/features/console/plugin.ts')

const talker = new Agent({
  name: 'talker',
  register: false,
  async *run(_, { signal }) {
    for (let n = 1; !signal.aborted; n++) {
      yield n % 40 === 0 ? '\n\n' : `word **${n}** `
      await pause(1000 / PIECES_A_SECOND)
    }
  },
})

const short = new Agent({
  name: 'short',
  register: false,
  async *run(input) {
    yield `Said back: ${JSON.stringify(input)}`
  },
})

const handler = createHandler({
  serve: [talker, short],
  registry: new Registry(),
  logger: false,
  production: false,
  runs: { timeoutMs: 3_600_000 },
  metricsExporter: new MetricsExporter({ history: true }),
  plugins: [webConsole()],
})
const server = await serve(handler, { port: 0 })
const client = createClient({ baseUrl: `${server.url}/api` })
const { id } = await client.runs.start({ kind: 'agent', name: 'talker' }, 'go')

const PLACES = { home: '#/', runs: '#/runs', run: `#/runs/${id}`, events: `#/runs/${id}?view=events` }
const browser = await launch()
let isOver = false

async function startShortRuns(): Promise<void> {
  for (let n = 1; !isOver; n++) {
    await client.runs.start({ kind: 'agent', name: 'short' }, `Request ${n}`)
    await pause(1000)
  }
}

const starting = startShortRuns()
try {
  const sessions: [string, CDPSession][] = []
  for (const [name, place] of Object.entries(PLACES)) {
    // Each has a browser's storage of its own, so that each leads.
    const page = await (await browser.newContext()).newPage()
    await page.goto(`${server.url}/api/console${place}`)
    await page.locator('main h1').first().waitFor()
    sessions.push([name, await page.context().newCDPSession(page)])
  }
  console.log(
    `| minute | ${sessions.map(([name]) => name).join(' | ')} |\n|---|${sessions.map(() => '---|').join('')}`,
  )
  for (let minute = 0; minute <= MINUTES; minute++) {
    const heaps: string[] = []
    for (const [, session] of sessions) {
      await session.send('HeapProfiler.collectGarbage')
      const { usedSize } = await session.send('Runtime.getHeapUsage')
      heaps.push(`${(usedSize / 2 ** 20).toFixed(1)} MiB`)
    }
    console.log(`| ${minute} | ${heaps.join(' | ')} |`)
    if (minute < MINUTES) await pause(60_000)
  }
} finally {
  isOver = true
  await starting
  await client.runs.cancel(id)
  await browser.close()
  await server.close()
}
