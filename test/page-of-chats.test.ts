/** What the page about chats shows compiles, and its server answers. */
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Handler } from '../src/index.ts'
import { checkTypes, fencesOf, load, snippetsIn, writeSnippets } from './pages.ts'

/** The hook of React, whose package needs React: the pages use this much of it. */
const HOOK = `declare module '@ai-sdk/react' {
  import type { AbstractChat, ChatInit, UIMessage } from 'ai'
  export function useChat<M extends UIMessage = UIMessage>(
    options?: ChatInit<M> & { resume?: boolean },
  ): Pick<AbstractChat<M>, 'id' | 'messages' | 'sendMessage' | 'status' | 'error' | 'stop'>
}
`

let folder: string
beforeAll(async () => {
  folder = await writeSnippets(snippetsIn(fencesOf(['ai-sdk-ui.md'])))
  await writeFile(join(folder, 'hook.d.ts'), HOOK)
})
afterAll(() => rm(folder, { recursive: true, force: true }))

it('the pages compile', () => checkTypes(folder))

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
