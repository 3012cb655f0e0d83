/** What the page about chats shows does what it says. */
import { rm } from 'node:fs/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Handler } from '../../src/index.ts'
import { fencesOf, load, snippetsIn, writeSnippets } from './pages.ts'

let folder: string
beforeAll(async () => {
  folder = await writeSnippets(snippetsIn(fencesOf(['ai-sdk-ui.md'])))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

it('the server answers the page', async () => {
  const { handler } = await load<{ handler: Handler }>(folder, 'chat-server.ts')
  const body = JSON.stringify({
    id: 'chat-1',
    trigger: 'submit-message',
    messages: [{ id: 'u1', role: 'user', parts: [{ type: 'text', text: 'Hello' }] }],
  })
  const headers = { 'content-type': 'application/json' }
  const request = new Request('http://127.0.0.1/api/agents/helper/chat', { method: 'POST', headers, body })
  const text = await (await handler(request)).text()
  expect(text).toContain('"delta":"You said: Hello"')
  expect(text.endsWith('data: [DONE]\n\n')).toBe(true)
})
