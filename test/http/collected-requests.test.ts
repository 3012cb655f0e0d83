/** On Node, the signal of a request that is garbage collected never fires. Clients that leave later are heard all the same. */
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { afterEach, describe, expect, it } from 'vitest'
import { Agent, createHandler } from '../../src/index.ts'
import { agUi } from '../../src/protocols/ag-ui/plugin.ts'
import { aiSdkUi } from '../../src/protocols/ai-sdk-ui/plugin.ts'
import { mcp } from '../../src/protocols/mcp/plugin.ts'
import { openai } from '../../src/protocols/openai/plugin.ts'
import { nextHandlers } from '../../src/runtimes/next.ts'
import { serve } from '../../src/runtimes/node.ts'

setFlagsFromString('--expose-gc')
const collect: () => void = runInNewContext('gc')

/** Collects what nobody has any more. It takes several turns of the event loop: a `WeakRef` keeps what it was asked for until its turn ends. */
async function forget(): Promise<void> {
  for (let time = 0; time < 3; time++) {
    await new Promise(resolve => setTimeout(resolve, 1))
    collect()
  }
}

/** A handler with one agent, which works until its signal fires. */
function waiting() {
  const begun = Promise.withResolvers<void>()
  const stopped = Promise.withResolvers<void>()
  const own = new Agent({
    ...{ name: 'own', register: false },
    async *run(_, { signal }) {
      begun.resolve()
      yield 'begun'
      await new Promise(resolve => signal.addEventListener('abort', resolve))
      stopped.resolve()
    },
  })
  const plugins = [openai(), agUi(), aiSdkUi(), mcp({ tools: true })]
  const handler = createHandler({ registry: false, logger: false, agents: { own }, plugins })
  return { handler, begun: begun.promise, stopped: stopped.promise }
}

const message = { role: 'user', content: 'hi' }
const call = (more: object = {}) => ({
  ...{ jsonrpc: '2.0', id: 1, method: 'tools/call' },
  params: { name: 'own', arguments: { input: 'hi' }, ...more },
})
const agUiInput = { threadId: 't', runId: 'r', state: {}, tools: [], context: [], forwardedProps: {} }

/** Path and body of a request of each protocol. */
const REQUESTS: Readonly<Record<string, readonly [path: string, body: object]>> = {
  run: ['/api/agents/own/run', { input: 'hi' }],
  stream: ['/api/agents/own/stream', { input: 'hi' }],
  'OpenAI, JSON': ['/v1/chat/completions', { model: 'own', messages: [message] }],
  'OpenAI, stream': ['/v1/chat/completions', { model: 'own', messages: [message], stream: true }],
  'OpenAI, responses': ['/v1/responses', { model: 'own', input: 'hi' }],
  'AG-UI': ['/api/agents/own/ag-ui', { ...agUiInput, messages: [{ id: 'm', ...message }] }],
  'AI SDK': [
    '/api/agents/own/chat',
    {
      id: 'c',
      trigger: 'submit-message',
      messages: [{ id: 'm', role: 'user', parts: [{ type: 'text', text: 'hi' }] }],
    },
  ],
  'MCP, JSON': ['/mcp', call()],
  'MCP, stream': ['/mcp', call({ _meta: { progressToken: 1 } })],
}

function initOf(body: object, signal: AbortSignal): RequestInit {
  const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
  return { method: 'POST', headers, body: JSON.stringify(body), signal }
}

describe.each(Object.entries(REQUESTS))('a client of %s', (_, [path, body]) => {
  it.each(['the handler', 'Next'])('that leaves stops its run behind %s', async behind => {
    const { handler, begun, stopped } = waiting()
    const client = new AbortController()
    const { POST } = behind === 'Next' ? nextHandlers(handler) : { POST: handler }
    const init = initOf(body, client.signal)
    const headers = { ...init.headers, host: 'agents.example' }
    void POST(new Request(`http://localhost:3000${path}`, { ...init, headers }))
    await begun
    await forget()
    client.abort()
    await stopped
  })
})

describe('a client of `serve` on Node', () => {
  const closing: (() => Promise<void>)[] = []
  afterEach(async () => {
    for (const close of closing.splice(0)) await close()
  })

  it.each(['run', 'stream'])(
    'that leaves stops its %s where a wrapper makes another request',
    async route => {
      const { handler, begun, stopped } = waiting()
      const server = await serve(request => handler(new Request(request.url, request)), { port: 0 })
      closing.push(() => server.close())
      const client = new AbortController()
      const answer = fetch(`${server.url}/api/agents/own/${route}`, initOf({ input: 'hi' }, client.signal))
      const left = expect(answer.then(response => response.text())).rejects.toThrow()
      await begun
      await forget()
      client.abort()
      await stopped
      await left
    },
  )
})
