/** Hostile clients beside the others, who must not notice them. */

import { connect } from 'node:net'
import { HOSTILE } from './orders.ts'
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

/** Sends tasks whose receivers are slow, four hundred at a time. */
const slowReceivers =
  ({ slowUrl }: Receivers): Act =>
  async (url, ledger) => {
    for (let count = 0; count < 400; count++) {
      const message = {
        kind: 'message',
        messageId: crypto.randomUUID(),
        role: 'user',
        parts: [{ kind: 'text', text: 'x' }],
      }
      const params = {
        message: { ...message, metadata: { agentName: HOSTILE } },
        configuration: { blocking: false, pushNotificationConfig: { url: `${slowUrl}/${count}` } },
      }
      const response = await fetch(`${url}/`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...WHO },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'message/send', params }),
        signal: AbortSignal.timeout(PATIENCE_MS),
      })
      await response.text()
      expect(response.status < 500, 'a 5xx for a task with a slow receiver', () => `${response.status}`)
      ledger.hostile++
    }
    await sleep(10_000)
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
export function hostileClients(receivers: Receivers): readonly (readonly Act[])[] {
  return [[hostileBody], [slowReceivers(receivers)], [slowUploads]]
}
