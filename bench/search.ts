/**
 * What the search text of runs costs: bytes and time of a run with text and of one without, in turn, in SQLite and in PostgreSQL. Run with
 * `node bench/search.ts`, or `node bench/search.ts sqlite` for SQLite alone.
 */

import { globSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { fileURLToPath } from 'node:url'
import { Agent } from '../src/index.ts'
import type { RunHost } from '../src/runs/stored/host.ts'
import { createLocalHost } from '../src/runs/stored/local-host.ts'
import type { LocalState } from '../src/runs/stored/local-state.ts'
import { sqliteState } from '../src/runtimes/sqlite.ts'
import type { Document, Transaction } from '../src/stores/store.ts'
import { median } from './measure.ts'
import { SETTINGS } from './settings.ts'

const ROUNDS = 7
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
  const results: { us: number; cpu: number }[][] = [[], []]
  for (const { host } of places) await runs(host, shape, 100)
  const before = await Promise.all(places.map(place => place.bytes()))
  for (let round = 0; round < ROUNDS; round++) {
    for (const which of round % 2 === 0 ? [0, 1] : [1, 0])
      results[which]!.push(await runs(places[which]!.host, shape, RUNS))
  }
  const after = await Promise.all(places.map(place => place.bytes()))
  const bytes = after.map((each, which) => (each - before[which]!) / (ROUNDS * RUNS))
  const of = (member: 'us' | 'cpu') => results.map(list => median(list.map(each => each[member])))
  const line = (what: string, [without = 0, having = 0]: number[]) =>
    `${what} ${without.toFixed(0)} → ${having.toFixed(0)} (+${((having / without - 1) * 100).toFixed(1)} %)`
  console.log(
    `${name}, ${shape.input} + ${shape.output}: ${line('bytes', bytes)}, ${line('µs', of('us'))}, ${line('µs of CPU', of('cpu'))}`,
  )
}

const SHAPES: readonly Shape[] = [
  { input: 200, output: 1500 },
  { input: 2048, output: 2048 },
]

const folder = mkdtempSync(join(tmpdir(), 'servable-bench-'))
try {
  for (const shape of SHAPES) {
    await compareIn('SQLite', shape, async hasText => {
      const path = join(folder, `${shape.input}-${hasText}.db`)
      const host = hostOf(sqliteState({ path, maxRuns: 1_000_000 }), hasText)
      const { DatabaseSync } = await import('node:sqlite')
      return {
        host,
        async bytes() {
          const database = new DatabaseSync(path)
          if (process.env.DEBUG)
            console.log(
              database.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get(),
              database
                .prepare('SELECT collection, count(*), sum(length(value)) FROM documents GROUP BY 1')
                .all(),
              database.prepare('SELECT count(*), sum(length(data)) FROM entries').all(),
              statSync(path).size,
              statSync(`${path}-wal`).size,
            )
          database.exec('PRAGMA wal_checkpoint(TRUNCATE)')
          database.close()
          return statSync(path).size
        },
      }
    })
  }
} finally {
  rmSync(folder, { recursive: true })
}
