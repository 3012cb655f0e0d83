import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { Agent, createHandler } from '../../../src/index.ts'
import { mcp } from '../../../src/protocols/mcp/plugin.ts'
import { jsonRequest } from '../../contracts/http/client.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }))
afterEach(() => void vi.useRealTimers())

it('asks a client on its stream at once, however soon another answer would come as JSON', async () => {
  const asks = new Agent({
    name: 'asks',
    register: false,
    run: async function* (_, { ask }) {
      yield String(yield* ask('size', { message: 'Which size?' }))
    },
  })
  const handler = createHandler({
    agents: { asks },
    registry: false,
    logger: false,
    plugins: [mcp({ tools: ['asks'] })],
  })
  const post = (method: string, params: object, headers: Record<string, string> = {}) =>
    handler(
      new Request(
        'http://localhost/mcp',
        jsonRequest(
          { jsonrpc: '2.0', id: 1, method, params },
          { accept: 'application/json, text/event-stream', ...headers },
        ),
      ),
    )
  const begun = await post('initialize', {
    protocolVersion: '2025-11-25',
    capabilities: { elicitation: {} },
  })
  const session = { 'mcp-session-id': begun.headers.get('mcp-session-id') ?? '' }
  // No timer fires.
  const answer = await post('tools/call', { name: 'asks', arguments: { input: 'a shirt' } }, session)
  const reader = answer.body?.getReader()
  const { value } = (await reader?.read()) ?? {}
  expect(new TextDecoder().decode(value)).toContain('Which size?')
  await reader?.cancel()
})
