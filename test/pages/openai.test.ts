/**
 * What the page about OpenAI's interface shows does what it says. What it shows of its clients is in
 * `frameworks/page-of-openai.test.ts`.
 */
import { execFile } from 'node:child_process'
import { rm } from 'node:fs/promises'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, it } from 'vitest'
import * as agents from '../../examples/agents.ts'
import { createHandler, type Handler } from '../../src/index.ts'
import { openai } from '../../src/protocols/openai/plugin.ts'
import { serve } from '../../src/runtimes/node.ts'
import { jsonRequest } from '../contracts/http/client.ts'
import { commandsIn, fencesOf, load, snippetsIn, writeSnippets } from './pages.ts'

const DEV = 'http://127.0.0.1:8787'
const shown = fencesOf(['openai.md'])
const snippets = snippetsIn(shown)

let folder: string
beforeAll(async () => {
  folder = await writeSnippets(snippets)
})
afterAll(() => rm(folder, { recursive: true, force: true }))

const handlerOf = async (name: string, from = folder) =>
  (await load<{ handler: Handler }>(from, name)).handler

async function serving(handler: Handler, use: (url: string) => Promise<void>): Promise<void> {
  const server = await serve(handler, { port: 0, hostname: '127.0.0.1' })
  try {
    await use(server.url)
  } finally {
    await server.close()
  }
}

async function complete(handler: Handler, model: string, headers: Record<string, string>): Promise<unknown> {
  const body = { model, messages: [{ role: 'user', content: 'Hello' }] }
  const { choices, error } = await (
    await handler(new Request(`${DEV}/v1/chat/completions`, jsonRequest(body, headers)))
  ).json()
  return error ?? choices[0].message.content
}

it.each(commandsIn(shown))('the command works: %s', async command => {
  const handler = createHandler({
    serve: Object.values(agents),
    registry: false,
    logger: false,
    plugins: [openai()],
  })
  await serving(handler, async url => {
    const { stdout } = await promisify(execFile)('sh', ['-c', command.replaceAll(DEV, url)])
    expect(JSON.parse(stdout)).toMatchObject({ choices: [{ message: { content: 'Hello' } }] })
  })
})

it('a server has models by their names and aliases, for who has a token', async () => {
  const handler = await handlerOf('openai-server.ts')
  const headers = { authorization: 'Bearer token-of-ada' }
  for (const model of ['helper', 'gpt-5'])
    expect(await complete(handler, model, headers)).toBe('You said: Hello')
  expect(await complete(handler, 'nobody', headers)).toMatchObject({ code: 'model_not_found' })
  expect(await complete(handler, 'helper', {})).toMatchObject({ code: 'unauthorized' })
})

it("an agent asks another service's agent", async () => {
  await serving(await handlerOf('openai-server.ts'), async url => {
    const own = await writeSnippets(snippets, text => text.replaceAll(DEV, url))
    const handler = await handlerOf('openai-remote.ts', own)
    const answer = await handler(new Request(`${DEV}/api/agents/front/run`, jsonRequest({ input: 'Hi' })))
    expect(await answer.json()).toMatchObject({ text: 'You said: Hi' })
    await rm(own, { recursive: true, force: true })
  })
})

it('pages of another origin may send any header, and read whether to retry', async () => {
  const handler = await handlerOf('openai-cors.ts')
  const headers = { origin: 'https://app.example.com', 'access-control-request-method': 'POST' }
  const answer = await handler(new Request(`${DEV}/v1/responses`, { method: 'OPTIONS', headers }))
  const allowed = answer.headers.get('access-control-allow-headers')?.split(', ')
  expect(allowed).toEqual(expect.arrayContaining(['authorization', '*']))
  const models = await handler(new Request(`${DEV}/v1/models`, { headers }))
  expect(models.headers.get('access-control-expose-headers')).toContain('x-should-retry')
})
