/** Which key a model's provider gets, over every transport: the order of the specification ("Authentication"). */
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { io, type Socket } from 'socket.io-client'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ModelAgent } from '../../../src/adapters/model-agent/index.ts'
import { createHandler, type Handler } from '../../../src/index.ts'
import { type RunningServer, serve } from '../../../src/runtimes/node.ts'
import { type Provider, says, startProvider } from './provider.ts'

const SERVER_KEY = 'key-of-the-server'

/** Providers of models: those of the default table, one that a deployment added, and one that nobody knows. */
const MODELS = ['provider-a', 'provider-b', 'provider-c', 'hosted', 'unknown'] as const

const HEADERS = {
  'provider-a': 'x-provider-a-api-key',
  'provider-b': 'x-provider-b-api-key',
  'provider-c': 'x-provider-c-api-key',
  own: 'x-own-api-key',
} as const

let provider: Provider
let server: RunningServer
let handler: Handler
beforeAll(async () => {
  provider = await startProvider()
  provider.script(says('ok'))
  const agents = Object.fromEntries(
    MODELS.map(name => [
      name,
      new ModelAgent({
        name,
        register: false,
        model: ({ apiKey = SERVER_KEY }) =>
          createOpenAICompatible({ name, baseURL: provider.url, apiKey })('model-1'),
      }),
    ]),
  )
  handler = createHandler({
    registry: false,
    logger: false,
    agents,
    a2a: true,
    gateway: true,
    providers: { own: { header: HEADERS.own, matches: ['hosted'] } },
  })
  server = await serve(handler, { port: 0 })
})
afterAll(() => Promise.all([server.close(), provider.stop()]))

/** Every choice of keys: each is there or not. */
const CHOICES = Array.from({ length: 2 ** 6 }, (_, bits) => {
  const has = (bit: number) => (bits & (1 << bit)) !== 0
  const headers: Record<string, string> = {}
  for (const [index, header] of Object.values(HEADERS).entries())
    if (has(index)) headers[header] = `key-${header}`
  if (has(4)) headers['x-api-key'] = 'key-generic'
  return { headers, apiKey: has(5) ? 'key-body' : undefined }
})

/** What the specification says. */
function expected(model: string, { headers, apiKey }: (typeof CHOICES)[number]): string {
  const header = model === 'hosted' ? HEADERS.own : HEADERS[model as keyof typeof HEADERS]
  return headers[header ?? ''] ?? headers['x-api-key'] ?? apiKey ?? SERVER_KEY
}

/** The key that the provider got last. */
const got = () => provider.asked.at(-1)?.authorization?.replace('Bearer ', '')

const json = { 'content-type': 'application/json' }

async function ask(path: string, body: object, headers: Record<string, string>): Promise<string> {
  const init = { method: 'POST', headers: { ...json, ...headers }, body: JSON.stringify(body) }
  const answer = await handler(new Request(`http://127.0.0.1${path}`, init))
  expect(answer.status).toBeLessThan(300)
  return answer.text()
}

describe.each(MODELS)('the key of a run of %s', model => {
  it.each(['run', 'stream'])('over HTTP, as a plain and as a stored one: %s', async way => {
    for (const choice of CHOICES) {
      const { headers, apiKey } = choice
      for (const background of [false, true]) {
        await ask(`/api/agents/${model}/${way}`, { input: 'hi', apiKey, background }, headers)
        expect(got()).toBe(expected(model, choice))
      }
    }
  })

  it('over A2A, which has no key in its body', async () => {
    for (const choice of CHOICES.filter(({ apiKey }) => apiKey === undefined)) {
      for (const method of ['message/send', 'message/stream']) {
        const message = {
          messageId: crypto.randomUUID(),
          role: 'user',
          parts: [{ kind: 'text', text: 'hi' }],
          kind: 'message',
        }
        await ask(`/agents/${model}`, { jsonrpc: '2.0', id: 1, method, params: { message } }, choice.headers)
        expect(got()).toBe(expected(model, choice))
      }
    }
  })

  it.each([
    [undefined, undefined, SERVER_KEY],
    ['key-handshake', undefined, 'key-handshake'],
    [undefined, 'key-payload', 'key-payload'],
    ['key-handshake', 'key-payload', 'key-payload'],
  ])('over a socket with %s at the handshake and %s with the event', async (atHandshake, withEvent, key) => {
    const socket: Socket = io(`${server.url}/service`, {
      transports: ['websocket'],
      auth: atHandshake === undefined ? {} : { apiKey: atHandshake },
    })
    try {
      const done = new Promise((resolve, reject) => {
        socket.once('agent.done', resolve)
        socket.once('agent.error', reject)
        socket.once('connect_error', reject)
      })
      socket.emit('agent.run', { name: model, input: 'hi', ...(withEvent && { apiKey: withEvent }) })
      await done
      expect(got()).toBe(key)
    } finally {
      socket.disconnect()
    }
  })
})
