/** The client in every runtime and in a browser, against a real server and behind a proxy that cuts every connection. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { build } from 'esbuild'
import { describe, it } from 'vitest'
import { exercise } from '../contracts/client/exercise.ts'
import { clientContract, clientServer } from '../contracts/client.ts'
import { skipWithout } from '../needing.ts'
import { launch } from './browser.ts'
import { type Runtime, startBun, startDeno, startNode, startWorkerd } from './harness.ts'
import { root } from './process.ts'

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

const server = clientServer(answerFile)

describe('200 runs behind a proxy that cuts every connection', () => {
  it('give what uncut ones give', { timeout: 300_000 }, async () => {
    await server.check(200, exercise)
  })
})

const RUNTIMES: readonly [name: string, start: () => Promise<Runtime>][] = [
  ['Node', () => startNode('test/runtimes/entries/client-server.ts')],
  ['Bun', () => startBun('test/runtimes/entries/client-server.ts')],
  ['Deno', () => startDeno('test/runtimes/entries/client-server.ts')],
  ['workerd', () => startWorkerd('test/runtimes/entries/client-workerd.ts')],
]

describe.each(RUNTIMES)('the client on %s', (_, start) => clientContract(server, start))

describe('the client in Chromium', () => {
  it('does the same, and shows the page of the examples', { timeout: 180_000 }, async context => {
    skipWithout('chromium-headless-shell', context)
    const browser = await launch()
    try {
      const page = await browser.newPage()
      await page.goto(`${server.url()}/browser.html`)
      await page.getByRole('textbox').fill('Hello from a page')
      await page.getByRole('button', { name: 'Run' }).click()
      await page.getByText('Hello from a page', { exact: true }).waitFor()
      await server.check(20, places =>
        page.evaluate(`import('/exercise.js').then(module => module.exercise(${JSON.stringify(places)}))`),
      )
    } finally {
      await browser.close()
    }
  })
})
