/** Hostile clients beside the others, who must not notice them. */

import { connect } from 'node:net'
import { HOSTILE, writeOrder } from './orders.ts'
import type { Receivers } from './receivers.ts'
import { type Act, expect, PATIENCE_MS, sleep } from './traffic.ts'

/** Characters of a body, the most that the service takes. */
const BODY_LENGTH = 1_000_000

/** Names the sender in every request, so that all hostile requests are of one client. */
const WHO = { 'x-client': HOSTILE }

const filled = (head: string, item: string, tail: string) =>
  `${head}${item.repeat(Math.floor((BODY_LENGTH - head.length - tail.length - 1) / item.length)).replace(/,$/, '')}${tail}`

const depth = BODY_LENGTH / 2 - 20

/** Bodies of the smallest invalid items, by path. */
const BODIES: readonly (readonly [path: string, body: string])[] = [
  [`/api/agents/${HOSTILE}/run`, filled('{"input":[', '0,', ']}')],
  [`/api/agents/${HOSTILE}/run`, filled('{"input":[', '{},', ']}')],
  [`/api/agents/${HOSTILE}/stream`, `{"input":${'['.repeat(depth)}${']'.repeat(depth)}}`],
  [`/api/agents/${HOSTILE}/run`, '['.repeat(BODY_LENGTH)],
  [
    '/',
    filled(
      '{"jsonrpc":"2.0","id":1,"method":"message/send","params":{"message":{"kind":"message","messageId":"m","role":"user","parts":[',
      '{},',
      ']}}}',
    ),
  ],
  [
    '/',
    `{"jsonrpc":"2.0","id":1,"method":"message/send","params":${'['.repeat(depth - 60)}${']'.repeat(depth - 60)}}`,
  ],
  ['/', filled('[', '0,', ']')],
]

let turn = 0

/** Sends a body that is refused in any form. JSON-RPC refuses with a 200. */
const hostileBody: Act = async (url, ledger) => {
  const [path, body] = BODIES[turn++ % BODIES.length]!
  const response = await fetch(url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...WHO },
    body,
    signal: AbortSignal.timeout(PATIENCE_MS),
  })
  const text = await response.text()
  const says = () => `${response.status} ${text.slice(0, 300)} for ${path} ${body.slice(0, 60)}`
  expect(response.status < 500, 'a 5xx for a hostile body', says)
  expect(/"(code|error)":/.test(text), 'a hostile body that was taken', says)
  ledger.hostile++
  await sleep(200)
}

/** Sends so many tasks, each with a receiver of its own at the address, and then rests. */
const tasksTo =
  (receiver: string, tasks: number): Act =>
  async (url, ledger) => {
    for (let count = 0; count < tasks; count++) {
      const message = {
        kind: 'message',
        messageId: crypto.randomUUID(),
        role: 'user',
        parts: [{ kind: 'text', text: 'x' }],
      }
      const params = {
        message: { ...message, metadata: { agentName: HOSTILE } },
        configuration: { blocking: false, pushNotificationConfig: { url: `${receiver}/${count}` } },
      }
      const response = await fetch(`${url}/`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...WHO },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'message/send', params }),
        signal: AbortSignal.timeout(PATIENCE_MS),
      })
      await response.text()
      expect(response.status < 500, 'a 5xx for a task with a hostile receiver', () => `${response.status}`)
      ledger.hostile++
    }
    await sleep(10_000)
  }

/** What patterns of guards, and readers of Markdown, take longest for: the service masks it twice, and sends it back. */
const TEXTS: readonly string[] = [
  'a'.repeat(900_000),
  `${'a'.repeat(999)}@`.repeat(900),
  `${'|a'.repeat(400)}\n${'|-'.repeat(400)}${'\n|a'.repeat(10_000)}`,
]

let texts = 0

/** Runs the guarded agent with a hostile text, which it says. */
const hostileText: Act = async (url, ledger) => {
  const tag = TEXTS[texts++ % TEXTS.length]!
  const response = await fetch(`${url}/api/agents/${HOSTILE}/run`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...WHO },
    body: JSON.stringify({ input: writeOrder({ tag, pieces: 1, pauseMs: 0, fate: 'answer' }) }),
    signal: AbortSignal.timeout(PATIENCE_MS),
  })
  const text = await response.text()
  expect(
    response.ok,
    'no answer to a hostile text',
    () => `${response.status} ${text.slice(0, 300)} for ${tag.slice(0, 60)}`,
  )
  ledger.hostile++
  await sleep(1000)
}

/** Asks fifty times for a stream with the head of a WebSocket, reads what comes for a second, and leaves. */
const upgradesOfStreams: Act = async (url, ledger) => {
  const { port } = new URL(url)
  const head = [
    'GET /api/metrics/stream HTTP/1.1',
    'host: 127.0.0.1',
    `x-client: ${HOSTILE}`,
    ...['connection: Upgrade', 'upgrade: websocket', 'sec-websocket-version: 13'],
    `sec-websocket-key: ${btoa('sixteen bytes 16')}`,
  ].join('\r\n')
  const sockets = Array.from({ length: 50 }, () => {
    const socket = connect(Number(port), '127.0.0.1', () => socket.write(`${head}\r\n\r\n`))
    socket.on('error', () => socket.destroy()).resume()
    return socket
  })
  await sleep(1000)
  for (const socket of sockets) socket.destroy()
  ledger.hostile += sockets.length
}

/** Sends sixteen uploads of 928 bytes in all, byte by byte. */
const slowUploads: Act = async (url, ledger) => {
  const uploads = Array.from({ length: 16 }, () => slowUpload(url))
  await Promise.all(uploads)
  ledger.hostile += uploads.length
}

/** Sends its head, then a byte a second, until the server ends the connection or the time is up. */
function slowUpload(url: string): Promise<void> {
  const { port } = new URL(url)
  const head = [
    `POST /api/agents/${HOSTILE}/run HTTP/1.1`,
    'host: 127.0.0.1',
    `x-client: ${HOSTILE}`,
    'content-type: multipart/form-data; boundary=b',
    'content-length: 58',
  ].join('\r\n')
  return new Promise(resolve => {
    const socket = connect(Number(port), '127.0.0.1', () => socket.write(`${head}\r\n\r\n`))
    let sent = 0
    const timer = setInterval(() => (++sent > 25 ? socket.destroy() : socket.write('-')), 1000)
    const end = () => {
      clearInterval(timer)
      socket.destroy()
      resolve()
    }
    socket.on('data', end)
    socket.on('error', end)
    socket.on('close', end)
  })
}

/** The hostile clients, each with its acts. */
export function hostileClients({ slowUrl, brokenUrl }: Receivers): readonly (readonly Act[])[] {
  return [
    [hostileBody],
    [tasksTo(slowUrl, 400)],
    [tasksTo(brokenUrl, 10)],
    [slowUploads],
    [hostileText],
    [upgradesOfStreams],
  ]
}
