/**
 * The cost of one body at its size limit that consists of the smallest invalid items, compared with a valid body. Run with
 * `node bench/bodies.ts`.
 */

import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { Agent, createHandler } from '../src/index.ts'

const MIB = 1024 * 1024

/** A body with as many items as fit into this many bytes. */
function filled(before: string, item: string, after: string, bytes: number): string {
  const count = Math.floor((bytes - before.length - after.length) / (item.length + 1))
  return `${before}${`${item},`.repeat(count - 1)}${item}${after}`
}

const MESSAGE =
  '{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"messageId":"1","role":"ROLE_USER"'

interface Case {
  readonly what: string
  readonly path: string
  readonly body: () => string
}

const RUN = '/api/agents/mute/run'

const CASES: readonly Case[] = [
  { what: 'a run, 1 MiB of text', path: RUN, body: () => `{"input":"${'x'.repeat(MIB - 12)}"}` },
  { what: 'a run, 1 MiB of `0`', path: RUN, body: () => filled('{"input":[', '0', ']}', MIB) },
  {
    what: 'A2A, 10 MiB of text',
    path: '/',
    body: () => `${MESSAGE},"parts":[{"text":"${'x'.repeat(10 * MIB - 200)}"}]}}}`,
  },
  {
    what: 'A2A, 10 MiB of parts `{}`',
    path: '/',
    body: () => filled(`${MESSAGE},"parts":[`, '{}', ']}}}', 10 * MIB),
  },
  {
    what: 'A2A, 2 MiB of extensions `0`',
    path: '/',
    body: () => filled(`${MESSAGE},"parts":[{"text":"x"}],"extensions":[`, '0', ']}}}', 2 * MIB),
  },
]

/** Milliseconds until the answer, and the highest growth of the process. */
async function measure({ path, body }: Case): Promise<{ readonly ms: number; readonly mib: number }> {
  const mute = new Agent({ name: 'mute', register: false, run: () => 'x' })
  const handler = createHandler({
    registry: false,
    logger: false,
    agents: { mute },
    a2a: { default: 'mute' },
  })
  const init = { method: 'POST', headers: { 'content-type': 'application/json' } }
  const ask = (text: string) => handler(new Request(`http://127.0.0.1${path}`, { ...init, body: text }))
  for (let times = 0; times < 20; times++) await (await ask('{"input":[]}')).text()
  const text = body()
  // Kilobytes. This is the maximum so far.
  const before = process.resourceUsage().maxRSS
  const at = performance.now()
  await (await ask(text)).text()
  const ms = performance.now() - at
  return { ms, mib: (process.resourceUsage().maxRSS - before) / 1024 }
}

const [, , index] = process.argv
if (index !== undefined) {
  console.log(JSON.stringify(await measure(CASES[Number(index)]!)))
  process.exit()
}
console.log('| body | answered after | memory at the most |')
console.log('|---|---|---|')
for (const [index, { what }] of CASES.entries()) {
  const args = ['--max-old-space-size=8192', import.meta.filename, String(index)]
  const { stdout } = await promisify(execFile)(process.execPath, args)
  const { ms, mib } = JSON.parse(stdout)
  console.log(`| ${what} | ${ms.toFixed(0)} ms | ${mib.toFixed(0)} MiB |`)
}
