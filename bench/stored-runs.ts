/**
 * Events of stored runs that a process sends in a second. Each event is stored before it is sent. Run with `node
 * bench/stored-runs.ts [streams]`.
 */

import { mkdtempSync, rmSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { start } from '../test/runtimes/process.ts'
import { median } from './measure.ts'
import { cpuOf } from './process.ts'

const STREAMS = Number(process.argv[2] ?? 400)
const PIECES = 100
const ROUNDS = 5

/** The setups: number of processes, their state, and whether runs are stored. */
const SETUPS = [
  ['plain streams', 1, 'memory', false],
  ['followed, in memory', 1, 'memory', true],
  ['followed, in SQLite', 1, 'sqlite', true],
  ['followed, in SQLite, two processes on one file', 2, 'sqlite', true],
] as const

const agent = new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY })

/** Reads a stream to its end, and gives its number of events. */
function follow(url: string, isFollowed: boolean): Promise<number> {
  const body = JSON.stringify({ input: 'x', ...(isFollowed && { background: true }) })
  return new Promise((resolve, reject) => {
    const asked = request(`${url}/api/agents/pacer/stream`, {
      method: 'POST',
      agent,
      headers: { 'content-type': 'application/json', 'content-length': body.length },
    })
    asked.on('error', reject)
    asked.on('response', answer => {
      let events = 0
      answer.on('data', (chunk: Buffer) => {
        for (let at = chunk.indexOf('data: '); at !== -1; at = chunk.indexOf('data: ', at + 6)) events++
      })
      answer.on('end', () => resolve(events))
      answer.on('error', reject)
    })
    asked.end(body)
  })
}

/** Starts a server that stores runs when they are followed, and none otherwise. */
function startServer(database: string | undefined, isFollowed: boolean) {
  return start({
    command: process.execPath,
    args: [join(import.meta.dirname, 'servers/node-followed.ts')],
    until: /listening (http:\S+)/,
    env: {
      ...{ NODE_NO_WARNINGS: '1', PIECES: String(PIECES), PAUSE_MS: '2' },
      ...{ STORE: isFollowed ? 'asked' : 'none' },
      ...(database !== undefined && { DATABASE: database }),
    },
  })
}

async function measure([name, processes, where, isFollowed]: (typeof SETUPS)[number]): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'servable-followed-'))
  const database = where === 'sqlite' ? join(folder, 'runs.db') : undefined
  const servers = [await startServer(database, isFollowed)]
  while (servers.length < processes) servers.push(await startServer(database, isFollowed))
  try {
    const round = async () => {
      const cpu = async () => {
        let sum = 0
        for (const { pid } of servers) sum += await cpuOf(pid)
        return sum
      }
      const [cpuBefore, startedAt] = [await cpu(), performance.now()]
      const streams = Array.from({ length: STREAMS }, (_, index) =>
        follow(servers[index % servers.length]!.ready[1] ?? '', isFollowed),
      )
      const events = (await Promise.all(streams)).reduce((sum, count) => sum + count, 0)
      if (events !== STREAMS * (PIECES + 1)) throw new Error(`${events} events`)
      const seconds = (performance.now() - startedAt) / 1000
      return [events / seconds, events / ((await cpu()) - cpuBefore)] as const
    }
    await round()
    const rounds: (readonly [number, number])[] = []
    for (let count = 0; count < ROUNDS; count++) rounds.push(await round())
    const of = (index: 0 | 1) => Math.round(median(rounds.map(each => each[index]))).toLocaleString('en')
    return `| ${name} | ${of(0)} | ${of(1)} |`
  } finally {
    for (const { stop } of servers) await stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

console.log(
  `| ${STREAMS} streams of ${PIECES} pieces | events a second | events a second of CPU |\n|---|---|---|`,
)
for (const setup of SETUPS) console.log(await measure(setup))
agent.destroy()
