/**
 * Kills servers with `kill -9` at random moments of their workflows, starts them again, and checks what the workflows did. Nobody
 * asks a server to go on.
 */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { JournalEntry } from '../../src/agents/work/work.ts'
import type { RunRecord } from '../../src/index.ts'
import { JOURNAL } from '../../src/runs/stored/journal.ts'
import { RUNS, type StoredRun } from '../../src/runs/stored/record.ts'
import { sqliteStore } from '../../src/stores/sqlite/store.ts'
import type { Reader, Store } from '../../src/stores/store.ts'
import { jsonRequest } from '../contracts/http/client.ts'
import { newFolder, onDisk } from '../contracts/run-host/folder.ts'
import type { Effect } from './entries/kills-workflow.ts'
import { type Runtime, type StartOptions, startBun, startDeno, startNode } from './harness.ts'
import { ending, wrongAtOnce, wrongOwners, wrongWith } from './kills-checks.ts'

/** Starts a server that keeps all in a folder. */
export type StartKilled = (folder: string, options: StartOptions) => Promise<Runtime>

const ENTRY = 'test/runtimes/entries/kills-server.ts'

export const STARTS: Readonly<Record<'Node' | 'Bun' | 'Deno', StartKilled>> = {
  Node: (_, options) => startNode(ENTRY, options),
  Bun: (_, options) => startBun(ENTRY, options),
  Deno: (folder, options) =>
    startDeno(ENTRY, {
      ...options,
      names: ['GENERATION', 'VERSION', 'CHANGE'],
      allow: [`--allow-read=${folder}`, `--allow-write=${folder}`],
    }),
}

/** How servers are killed. */
export interface Killing {
  readonly start: StartKilled
  readonly kills: number
  /** Decides the moments. */
  readonly seed: number
  /** Processes on one database, of which one is killed at a time. Default: 1. */
  readonly neighbours?: number
  /** Workflows at work at a time. */
  readonly atOnce?: number
  /** Most milliseconds that a server lives. */
  readonly maxLifeMs?: number
  /** The database. Default: a SQLite file. */
  readonly database?: KilledDatabase
}

/** The database of servers that are killed: how they find it, and how it is read. */
export interface KilledDatabase {
  readonly env: Readonly<Record<string, string>>
  open(): Store
}

/** What came of it. */
export interface Killed {
  readonly kills: number
  /** Workflows that ended, all of them `completed`. */
  readonly workflows: number
  /** How often one was cut off. */
  readonly cuts: number
  readonly mostCuts: number
  readonly effects: number
  /** Effects that were done again, since the kill came before their record. */
  readonly again: number
  /** What does not hold. */
  readonly wrong: readonly string[]
}

const DEFAULT_AT_ONCE = 4
const DEFAULT_LIFE_MS = 400

/** Numbers from 0 to 1 that look random. */
function randomOf(seed: number): () => number {
  let state = seed % 2_147_483_647 || 1
  return () => {
    state = (state * 48_271) % 2_147_483_647
    return state / 2_147_483_647
  }
}

/** Kills servers on one database, one after the other. The last ones live until all workflows have ended. */
export async function killing(given: Killing): Promise<Killed> {
  const { start, kills, neighbours = 1, atOnce = DEFAULT_AT_ONCE, maxLifeMs = DEFAULT_LIFE_MS } = given
  const random = randomOf(given.seed)
  const folder = await newFolder(onDisk())
  const seen = new Seen(folder.path, given.database)
  const servers = new Map<number, Runtime>()
  let started = 0
  const moveIn = async () => {
    while (servers.size < neighbours) {
      const generation = ++started
      servers.set(generation, await start(folder.path, { env: seen.env(generation) }))
    }
    return [...servers][Math.floor(random() * servers.size)]!
  }
  try {
    for (let kill = 0; kill < kills; kill++) {
      const [generation, server] = await moveIn()
      const life = pause(random() * maxLifeMs)
      const orders = seen.order(server.url, atOnce)
      await life
      // A slow machine may have begun nothing by now, and then no kill would cut anything off.
      if (!seen.hasBegun) await orders
      seen.killed(generation)
      await server.kill()
      servers.delete(generation)
      await orders
      await seen.look()
    }
    const [, { url }] = await moveIn()
    await seen.order(url, 0)
    return { kills, ...(await seen.ended(url)) }
  } finally {
    for (const server of servers.values()) await server.stop()
    seen.close()
    await folder.remove()
  }
}

