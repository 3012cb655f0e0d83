/**
 * What the search text of runs costs: bytes and time of a run with text and of one without, in turn, in SQLite and in PostgreSQL. Run with
 * `node bench/search.ts`, or `node bench/search.ts sqlite` for SQLite alone.
 */

import { globSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { DatabaseSync } from 'node:sqlite'
import { fileURLToPath } from 'node:url'
import postgres from 'postgres'
import type { LocalState } from '../src/core/local-state.ts'
import { Agent } from '../src/index.ts'
import type { RunHost } from '../src/runs/stored/host.ts'
import { createLocalHost } from '../src/runs/stored/local-host.ts'
import { postgresState } from '../src/runtimes/postgres.ts'
import { sqliteState } from '../src/runtimes/sqlite.ts'
import type { Document, Transaction } from '../src/stores/store.ts'
import { startPostgres } from '../test/runtimes/postgres/server.ts'
import { median } from './measure.ts'
import { SETTINGS } from './settings.ts'

const ROUNDS = 5
const RUNS = 500

/** Words as people write them: random letters would have far more trigrams. */
const prose = globSync(fileURLToPath(new URL('../docs/**/*.md', import.meta.url)))
  .sort()
  .map(file => readFileSync(file, 'utf8'))
  .join('\n')
  .replace(/\s+/g, ' ')

let seed = 1
function some(length: number): string {
  seed = (seed * 1_103_515_245 + 12_345) & 0x7fffffff
  const at = Math.floor((seed / 0x7fffffff) * (prose.length - length))
  return prose.slice(at, at + length)
}

interface Shape {
  readonly input: number
  readonly output: number
}

/** An agent that streams its answer in pieces as a model does. */
function answering({ output }: Shape) {
  return new Agent({
    name: 'answers',
    register: false,
    async *run() {
      const text = some(output)
      for (let at = 0; at < text.length; at += 20) yield text.slice(at, at + 20)
    },
  })
}

/** The state, whose documents lose their text if they shall have none. */
function stateOf(state: LocalState, hasText: boolean): LocalState {
  if (hasText) return state
  const without = (tx: Transaction): Transaction =>
    new Proxy(tx, {
      get(target, name) {
        const value = Reflect.get(target, name, target)
        if (name === 'put')
          return (
            collection: string,
            { text: _, ...document }: Document & { text?: string },
            eviction?: object,
          ) => target.put(collection, document, eviction)
        return typeof value === 'function' ? value.bind(target) : value
      },
    })
  const { store } = state
  return {
    ...state,
    store: Object.assign(Object.create(store), {
      write: (work: (tx: Transaction) => unknown, patience?: number) =>
        store.write(tx => work(without(tx)), patience),
    }),
  }
}

function hostOf(state: LocalState, hasText: boolean): RunHost {
  return createLocalHost({ ...stateOf(state, hasText), settings: { ...SETTINGS, keepInput: true } })
}

const NEVER = new AbortController().signal

async function runs(host: RunHost, shape: Shape, count: number): Promise<{ us: number; cpu: number }> {
  const servable = answering(shape)
  const target = { kind: 'agent', name: 'answers', servable } as never
  const [at, before] = [performance.now(), process.cpuUsage()]
  for (let i = 0; i < count; i++) {
    const { id } = await host.start({
      target,
      input: some(shape.input),
      options: {},
      owner: 'o',
      isBackground: true,
    })
    await host.wait(id, 'o', NEVER)
  }
  const { user, system } = process.cpuUsage(before)
  return { us: ((performance.now() - at) / count) * 1000, cpu: (user + system) / count }
}

/** A place that holds runs, with or without text. */
interface Place {
  readonly host: RunHost
  /** Bytes of all that was written. */
  bytes(): Promise<number>
}

async function compareIn(
  name: string,
  shape: Shape,
  make: (hasText: boolean) => Promise<Place>,
): Promise<void> {
  const places = [await make(false), await make(true)] as const
  const results: { us: number; cpu: number; bytes: number }[][] = [[], []]
  for (const { host } of places) await runs(host, shape, 100)
  for (let round = 0; round < ROUNDS; round++) {
    for (const which of round % 2 === 0 ? [0, 1] : [1, 0]) {
      const { host, bytes } = places[which]!
      const before = await bytes()
      const times = await runs(host, shape, RUNS)
      results[which]!.push({ ...times, bytes: ((await bytes()) - before) / RUNS })
    }
  }
  const mean = (list: readonly number[]) => list.reduce((sum, each) => sum + each) / list.length
  const line = (what: 'us' | 'cpu' | 'bytes', unit: string) => {
    const of = what === 'bytes' ? mean : median
    const [without = 0, having = 0] = results.map(list => of(list.map(each => each[what])))
    return `${unit} ${without.toFixed(0)} → ${having.toFixed(0)} (${((having / without - 1) * 100).toFixed(1)} %)`
  }
  const all = [line('bytes', 'bytes'), line('us', 'µs'), line('cpu', 'µs of CPU')]
  console.log(`${name}, ${shape.input} + ${shape.output} characters: ${all.join(', ')}`)
}

const SHAPES: readonly Shape[] = [
  { input: 200, output: 1500 },
  { input: 2048, output: 2048 },
]

const folder = mkdtempSync(join(tmpdir(), 'servable-bench-'))

async function inSqlite(shape: Shape, hasText: boolean): Promise<Place> {
  const path = join(folder, `${shape.input}-${hasText}.db`)
  return {
    host: hostOf(sqliteState({ path, maxRuns: 1_000_000 }), hasText),
    async bytes() {
      const database = new DatabaseSync(path)
      database.exec('PRAGMA wal_checkpoint(TRUNCATE)')
      database.close()
      return statSync(path).size
    },
  }
}

/** Bytes are those of the log of the database: what it writes at once, and sends to its replicas. */
async function inPostgres(url: string, hasText: boolean): Promise<Place> {
  const sql = postgres(url, { max: 1 })
  return {
    host: hostOf(postgresState({ url, schema: hasText ? 'having' : 'without' }), hasText),
    async bytes() {
      const [row] = await sql`SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0') AS bytes`
      return Number(row?.bytes)
    },
  }
}

try {
  for (const shape of SHAPES) await compareIn('SQLite', shape, hasText => inSqlite(shape, hasText))
  if (process.argv[2] !== 'sqlite') {
    const server = await startPostgres({ isDurable: true })
    for (const shape of SHAPES) {
      const url = await server.database()
      await compareIn('PostgreSQL', shape, hasText => inPostgres(url, hasText))
    }
    await server.stop()
  }
} finally {
  rmSync(folder, { recursive: true })
}
process.exit()
