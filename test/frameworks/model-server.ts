/**
 * A model provider on loopback with OpenAI's chat completions and responses. The last user message selects its behaviour; see
 * `scripts`.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { type Api, chat, responses } from './model-wire.ts'

/** A request to the model. */
export interface Asked {
  readonly authorization: string | undefined
  /** The body as it came. */
  readonly text: string
  /** The texts of all user messages, the newest last. */
  readonly users: readonly string[]
  /** The images of the newest user message: a URL, or a `data:` URL. */
  readonly images: readonly string[]
  /** Whether the client left before the end of the answer. */
  left: boolean
}

export interface ModelServer {
  /** Ends in `/v1`. */
  readonly url: string
  /** Every request so far. */
  readonly asked: readonly Asked[]
  /** The requests whose last user message contains `text`. */
  askedFor(text: string): Asked[]
  stop(): Promise<void>
}

/** The provider's error text. Clients may not see it in production. */
export const PROVIDER_TEXT = 'the provider broke at row 42'

export async function startModel(): Promise<ModelServer> {
  const asked: Asked[] = []
  const server = createServer((request, response) => void answer(request, response, asked))
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the model server has no port')
  return {
    url: `http://127.0.0.1:${address.port}/v1`,
    asked,
    askedFor: text => asked.filter(({ users }) => users.at(-1)?.includes(text)),
    stop: () =>
      new Promise(resolve => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

async function answer(request: IncomingMessage, response: ServerResponse, log: Asked[]): Promise<void> {
  let text = ''
  for await (const chunk of request.setEncoding('utf8')) text += chunk
  const body = JSON.parse(text)
  const api = request.url?.endsWith('/responses') ? responses : chat
  const { users, images, results } = api.read(body)
  const asked: Asked = { authorization: request.headers.authorization, text, users, images, left: false }
  log.push(asked)
  response.on('close', () => {
    if (!response.writableEnded) asked.left = true
  })
  const said = users.at(-1) ?? ''
  const before = log.filter(other => other.users.at(-1) === said).length
  if (said.includes('deny')) return refuse(response, 403, PROVIDER_TEXT)
  if (said.includes('refuse')) return refuse(response, 500, PROVIDER_TEXT)
  if (said.includes('wrong key')) return refuse(response, 401, `no such key: ${asked.authorization}`)
  if (said.includes('busy') && before <= 2) return refuse(response, 429, 'slow down')
  if (said.includes('mute')) return
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  await script(said, { api, response, body, users, images, results })
}

function refuse(response: ServerResponse, status: number, message: string): void {
  response.writeHead(status, {
    'content-type': 'application/json',
    'retry-after': '0',
    'retry-after-ms': '1',
  })
  response.end(JSON.stringify({ error: { message, type: 'server_error', code: null, param: null } }))
}

interface Scene {
  readonly api: Api
  readonly response: ServerResponse
  readonly body: unknown
  readonly users: readonly string[]
  readonly images: readonly string[]
  /** The tools' answers since the last user message. */
  readonly results: readonly string[]
}

async function script(said: string, { api, response, body, users, images, results }: Scene): Promise<void> {
  const write = (text: string) => response.write(text)
  const writer = api.start(body, write)
  if (said.includes('hang')) return writer.text('Wait')
  if (said.includes('drop')) {
    writer.text('Half of')
    // The written data leaves before the connection breaks.
    setImmediate(() => setImmediate(() => response.destroy()))
    return
  }
  const calls = callsFor(said, results)
  for (const [name, args] of calls) writer.call(name, args)
  if (calls.length > 0) {
    writer.end('tool_calls')
  } else {
    if (said.includes('think')) writer.thinking('Let me see.')
    for (const word of wordsFor(said, users, images, results)) writer.text(word)
    writer.end(said.includes('too long') ? 'length' : said.includes('forbidden') ? 'content_filter' : 'stop')
  }
  response.end()
}

function refundsFor(said: string, done: number): [name: string, args: object][] {
  if (done > 0) return said.includes('again') && done === 1 ? [['refund', { order: 'again' }]] : []
  const first: [string, object] = ['refund', { order: 'A' }]
  if (said.includes('mixed')) return [['get_weather', { city: 'Oslo' }], first]
  return said.includes('both') ? [first, ['refund', { order: 'B' }]] : [first]
}

function callsFor(said: string, { length: done }: readonly string[]): [name: string, args: object][] {
  if (said.includes('weather') && done === 0) {
    return [['get_weather', { city: /in (\w+)/.exec(said)?.[1] ?? 'Oslo' }]]
  }
  if (said.includes('refund')) return refundsFor(said, done)
  if (!said.includes('paint') || done >= (said.includes('again') ? 2 : 1)) return []
  const pick = (hue: string): [string, object] => ['pick_color', { hue }]
  const first = pick(`hue ${done}`)
  return said.includes('both') ? [first, ['get_weather', { city: 'Oslo' }], pick('other')] : [first]
}

function wordsFor(
  said: string,
  users: readonly string[],
  images: readonly string[],
  results: readonly string[],
): string[] {
  if (said.includes('as json')) return ['{"city":', '"Oslo"}']
  if (results.length > 0) return ['The tool said: ', results.join(' and ')]
  if (said.includes('recall')) return ['You said: ', users.slice(0, -1).join(' | ')]
  if (images.length > 0) return ['I see ', images.join(' and ')]
  return ['Hello', ', ', 'world']
}
