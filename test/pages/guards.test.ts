/** The snippets and commands of the page about guards do what it says. */
import { execFile } from 'node:child_process'
import { rm } from 'node:fs/promises'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Handler } from '../../src/index.ts'
import { serve } from '../../src/runtimes/node.ts'
import { jsonRequest } from '../contracts/http/client.ts'
import { commandsIn, fencesOf, load, snippetsIn, writeSnippets } from './pages.ts'

const run = promisify(execFile)
const shown = fencesOf(['guards.md'])
const [command = ''] = commandsIn(shown)

let folder: string
beforeAll(async () => {
  folder = await writeSnippets(snippetsIn(shown))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

async function answerOf(snippet: string, agent: string, input: string) {
  const { handler } = await load<{ handler: Handler }>(folder, snippet)
  const request = new Request(`http://localhost/api/agents/${agent}/run`, jsonRequest({ input }))
  const answer = await handler(request)
  return { status: answer.status, ...((await answer.json()) as object) }
}

it('the first command is answered without the address', async () => {
  const { handler } = await load<{ handler: Handler }>(folder, 'guards-first.ts')
  const server = await serve(handler, { port: 0, hostname: '127.0.0.1' })
  try {
    const { stdout } = await run('sh', ['-c', command.replaceAll('http://127.0.0.1:8787', server.url)])
    expect(JSON.parse(stdout)).toMatchObject({ text: 'You said: Hello. Write to [address].' })
  } finally {
    await server.close()
  }
})

it('what is refused is told with a text', async () => {
  expect(await answerOf('guards-first.ts', 'support', 'my password')).toMatchObject({
    status: 422,
    code: 'input_refused',
    error: 'Never send a password',
  })
  expect(await answerOf('guards-whole.ts', 'adviser', 'x')).toMatchObject({
    status: 422,
    code: 'output_refused',
    error: 'I give no advice on money',
  })
})

it('what is replaced never reaches the agent', async () => {
  expect(await answerOf('guards-replace.ts', 'echo', 'in Oslo')).toMatchObject({ text: 'in a town' })
})
