/** What the page about webhooks shows does what it says. */
import { rm } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import type { Handler } from '../../src/index.ts'
import { jsonRequest } from '../contracts/http/client.ts'
import { eventually } from '../eventually.ts'
import { EXAMPLE_AGENTS, fencesOf, load, snippetsIn, writeSnippets } from './pages.ts'

const snippets = snippetsIn(fencesOf(['webhooks.md'])).set('agents.ts', EXAMPLE_AGENTS)

let folder: string
beforeAll(async () => {
  folder = await writeSnippets(snippets)
})
afterAll(() => rm(folder, { recursive: true, force: true }))

describe('the page about webhooks', () => {
  it('shows a service and a receiver that understand each other', async () => {
    vi.stubEnv('WEBHOOK_SECRET', btoa('x'.repeat(32)))
    vi.stubEnv('WEBHOOK_URL', 'https://crm.example.com/hook')
    const shown = vi.spyOn(console, 'log').mockImplementation(() => {})
    const { receive } = await load<{ receive(request: Request): Promise<Response> }>(
      folder,
      'webhooks-receiver.ts',
    )
    const statuses: number[] = []
    vi.stubGlobal('fetch', async (url: string, init: RequestInit) => {
      const { redirect: _, signal: __, ...sent } = init
      const response = await receive(new Request(url, sent))
      statuses.push(response.status)
      return response
    })
    vi.stubGlobal('process', { ...process, env: process.env, getBuiltinModule: undefined })
    const { handler } = await load<{ handler: Handler }>(folder, 'webhooks-first.ts')
    const asked = jsonRequest({ input: 'Hello' })
    const answer = await handler(new Request('http://127.0.0.1/api/agents/echo/run', asked))
    const { runId } = (await answer.json()) as { runId: string }
    await eventually(() => expect(shown).toHaveBeenCalledWith('run.completed', runId))
    expect(statuses).toEqual([204])
    const forged = await receive(new Request('https://crm.example.com/', { method: 'POST', body: '{}' }))
    expect(forged.status).toBe(401)
  })
})
