/**
 * State in PostgreSQL beside memory and SQLite: single acts, events of many runs in one and several processes, and how soon one process
 * learns of another. The database is on the same machine, and each commit waits for its disk. Run with `node bench/postgres.ts`.
 */

import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import type { LocalState } from '../src/core/local-state.ts'
import { memoryState } from '../src/index.ts'
import type { Follower, RunHost } from '../src/runs/stored/host.ts'
import { createLocalHost } from '../src/runs/stored/local-host.ts'
import { postgresState } from '../src/runtimes/postgres.ts'
import { sqliteState } from '../src/runtimes/sqlite.ts'
import { startPostgres } from '../test/runtimes/postgres/server.ts'
import { median } from './measure.ts'
import { SETTINGS } from './settings.ts'

const ROUNDS = 5
const NEVER = new AbortController().signal

const later = (ms: number) => new Promise(resolve => setTimeout(resolve, ms))

/** An agent that says so many pieces, so many milliseconds apart; each says when. Then it is silent, or ends. */
function talker({ pieces, everyMs, isSilent = false }: Load): {
  stream(input: unknown, o: { signal?: AbortSignal }): AsyncGenerator
} {
  return {
    async *stream(_, { signal }) {
      for (let piece = 0; piece < pieces; piece++) {
        if (everyMs > 0) await later(everyMs)
        yield { type: 'text', text: `piece ${piece} ${Date.now()}` }
      }
      if (!isSilent) return
      await new Promise<void>(resolve => signal?.addEventListener('abort', () => resolve()))
      process.send?.({ stoppedAt: Date.now() })
    },
  }
}

/** Runs at a time, pieces of each, and milliseconds between them. */
interface Load {
  readonly runs: number
  readonly pieces: number
  readonly everyMs: number
  readonly isSilent?: boolean
}

async function begin(host: RunHost, load: Load): Promise<string> {
  const target = { kind: 'agent', name: 'talker', servable: { name: 'talker', ...talker(load) } }
  const asked = { target, input: 'x', options: {}, owner: 'o', isBackground: true }
  return (await host.start(asked as unknown as Parameters<RunHost['start']>[0])).id
}

/** Runs a load, each run with one who waits for its end. Gives events a second. */
async function events(host: RunHost, load: Load): Promise<number> {
  const startedAt = performance.now()
  const one = async () => host.wait(await begin(host, load), 'o', NEVER)
  const runs = await Promise.all(Array.from({ length: load.runs }, one))
  if (runs.some(({ status }) => status !== 'completed')) throw new Error('a run has failed')
  return (load.runs * load.pieces) / ((performance.now() - startedAt) / 1000)
}

const hostOf = (state: LocalState): RunHost => createLocalHost({ ...state, settings: SETTINGS })

/** What another process of this file is told to do. */
async function serve(url: string, listenUrl: string | undefined): Promise<void> {
  const host = hostOf(postgresState({ url, listenUrl }))
  await host.list('o', { limit: 1 })
  process.on('message', async (told: { load?: Load; begin?: Load }) => {
    if (told.load) process.send?.({ events: await events(host, told.load) })
    if (told.begin) process.send?.({ id: await begin(host, told.begin) })
  })
  process.on('disconnect', () => process.exit())
  process.send?.({ ready: true })
}

async function neighbour(url: string, listenUrl?: string): Promise<ChildProcess> {
  const child = fork(import.meta.filename, [url, listenUrl ?? ''], { stdio: 'inherit' })
  await once(child, 'message')
  return child
}

async function ask<T>(child: ChildProcess, told: object): Promise<T> {
  child.send(told)
  const [answer] = await once(child, 'message')
  return answer as T
}

async function microsecondsOf(count: number, act: () => Promise<unknown>): Promise<number> {
  const times: number[] = []
  for (let i = 0; i < count; i++) {
    const startedAt = performance.now()
    await act()
    times.push((performance.now() - startedAt) * 1000)
  }
  return median(times)
}

async function acts(state: LocalState): Promise<number[]> {
  const host = hostOf(state)
  const ended: string[] = []
  const whole = async () => {
    const id = await begin(host, { runs: 1, pieces: 1, everyMs: 0 })
    await host.wait(id, 'o', NEVER)
    ended.push(id)
  }
  for (let i = 0; i < 100; i++) await whole()
  let log = 0
  return [
    await microsecondsOf(200, () => begin(host, { runs: 1, pieces: 0, everyMs: 0 })),
    await microsecondsOf(200, async () => state.store.write(tx => tx.append('bench', String(log++)))),
    await microsecondsOf(200, () => host.get(ended[0]!, 'o')),
    await microsecondsOf(200, () => host.list('o', { limit: 50 })),
    await microsecondsOf(100, whole),
  ]
}

/** Milliseconds from an agent's yield in another process to a follower here. */
async function latencies(host: RunHost, other: ChildProcess): Promise<number[]> {
  const { id } = await ask<{ id: string }>(other, { begin: { runs: 1, pieces: 200, everyMs: 10 } })
  const follower: Follower = await host.follow(id, 'o', 0)
  const times: number[] = []
  for (let batch = await follower.next(); batch; batch = await follower.next()) {
    for (const { data } of batch) {
      const at = /piece \d+ (\d+)/.exec(data)?.[1]
      if (at !== undefined) times.push(Date.now() - Number(at))
    }
  }
  // The first ones come before anyone listens.
  return times.slice(20).sort((a, b) => a - b)
}

