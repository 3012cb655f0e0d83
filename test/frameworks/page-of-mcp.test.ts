/** What the page about MCP shows of the AI SDK works with it. */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { MockLanguageModelV4 } from 'ai/test'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { Agent, bearerAuth, createHandler, textOf } from '../../src/index.ts'
import { mcp } from '../../src/protocols/mcp/plugin.ts'
import { type RunningServer, serve } from '../../src/runtimes/node.ts'
import { snippetOf } from '../pages/pages.ts'
import { type Installed, install } from './served-framework.ts'

const NAME = 'framework-mcp-ai-sdk.ts'

const helper = new Agent({
  name: 'helper',
  description: 'Repeats what it is told',
  register: false,
  run: input => `You said: ${textOf(input)}`,
})

let server: RunningServer
let installed: Installed
beforeAll(async () => {
  const handler = createHandler({
    serve: [helper],
    registry: false,
    logger: false,
    middleware: [bearerAuth({ tokens: { 'token-of-ada': 'ada' } })],
    plugins: [mcp({ tools: true })],
  })
  server = await serve(handler, { port: 0, hostname: '127.0.0.1' })
  installed = await install('ai-sdk', [])
  const code = snippetOf(NAME).replace('http://127.0.0.1:8787', server.url)
  await writeFile(join(installed.folder, 'examples', NAME), code)
})
afterAll(async () => {
  await server?.close()
  await installed?.remove()
})

it('has types that fit', () => installed.check())

it('a model of the AI SDK calls an agent as a tool', async () => {
  const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } }
  const call = { type: 'tool-call', toolCallId: '1', toolName: 'helper', input: '{"input":"Hello"}' } as const
  const answers = [
    { content: [call], finishReason: { unified: 'tool-calls' } },
    { content: [{ type: 'text', text: 'Done' }], finishReason: { unified: 'stop' } },
  ].map(answer => ({ ...answer, usage, warnings: [] }))
  const model = new MockLanguageModelV4({ doGenerate: answers as never })
  const { ask } = await import(pathToFileURL(join(installed.folder, 'examples', NAME)).href)
  expect(await ask(model, 'Say hello')).toBe('Done')
  expect(JSON.stringify(model.doGenerateCalls[1]?.prompt)).toContain('You said: Hello')
})
