/**
 * The console: how well its chat keeps up with a long answer on a slow computer: `node bench/console.ts`.
 *
 * An agent says 10,000 pieces of Markdown (35 KB), at two speeds. The page is a real Chromium with its CPU throttled to a sixth. A frame
 * that takes longer than 50 ms is one that a reader may notice.
 */
import { execFileSync } from 'node:child_process'
import process from 'node:process'
import { Agent, createHandler, Registry, textOf } from '../src/index.ts'
import { serve } from '../src/runtimes/node.ts'
import { launch } from '../test/runtimes/browser.ts'

execFileSync(process.execPath, ['.ci/console.ts'])
const { webConsole } = await import('../src/features/console/plugin.ts')

const TOKENS = 10_000
const SLOWER = 6
const ROUNDS = 3

const SECTION = `## Part of a report

The *quick* answer is **yes**: it grows with \`snake_case_names\`, links such as [this](https://example.com/a?b=c), and words.

- one item of a list, with **some** weight
- another one
  1. and what is below it

| name | value |
|---|---|
| first | 1,024 |

\`\`\`ts
const sum = values.reduce((total, value) => total + value, 0)
\`\`\`

> A quote of a line or two, which says what was said before.

`

/** The pieces of 35 KB of Markdown. */
const text = SECTION.repeat(Math.ceil(35_000 / SECTION.length)).slice(0, 35_000)
const pieces = Array.from({ length: TOKENS }, (_, index) => text.slice(index * 3.5, (index + 1) * 3.5))

/** Says so many tokens a second. */
const writer = new Agent({
  name: 'writer',
  register: false,
  async *run(input) {
    const each = Number(textOf(input)) / 100
    for (let next = 0; next < TOKENS; next += each) {
      yield* pieces.slice(next, next + each)
      await new Promise(resolve => setTimeout(resolve, 10))
    }
  },
})

const handler = createHandler({
  serve: [writer],
  registry: new Registry(),
  production: false,
  plugins: [webConsole()],
})
const server = await serve(handler, { port: 0 })
const browser = await launch()

/** Milliseconds between the frames of an answer. */
async function framesAt(speed: number): Promise<number[]> {
  const page = await browser.newPage()
  await page.goto(`${server.url}/api/console#/chat/agent/writer`)
  await page.getByRole('heading', { name: 'Chat with writer' }).waitFor()
  const session = await page.context().newCDPSession(page)
  await session.send('Emulation.setCPUThrottlingRate', { rate: SLOWER })
  await page.evaluate(() => {
    const frames: number[] = []
    Object.assign(globalThis, { frames })
    let last = performance.now()
    const tick = (now: number) => {
      frames.push(now - last)
      last = now
      requestAnimationFrame(tick)
    }
    requestAnimationFrame(tick)
  })
  const field = page.getByRole('textbox', { name: 'Message', exact: true })
  await field.fill(String(speed))
  await field.press('Enter')
  // A locator would look through all elements in each frame.
  const isComplete = () =>
    [...document.querySelectorAll('[role=status]')].some(each =>
      each.textContent.startsWith('Answer complete'),
    )
  await page.waitForFunction(isComplete, undefined, { polling: 1000, timeout: 120_000 })
  const frames = await page.evaluate(() => Object(globalThis).frames as number[])
  await page.close()
  return frames
}

console.log('| tokens a second | frames over 50 ms | longest frame | frames in all |\n|---|---|---|---|')
for (const speed of [1200, 6000]) {
  for (let round = 0; round < ROUNDS; round++) {
    const frames = await framesAt(speed)
    const long = frames.filter(each => each > 50).length
    console.log(`| ${speed} | ${long} | ${Math.round(Math.max(...frames))} ms | ${frames.length} |`)
  }
}
await browser.close()
await server.close()