/** Milliseconds from a cancel here to the signal of a silent agent in another process. */
async function cancelled(host: RunHost, other: ChildProcess): Promise<number> {
  const { id } = await ask<{ id: string }>(other, {
    begin: { runs: 1, pieces: 1, everyMs: 0, isSilent: true },
  })
  await later(200)
  const stopped = once(other, 'message')
  const startedAt = Date.now()
  await host.cancel(id, 'o')
  const [{ stoppedAt }] = (await stopped) as [{ stoppedAt: number }]
  return stoppedAt - startedAt
}

/** Milliseconds from the kill of another process to the end that a follower here is told. */
async function death(host: RunHost, url: string): Promise<number> {
  const other = await neighbour(url, url)
  const { id } = await ask<{ id: string }>(other, {
    begin: { runs: 1, pieces: 1, everyMs: 0, isSilent: true },
  })
  const follower = await host.follow(id, 'o', 0)
  await follower.next()
  other.kill('SIGKILL')
  const startedAt = performance.now()
  while ((await follower.next()) !== undefined);
  return performance.now() - startedAt
}

const step = (text: string) => console.error(`… ${text}`)

async function actsTable(states: readonly (readonly [string, LocalState])[]): Promise<void> {
  step('acts')
  console.log(
    '| µs | start | append | get | list of 50 | start, one event, end, wait |\n|---|---|---|---|---|---|',
  )
  for (const [name, state] of states) {
    const times = await acts(state)
    console.log(`| ${name} | ${times.map(time => time.toFixed(0)).join(' | ')} |`)
    state.store.close()
  }
}

/** Medians of several rounds. */
async function medianOf(count: number, measure: () => Promise<number>): Promise<number> {
  const all: number[] = []
  for (let round = 0; round < count; round++) all.push(await measure())
  return median(all)
}

async function eventsTable(states: readonly (readonly [string, LocalState])[]): Promise<void> {
  step('events in one process')
  const loads: readonly Load[] = [
    { runs: 50, pieces: 200, everyMs: 1 },
    { runs: 200, pieces: 100, everyMs: 5 },
    { runs: 1, pieces: 5000, everyMs: 0 },
  ]
  const names = loads.map(({ runs, pieces, everyMs }) => `${runs} × ${pieces}, ${everyMs} ms`)
  console.log(`\n| events/s | ${names.join(' | ')} |\n|---|---|---|---|`)
  for (const [name, state] of states) {
    const host = hostOf(state)
    const cells: string[] = []
    for (const load of loads) cells.push((await medianOf(ROUNDS, () => events(host, load))).toFixed(0))
    console.log(`| ${name} | ${cells.join(' | ')} |`)
    state.store.close()
  }
}

async function processesTable(database: () => Promise<string>): Promise<void> {
  step('events in several processes')
  const loads: readonly Load[] = [
    { runs: 50, pieces: 200, everyMs: 1 },
    { runs: 200, pieces: 100, everyMs: 5 },
  ]
  const names = loads.map(({ runs }) => `${runs} runs each`)
  console.log(`\n| processes, events/s in all | ${names.join(' | ')} |\n|---|---|---|`)
  for (const count of [1, 2, 3]) {
    const url = await database()
    const children = await Promise.all(Array.from({ length: count }, () => neighbour(url)))
    const cells: string[] = []
    for (const load of loads) {
      const all = await medianOf(ROUNDS, async () => {
        const told = await Promise.all(children.map(child => ask<{ events: number }>(child, { load })))
        return told.reduce((sum, one) => sum + one.events, 0)
      })
      cells.push(all.toFixed(0))
    }
    console.log(`| ${count} | ${cells.join(' | ')} |`)
    for (const child of children) child.disconnect()
  }
}

async function acrossTable(database: () => Promise<string>): Promise<void> {
  step('from one process to another')
  console.log('\n| events of another process | median | p95 | most |\n|---|---|---|---|')
  for (const listens of [true, false]) {
    const url = await database()
    const host = hostOf(postgresState({ url, ...(listens && { listenUrl: url }) }))
    const other = await neighbour(url, listens ? url : undefined)
    await later(500)
    const times = await latencies(host, other)
    const at = (part: number) => times[Math.floor((times.length - 1) * part)]
    const name = listens ? 'with `listenUrl`' : 'without'
    console.log(`| ${name} | ${at(0.5)} ms | ${at(0.95)} ms | ${at(1)} ms |`)
    other.disconnect()
  }
  const url = await database()
  const host = hostOf(postgresState({ url, listenUrl: url }))
  const other = await neighbour(url, url)
  await later(500)
  const stopped = await medianOf(9, () => cancelled(host, other))
  console.log(`\nA silent agent of another process is stopped ${stopped} ms after its cancel.`)
  other.disconnect()
  const deaths: string[] = []
  while (deaths.length < 3) deaths.push(((await death(host, url)) / 1000).toFixed(1))
  console.log(`A follower is told of a killed process after ${deaths.join(', ')} s.`)
}

async function main(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'servable-bench-'))
  const server = await startPostgres({ isDurable: true })
  try {
    const states = async (name: string) =>
      [
        ['memory', memoryState({ maxRuns: 100_000, maxBytes: 2 ** 31 })],
        ['SQLite', sqliteState({ path: join(folder, `${name}.db`) })],
        ['PostgreSQL', postgresState({ url: await server.database() })],
      ] as const
    await actsTable(await states('acts'))
    await eventsTable(await states('events'))
    await processesTable(server.database)
    await acrossTable(server.database)
  } finally {
    await server.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

const [, , url, listenUrl] = process.argv
if (process.send !== undefined && url !== undefined) await serve(url, listenUrl || undefined)
else {
  await main()
  process.exit()
}
