/** The client in every runtime and in a browser, against a real server and behind a proxy that cuts every connection. */
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { build } from 'esbuild'
import { chromium } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type RunningServer, serve } from '../../src/runtimes/node.ts'
import { createService } from '../client/kit.ts'
import { exercise, type Report } from '../contracts/client/exercise.ts'
import { type CuttingProxy, startCuttingProxy } from './cutting-proxy.ts'
import { type Runtime, startBun, startDeno, startNode, startWorkerd } from './harness.ts'
import { root } from './process.ts'

const executablePath = '/usr/bin/chromium'

const bundle = async (entry: string): Promise<string> => {
  const options = { bundle: true, format: 'esm', target: 'es2024', write: false } as const
  const { outputFiles } = await build({ ...options, entryPoints: [join(root, entry)] })
  return outputFiles[0]!.text
}

/** The page of the examples, its client, and the exercise. */
const files: Readonly<Record<string, () => Promise<[type: string, text: string]>>> = {
  '/browser.html': async () => ['text/html', await readFile(join(root, 'examples/browser.html'), 'utf8')],
  '/client.js': async () => ['text/javascript', await bundle('src/client/index.ts')],
  '/exercise.js': async () => ['text/javascript', await bundle('test/contracts/client/exercise.ts')],
}

async function answerFile(request: Request): Promise<Response> {
  const file = await files[new URL(request.url).pathname]?.()
  if (file === undefined) return new Response(null, { status: 404 })
  return new Response(file[1], { headers: { 'content-type': file[0] } })
}

const service = createService({ cors: true, fallback: answerFile })
let server: RunningServer
let proxy: CuttingProxy

beforeAll(async () => {
  server = await serve(service.fetch, { port: 0 })
  proxy = await startCuttingProxy(server.url)
})
afterAll(async () => {
  await proxy?.stop()
  await server?.close()
})

const places = (runs: number) => ({ direct: `${server.url}/api`, cut: `${proxy.url}/api`, runs })

/** Exercises, and looks at what came of it and at how often agents ran. */
async function check(runs: number, run: () => Promise<Report>): Promise<void> {
  const began = service.notes.began
  const cuts = proxy.cuts()
  expect(await run()).toEqual({
    streams: runs,
    results: runs,
    left: ['cancelled', 'cancelled', 'cancelled'],
    reason: 'enough',
    code: 'agent_not_found',
    names: ['echo', 'counts', 'gated', 'fails', 'thinks'],
  })
  // Two uncut ones and three that were left; each of the others once, however often it was asked for.
  expect(service.notes.began - began).toBe(2 * runs + 5)
  expect(proxy.cuts() - cuts).toBeGreaterThan(runs)
}

describe('200 runs behind a proxy that cuts every connection', () => {
  it('give what uncut ones give', { timeout: 120_000 }, async () => {
    await check(200, () => exercise(places(200)))
  })
})

const RUNTIMES: readonly [name: string, start: () => Promise<Runtime>][] = [
  ['Node', () => startNode('test/runtimes/entries/client-node.ts')],
  ['Bun', () => startBun('test/runtimes/entries/client-bun.ts')],
  ['Deno', () => startDeno('test/runtimes/entries/client-deno.ts')],
  ['workerd', () => startWorkerd('test/runtimes/entries/client-workerd.ts')],
]

describe.each(RUNTIMES)('the client on %s', (_, start) => {
  it('does the same', { timeout: 60_000 }, async () => {
    const runtime = await start()
    try {
      await check(20, async () => {
        const query = new URLSearchParams(
          Object.entries(places(20)).map(([name, value]) => [name, `${value}`]),
        )
        const response = await fetch(`${runtime.url}/?${query}`)
        const text = await response.text()
        expect(response.status, text).toBe(200)
        return JSON.parse(text)
      })
    } finally {
      await runtime.stop()
    }
  })
})

describe('the client in Chromium', () => {
  it('does the same, and shows the page of the examples', { timeout: 60_000 }, async ({ skip }) => {
    skip(!existsSync(executablePath), 'skipped: needs chromium')
    const args = [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-background-networking',
      '--disable-component-update',
    ]
    const browser = await chromium.launch({ executablePath, args })
    try {
      const page = await browser.newPage()
      await page.goto(`${server.url}/browser.html`)
      await page.getByRole('textbox').fill('Hello from a page')
      await page.getByRole('button', { name: 'Run' }).click()
      await page.getByText('Hello from a page', { exact: true }).waitFor()
      await check(20, () =>
        page.evaluate(
          `import('/exercise.js').then(module => module.exercise(${JSON.stringify(places(20))}))`,
        ),
      )
    } finally {
      await browser.close()
    }
  })
})
