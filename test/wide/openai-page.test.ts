/** What the page about OpenAI's interface shows of its clients works with them. */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { Agent, createHandler, textOf, tool } from '../../src/index.ts'
import { openai } from '../../src/protocols/openai/plugin.ts'
import { type RunningServer, serve } from '../../src/runtimes/node.ts'
import { type Installed, install } from '../frameworks/served-framework.ts'
import { fences } from '../pages/pages.ts'

const NAME = /^\/\/ (framework-openai-[\w-]+\.ts)\n/

const helper = new Agent({
  name: 'helper',
  register: false,
  async *run(input, { signal }) {
    const text = textOf(input)
    yield 'You said: '
    if (text === 'wait') await new Promise(resolve => signal?.addEventListener('abort', resolve))
    else yield text
  },
})

const refund = tool<{ readonly order: string }, string>({
  name: 'refund',
  needsApproval: true,
  execute: ({ order }) => `Refunded ${order}`,
})

const cashier = new Agent({
  name: 'cashier',
  register: false,
  async *run(input, { callTool }) {
    yield yield* callTool(refund, { order: textOf(input) })
  },
})

let server: RunningServer
let installed: Installed
beforeAll(async () => {
  const serves = { serve: [helper, cashier], registry: false, logger: false, plugins: [openai()] } as const
  server = await serve(createHandler(serves), { port: 0, hostname: '127.0.0.1' })
  installed = await install('openai-clients', [])
  for (const { page, text } of fences) {
    const [, name] = (page === 'openai.md' && NAME.exec(text)) || []
    const code = text.replaceAll('http://127.0.0.1:8787', server.url)
    if (name !== undefined) await writeFile(join(installed.folder, 'examples', name), code)
  }
})
afterAll(async () => {
  await server?.close()
  await installed?.remove()
})

const load = <T>(name: string): Promise<T> =>
  import(pathToFileURL(join(installed.folder, `examples/framework-openai-${name}.ts`)).href)

type Ask = { ask(text: string): Promise<unknown> }

it('has types that fit', () => installed.check())

it('the SDK of OpenAI streams and responds', async () => {
  type Page = {
    say(content: string, show: (text: string) => void): Promise<void>
    respond(input: string): Promise<string>
  }
  const { say, respond } = await load<Page>('sdk')
  const told: string[] = []
  await say('hi', text => told.push(text))
  expect(told.join('')).toBe('You said: hi')
  expect(await respond('hi')).toBe('You said: hi')
})

it('the AI SDK asks in four ways', async () => {
  const { ask } = await load<Ask>('ai-sdk')
  expect(await ask('hi')).toEqual(Array(4).fill('You said: hi'))
})

it.each(['agents-sdk', 'langchain'])('it answers %s', async name => {
  const { ask } = await load<Ask>(name)
  expect(await ask('hi')).toBe('You said: hi')
})

it('a client approves', async () => {
  type Page = {
    order(input: string, decide: (name: string, args: string) => boolean): Promise<string>
  }
  const { order } = await load<Page>('approval')
  const asked: unknown[] = []
  const decide = (...call: unknown[]) => asked.push(call) > 0
  expect(await order('42', decide)).toBe('Refunded 42')
  expect(asked).toEqual([['refund', '{"order":"42"}']])
})

it('a response in the background is read from the middle, and cancelled', async () => {
  type Page = {
    begin(input: string): Promise<string>
    readOn(id: string, after: number, show: (text: string) => void): Promise<number>
    stop(id: string): Promise<string>
  }
  const { begin, readOn, stop } = await load<Page>('background')
  const told: string[] = []
  const id = await begin('hi')
  const last = await readOn(id, 0, text => told.push(text))
  const again: string[] = []
  // After the last text come the ends of the part, of the item and of the response.
  expect(await readOn(id, last - 5, text => again.push(text))).toBe(last)
  expect([told, again]).toEqual([['You said: ', 'hi'], ['hi']])
  expect(await stop(await begin('wait'))).toBe('cancelled')
})
