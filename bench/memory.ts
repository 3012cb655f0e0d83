/**
 * The memory of the default state when clients send as much as they may, compared with a state without a limit. Run with
 * `node bench/memory.ts`.
 */

import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { Agent, createHandler, type MemoryStateOptions, memoryState } from '../src/index.ts'
import type { MemoryStore } from '../src/stores/memory.ts'

/** The result of a case. */
interface Measured {
  /** Requests with the answer 200 or 202. */
  readonly taken: number
  /** The number of those that are still stored at the end. */
  readonly kept: number
  /** Growth of the heap, after a full collection. */
  readonly heapMiB: number
  /** The state's own estimate of its memory. */
  readonly estimateMiB: number
}

const MIB = 1024 * 1024

const echo = new Agent({
  name: 'echo',
  register: false,
  async *run(input) {
    yield String(input)
  },
})

const waits = new Agent({
  name: 'waits',
  register: false,
  async *run() {
    await new Promise(() => {})
    yield ''
  },
})

type Ask = (path: string, body?: unknown, headers?: Record<string, string>) => Promise<Response>

/** Sends a request. Gives the address of its outcome, or undefined if the request was refused. */
type Act = (ask: Ask, index: number) => Promise<string | undefined>

/** Different text each time, as clients send it. */
const textOf = (index: number, length: number) =>
  `${index} `.padEnd(length, String.fromCharCode(97 + (index % 26)))

function start(agent: string, length: number, headers: (index: number) => Record<string, string>): Act {
  return async (ask, index) => {
    const response = await ask(`/api/agents/${agent}/run`, { input: textOf(index, length) }, headers(index))
    await response.text()
    return response.headers.get('location') ?? undefined
  }
}

const send: Act = async (ask, index) => {
  const message = { messageId: 'm', role: 'ROLE_USER', parts: [{ text: textOf(index, 9.5 * MIB) }] }
  const response = await ask('/message:send', { message })
  const { task } = await response.json()
  return task && `/tasks/${task.id}`
}

const background = { prefer: 'respond-async' }

interface Case {
  readonly what: string
  readonly count: number
  readonly heapMiB: number
  readonly act: Act
}

const CASES: readonly Case[] = [
  {
    what: '1,100 background runs with inputs of 1 MB that say them back',
    count: 1100,
    heapMiB: 4096,
    act: start('echo', 1_000_000, () => background),
  },
  {
    what: '1,100 background runs with inputs of 1 MB that do not end',
    count: 1100,
    heapMiB: 4096,
    act: start('waits', 1_000_000, () => background),
  },
  { what: '54 A2A messages of 9.5 MB, in a heap of 1 GB', count: 54, heapMiB: 1024, act: send },
  {
    what: '5,000 runs with an idempotency key and 100 kB',
    count: 5000,
    heapMiB: 4096,
    act: start('echo', 100_000, index => ({ ...background, 'idempotency-key': String(index) })),
  },
]

/** Runs a case in this process. */
async function measure({ count, act }: Case, memory: MemoryStateOptions): Promise<Measured> {
  const state = memoryState(memory)
  const handler = createHandler({
    registry: false,
    production: true,
    logger: false,
    agents: { echo, waits },
    a2a: { default: 'echo' },
    runs: { maxRunning: 10_000 },
    state,
  })
  const ask: Ask = (path, body, headers) => {
    const request = {
      method: 'POST',
      body: JSON.stringify(body),
      headers: { 'content-type': 'application/json', ...headers },
    }
    return handler(new Request(`http://127.0.0.1${path}`, body === undefined ? {} : request))
  }
  const heap = async () => {
    for (let times = 0; times < 3; times++) {
      await new Promise(resolve => setTimeout(resolve, 20))
      globalThis.gc?.()
    }
    return process.memoryUsage().heapUsed / MIB
  }
  const before = await heap()
  const taken: string[] = []
  for (let index = 0; index < count; index++) {
    const path = await act(ask, index)
    if (path !== undefined) taken.push(path)
    // A server has such pauses between requests.
    await new Promise(resolve => setImmediate(resolve))
  }
  const heapMiB = (await heap()) - before
  let kept = 0
  for (const path of taken) {
    const { status, body } = await ask(path)
    await body?.cancel()
    if (status === 200) kept++
  }
  return { taken: taken.length, kept, heapMiB, estimateMiB: (state.store as MemoryStore).usedBytes / MIB }
}

/** Runs a case in a new process with the case's heap size. Undefined if that was too small. */
async function apart(index: number, bound: string): Promise<Measured | undefined> {
  const args = ['--expose-gc', `--max-old-space-size=${CASES[index]!.heapMiB}`, import.meta.filename]
  try {
    const { stdout } = await promisify(execFile)(process.execPath, [...args, String(index), bound])
    return JSON.parse(stdout)
  } catch {
    return undefined
  }
}

function show(measured: Measured | undefined): string {
  if (measured === undefined) return 'the process ends | '
  const { taken, kept, heapMiB, estimateMiB } = measured
  return `${heapMiB.toFixed(0)} MiB (${estimateMiB.toFixed(0)}) | ${taken} taken, ${kept} kept`
}

const [, , index, bound] = process.argv
if (index !== undefined) {
  const memory = bound === 'none' ? { maxBytes: Number.MAX_SAFE_INTEGER } : {}
  console.log(JSON.stringify(await measure(CASES[Number(index)]!, memory)))
  process.exit()
}
console.log('| what clients send | heap (estimate) | requests | without a bound | |')
console.log('|---|---|---|---|---|')
for (const [index, { what }] of CASES.entries()) {
  console.error(`… ${what}`)
  console.log(`| ${what} | ${show(await apart(index, 'default'))} | ${show(await apart(index, 'none'))} |`)
}
