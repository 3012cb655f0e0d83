/** The snippets of the page about tests, in the test runners that it names. */
import { execFile } from 'node:child_process'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import process from 'node:process'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createClient } from '../../src/client/index.ts'
import { Agent, createHandler, memoryState, textOf } from '../../src/index.ts'
import { fencesOf, snippetsIn, writeSnippets } from '../pages/pages.ts'
import { root } from './process.ts'

const run = promisify(execFile)
const bin = (name: string) => join(root, 'node_modules/.bin', name)

let folder: string
beforeAll(async () => {
  const snippets = snippetsIn(fencesOf(['testing.md']))
  folder = await writeSnippets(
    new Map([...snippets].map(([name, text]) => [name.replace('.ts', '.test.ts'), text])),
  )
  // The same test in the words of Bun.
  const ofVitest = await import('node:fs/promises').then(({ readFile }) =>
    readFile(join(folder, 'testing-vitest.test.ts'), 'utf8'),
  )
  await writeFile(
    join(folder, 'testing-bun.test.ts'),
    ofVitest.replace("from 'vitest'", "from 'bun:test'").replace(/declare module[\s\S]*?\n\}\n/, ''),
  )
  await writeFile(join(folder, 'package.json'), JSON.stringify({ type: 'module' }))
  await writeFile(join(folder, 'cases.jsonl'), await savedCases())
  await writeFile(
    join(folder, 'vitest.config.ts'),
    'export default { test: { include: ["*vitest.test.ts"] } }',
  )
})
afterAll(() => rm(folder, { recursive: true, force: true }))

/** Two cases, as a service exports them. */
async function savedCases(): Promise<string> {
  const agent = new Agent({
    name: 'greeter',
    register: false,
    corrections: true,
    run: input => textOf(input),
  })
  const runs = { listAnonymous: true }
  const handler = createHandler({ serve: [agent], registry: false, state: memoryState(), runs })
  const { corrections } = createClient({ baseUrl: 'http://127.0.0.1/api', fetch: handler }).agent('greeter')
  for (const input of ['Oslo', 'Bergen'])
    await corrections.add({ input, originalValue: input, correctedValue: `${input}!`, reason: 'Greet' })
  const path = 'http://127.0.0.1/api/agents/greeter/corrections/export'
  return (await handler(new Request(path))).text()
}

/** What a program says, on both streams, and how it ended. */
async function told(command: string, args: readonly string[]): Promise<string> {
  const env = { ...process.env, NODE_ENV: '', NODE_OPTIONS: '', NO_COLOR: '1', VITEST: undefined }
  const { stdout, stderr, code = 0 } = await run(command, args, { cwd: folder, env }).catch(error => error)
  return `${stdout}\n${stderr}\nended with ${code}`
}

const NODE_TESTS = ['testing-first.test.ts', 'testing-time.test.ts']

describe('the page about tests', () => {
  it('has tests for `node --test`', async () => {
    const said = await told(process.execPath, ['--test', ...NODE_TESTS])
    expect(said).toMatch(/pass 4\n/)
    expect(said).toContain('ended with 0')
  })

  it('has tests for `bun test`', async () => {
    const said = await told(bin('bun'), [
      'test',
      ...[...NODE_TESTS, 'testing-bun.test.ts'].map(name => `./${name}`),
    ])
    expect(said).toMatch(/5 pass\n\s+0 fail/)
    expect(said).toContain('ended with 0')
  })

  it('has tests for vitest', async () => {
    const said = await told(bin('vitest'), ['run', '--root', folder])
    expect(said).toMatch(/Tests +3 passed/)
    expect(said).toContain('ended with 0')
  })

  it('has a model for a service without a key', async () => {
    const { handler } = await import(join(folder, 'testing-offline.test.ts'))
    const ask = async (input: string) => {
      const init = {
        method: 'POST',
        body: JSON.stringify({ input }),
        headers: { 'content-type': 'application/json' },
      }
      return (await (await handler(new Request('http://127.0.0.1/api/agents/helper/run', init))).json()).text
    }
    expect(await ask('Hello')).toBe('You said: Hello')
    expect(await ask('What time is it?')).toBe('It is "12:00".')
  })

  it('shows the error of an assertion', async () => {
    const page = fencesOf(['testing.md']).find(({ language }) => language === 'text')
    const { assertEvents } = await import('../../src/testing/index.ts')
    const call = { id: 'c', name: 'forecast' }
    const events = [
      { type: 'thinking', text: 'Where is it?' },
      { type: 'tool_call_start', toolCall: call },
      { type: 'tool_call_ready', toolCallId: 'c', args: { city: 'Oslo' } },
      { type: 'tool_call_end', toolCallId: 'c', result: 'clear' },
      { type: 'text', text: 'It will be clear.' },
      { type: 'finish', finishReason: 'stop' },
    ] as const
    const wrong = () => assertEvents(events, 'tool_call forecast {"city":"Oslo"}', 'text "It will rain."')
    expect(wrong).toThrow(page?.text.trim())
  })
})
