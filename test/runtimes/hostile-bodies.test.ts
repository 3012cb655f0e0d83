/**
 * Bodies at their bound, sent to a process that has little memory: what they cost is seen by whether it is there after.
 *
 * @module-tag long
 */
import { describe, expect, it } from 'vitest'
import { served } from '../contracts/served.ts'
import { startNode } from './harness.ts'

const MIB = 1024 * 1024

/** As many items as fit into so many bytes. */
const filled = (before: string, item: string, after: string, bytes: number) =>
  `${before}${`${item},`.repeat((bytes - before.length - after.length) / (item.length + 1) - 1)}${item}${after}`

const message =
  '{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"messageId":"1","role":"ROLE_USER"'

const BODIES: readonly [name: string, path: string, body: string][] = [
  ['an input of zeros', '/api/agents/mirror/run', filled('{"input":[', '0', ']}', MIB)],
  ['an input of empty objects', '/api/agents/mirror/run', filled('{"input":[', '{}', ']}', MIB)],
  ['parts that are empty', '/', filled(`${message},"parts":[`, '{}', ']}}}', 10 * MIB)],
  ['extensions that are numbers', '/', filled(`${message},"parts":[],"extensions":[`, '0', ']}}}', 10 * MIB)],
  ['parts that are right', '/', filled(`${message},"parts":[`, '{"text":""}', ']}}}', 10 * MIB)],
]

/** What is read, of the smallest items: each is answered or refused. */
const READ: readonly [name: string, path: string, body: string][] = [
  [
    'parts of messages',
    'chat/completions',
    filled(
      '{"model":"facts","messages":[',
      `{"role":"user","content":[${Array(99).fill('{"text":""}')}]}`,
      ']}',
      2 * MIB,
    ),
  ],
  ['messages', 'chat/completions', filled('{"model":"facts","messages":[', '{"role":"user"}', ']}', 150_000)],
  [
    'calls',
    'chat/completions',
    filled(
      '{"model":"facts","messages":[{"role":"assistant","tool_calls":[',
      '{"id":"a","function":{"name":"f"}}',
      ']},{"role":"user","content":"x"}]}',
      2 * MIB,
    ),
  ],
  ['items', 'responses', filled('{"model":"facts","store":false,"input":[', '{"type":""}', ']}', 110_000)],
  [
    'references',
    'responses',
    filled(
      '{"model":"facts","input":[',
      `{"type":"item_reference","id":"msg_${'0'.repeat(32)}"}`,
      ',{"role":"user","content":"x"}]}',
      700_000,
    ),
  ],
  [
    'tools',
    'responses',
    filled('{"model":"facts","input":"x","tools":[', '{"type":"function"}', ']}', 19_000),
  ],
]

describe('OpenAI’s interface on Node with a heap of 256 MiB', () => {
  const server = served(() =>
    startNode('test/contracts/openai/service.ts', {
      env: { NODE_OPTIONS: '--max-old-space-size=256' },
    }),
  )

  it.each(READ)('reads many %s, eight requests at a time, and lives', async (_, path, body) => {
    const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body }
    const statuses = Array.from({ length: 8 }, async () => {
      const response = await fetch(`${server().url}/v1/${path}`, init)
      await response.text()
      return response.status
    })
    for (const status of await Promise.all(statuses)) expect([200, 400, 404]).toContain(status)
    expect((await fetch(`${server().url}/api/health`)).status).toBe(200)
  })
})

/** The same of Messages. */
const MESSAGES: readonly [name: string, body: string][] = [
  [
    'blocks',
    filled(
      '{"model":"facts","messages":[',
      `{"role":"user","content":[${Array(99).fill('{"type":"text","text":""}')}]}`,
      ']}',
      2 * MIB,
    ),
  ],
  [
    'calls and results',
    filled(
      '{"model":"facts","messages":[',
      '{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f"}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"x"}]}',
      ',{"role":"assistant"},{"role":"user","content":"x"}]}',
      700_000,
    ),
  ],
  [
    'results of runs that are not there',
    filled(
      '{"model":"facts","messages":[{"role":"user","content":[',
      `{"type":"tool_result","tool_use_id":"toolu_${'0'.repeat(32)}"}`,
      ',{"type":"text","text":"x"}]}]}',
      90_000,
    ),
  ],
  [
    'tools',
    filled(
      '{"model":"facts","messages":[{"role":"user","content":"x"}],"tools":[',
      '{"name":"f"}',
      ']}',
      MIB,
    ),
  ],
]

describe('Anthropic’s interface on Node with a heap of 256 MiB', () => {
  const server = served(() =>
    startNode('test/contracts/anthropic/service.ts', {
      env: { NODE_OPTIONS: '--max-old-space-size=256' },
    }),
  )
  const headers = { 'content-type': 'application/json', 'x-api-key': 'token-of-ada' }

  it.each(MESSAGES)('reads many %s, eight requests at a time, and lives', async (_, body) => {
    const statuses = Array.from({ length: 8 }, async () => {
      const init = { method: 'POST', headers, body }
      const response = await fetch(`${server().url}/anthropic/v1/messages`, init)
      await response.text()
      return response.status
    })
    for (const status of await Promise.all(statuses)) expect([200, 400, 404]).toContain(status)
    expect((await fetch(`${server().url}/api/health`)).status).toBe(200)
  })
})

describe('Node with a heap of 256 MiB', () => {
  const server = served(() =>
    startNode('test/contracts/a2a/service.ts', { env: { NODE_OPTIONS: '--max-old-space-size=256' } }),
  )

  it.each(BODIES)('refuses %s, eight at a time, and lives', async (_, path, body) => {
    const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body }
    const answers = Array.from({ length: 8 }, async () => {
      const response = await fetch(server().url + path, init)
      const text = await response.text()
      expect(text.length).toBeLessThan(3000)
      // JSON-RPC tells errors in the body of a 200.
      return response.status === 400 || 'error' in JSON.parse(text)
    })
    expect(await Promise.all(answers)).toEqual(Array(8).fill(true))
    expect((await fetch(`${server().url}/api/health`)).status).toBe(200)
  })
})