/** What is known of the runs of one database. */
class Seen {
  readonly #folder: string
  /** The ids of runs by their idempotency keys; undefined where the server died before it told. */
  readonly #orders = new Map<string, string | undefined>()
  readonly #ended = new Set<string>()
  /** How many effects there were when a piece of work, or all of a run, was found to be recorded. */
  readonly #recorded = new Map<string, number>()
  /** When processes were killed, in milliseconds since 1970. */
  readonly #killed = new Map<number, number>()
  readonly #wrong: string[] = []
  #store: Store | undefined

  readonly #database: KilledDatabase

  constructor(folder: string, database?: KilledDatabase) {
    this.#folder = folder
    const file = this.#file('runs.db')
    this.#database = database ?? { env: { DATABASE: file }, open: () => sqliteStore(file) }
  }

  close(): void {
    this.#store?.close()
  }

  killed(generation: number): void {
    this.#killed.set(generation, Date.now())
  }

  env(generation: number): Record<string, string> {
    return { ...this.#database.env, EFFECTS: this.#file('effects'), GENERATION: `${generation}` }
  }

  /** Whether a server has told the id of a run. */
  get hasBegun(): boolean {
    return [...this.#orders.values()].some(id => id !== undefined)
  }

  #file(name: string): string {
    return join(this.#folder, name)
  }

  /** Asks again what had no answer, and has so many at work. Never rejects: a server may die meanwhile. */
  async order(url: string, atOnce: number): Promise<void> {
    for (let open = this.#orders.size - this.#ended.size; open < atOnce; open++)
      this.#orders.set(crypto.randomUUID(), undefined)
    const asked = [...this.#orders].filter(([, id]) => id === undefined)
    await Promise.allSettled(
      asked.map(async ([key]) => {
        const headers = { prefer: 'respond-async', 'idempotency-key': key }
        const answer = await fetch(
          `${url}/api/workflows/order/run`,
          jsonRequest({ input: key.slice(0, 8) }, headers),
        )
        this.#orders.set(key, ((await answer.json()) as RunRecord).id)
      }),
    )
  }

  /** Reads what is recorded: the killed processes record no more. */
  async look(): Promise<void> {
    this.#store ??= this.#database.open()
    const before = await this.#effects()
    // A store that is far away runs this more than once.
    const found = await this.#store.read(tx =>
      [...this.#orders.values()].flatMap(id => (id === undefined ? [] : recordedOf(tx, id, before))),
    )
    const { length } = await this.#effects()
    for (const { id, hasEnded, keys, wrong } of found) {
      if (hasEnded) this.#ended.add(id)
      this.#wrong.push(...wrong)
      for (const key of keys) if (!this.#recorded.has(key)) this.#recorded.set(key, length)
    }
  }

  async #effects(): Promise<readonly Effect[]> {
    const text = await readFile(this.#file('effects'), 'utf8').catch(() => '')
    return text.split('\n').flatMap(line => (line === '' ? [] : (JSON.parse(line) as Effect)))
  }

  /** Waits for the end of all, and tells what came of them. */
  async ended(url: string): Promise<Omit<Killed, 'kills'>> {
    const runs = await Promise.all([...this.#orders.values()].map(id => ending(url, id ?? '')))
    const all = await this.#effects()
    const cuts = runs.map(({ events }) => events.filter(({ type }) => type === 'resumed').length)
    const late = all.filter(({ key }, index) =>
      [key, key.split('/')[0] ?? ''].some(each => index >= (this.#recorded.get(each) ?? all.length)),
    )
    return {
      workflows: runs.length,
      cuts: cuts.reduce((sum, each) => sum + each, 0),
      mostCuts: Math.max(0, ...cuts),
      effects: all.length,
      again: all.length - new Set(all.map(({ key }) => key)).size,
      wrong: [
        ...this.#wrong,
        ...late.map(({ key }) => `${key}: came again after its record`),
        ...runs.flatMap(run => [...wrongWith(run, all), ...wrongOwners(run.record.id, all, this.#killed)]),
      ],
    }
  }
}

/** What is recorded of a run: its id once it has ended, else the keys of what it has done. */
function recordedOf(tx: Reader, id: string, effects: readonly Effect[]) {
  const record = tx.get<StoredRun>(RUNS, id)?.value.record
  if (record !== undefined && record.status !== 'running')
    return { id, hasEnded: true, keys: [id], wrong: [] }
  const entries = tx.list<JournalEntry>(JOURNAL, { partition: id, limit: 1000 })
  const keys = entries.flatMap(({ value: { done } }) => (done === undefined ? [] : [`${id}/${done.path}`]))
  const unrecorded = effects.filter(({ key }) => key.startsWith(`${id}/`) && !keys.includes(key))
  return { id, hasEnded: false, keys, wrong: wrongAtOnce(id, unrecorded) }
}
