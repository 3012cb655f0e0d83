/**
 * Kills servers with `kill -9` at random moments of their workflows, starts them again, and checks what the workflows did. Nobody
 * asks a server to go on.
 */
import { copyFile, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { JournalEntry } from '../../src/agents/work.ts'
import type { RunRecord } from '../../src/index.ts'
import { JOURNAL } from '../../src/runs/journal.ts'
import { RUNS, type StoredRun } from '../../src/runs/record.ts'
import { sqliteStore } from '../../src/runtimes/sqlite/store.ts'
import type { Reader } from '../../src/state/store.ts'
import { jsonRequest } from '../contracts/http/client.ts'
import { newFolder } from '../contracts/run-host/folder.ts'
import type { Effect } from './entries/kills-workflow.ts'
import { type Runtime, type StartOptions, startBun, startDeno, startNode } from './harness.ts'
import { ending, wrongAtOnce, wrongWith } from './kills-checks.ts'

/** Starts a server that keeps all in a folder. */
export type StartKilled = (folder: string, options: StartOptions) => Promise<Runtime>

const entry = (runtime: string) => `test/runtimes/entries/kills-${runtime}.ts`

export const STARTS: Readonly<Record<'Node' | 'Bun' | 'Deno', StartKilled>> = {
  Node: (_, options) => startNode(entry('node'), options),
  Bun: (_, options) => startBun(entry('bun'), options),
  Deno: (folder, options) =>
    startDeno(entry('deno'), {
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
  /** Workflows at work at a time. */
  readonly atOnce?: number
  /** Most milliseconds that a server lives. */
  readonly maxLifeMs?: number
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

/** Kills servers on one database, one after the other. The last one lives until all workflows have ended. */
export async function killing(given: Killing): Promise<Killed> {
  const { start, kills, atOnce = DEFAULT_AT_ONCE, maxLifeMs = DEFAULT_LIFE_MS } = given
  const random = randomOf(given.seed)
  const folder = await newFolder()
  const seen = new Seen(folder.path)
  let server: Runtime | undefined
  try {
    for (let generation = 1; generation <= kills; generation++) {
      server = await start(folder.path, { env: seen.env(generation) })
      const life = pause(random() * maxLifeMs)
      const orders = seen.order(server.url, atOnce)
      await life
      await server.kill()
      await orders
      await seen.look(generation)
    }
    server = await start(folder.path, { env: seen.env(kills + 1) })
    await seen.order(server.url, 0)
    return { kills, ...(await seen.ended(server.url)) }
  } finally {
    await server?.stop()
    await folder.remove()
  }
}

/** What is known of the runs of one database. */
class Seen {
  readonly #folder: string
  /** The ids of runs by their idempotency keys; undefined where the server died before it told. */
  readonly #orders = new Map<string, string | undefined>()
  readonly #ended = new Set<string>()
  /** In which generation a piece of work, or all of a run, was found to be recorded. */
  readonly #recorded = new Map<string, number>()
  readonly #cuts = new Map<string, number>()
  readonly #wrong: string[] = []

  constructor(folder: string) {
    this.#folder = folder
  }

  env(generation: number): Record<string, string> {
    return { DATABASE: this.#file('runs.db'), EFFECTS: this.#file('effects'), GENERATION: `${generation}` }
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

  /** Reads in a copy of a dead server's database what is recorded. */
  async look(generation: number): Promise<void> {
    const copy = this.#file('copy.db')
    for (const more of ['', '-wal'])
      await copyFile(this.#file(`runs.db${more}`), `${copy}${more}`).catch(() => {})
    const effects = await this.#effects()
    const store = sqliteStore(copy)
    await store.read(tx => {
      for (const id of this.#orders.values()) if (id !== undefined) this.#lookAt(tx, id, generation, effects)
    })
    store.close?.()
  }

  #lookAt(tx: Reader, id: string, generation: number, effects: readonly Effect[]): void {
    const record = tx.get<StoredRun>(RUNS, id)?.value.record
    const entries = tx.list<JournalEntry>(JOURNAL, { partition: id, limit: 1000 })
    const done = entries.flatMap(({ value }) =>
      value.done === undefined ? [] : [`${id}/${value.done.path}`],
    )
    const hasEnded = record !== undefined && record.status !== 'running'
    for (const key of hasEnded ? [id] : done)
      if (!this.#recorded.has(key)) this.#recorded.set(key, generation)
    if (hasEnded) this.#ended.add(id)
    if (hasEnded || record === undefined) return
    this.#cuts.set(id, (this.#cuts.get(id) ?? 0) + 1)
    const unrecorded = effects.filter(({ key }) => key.startsWith(`${id}/`) && !this.#recorded.has(key))
    this.#wrong.push(...wrongAtOnce(id, unrecorded))
  }

  async #effects(): Promise<readonly Effect[]> {
    const text = await readFile(this.#file('effects'), 'utf8').catch(() => '')
    return text.split('\n').flatMap(line => (line === '' ? [] : (JSON.parse(line) as Effect)))
  }

  /** Waits for the end of all, and tells what came of them. */
  async ended(url: string): Promise<Omit<Killed, 'kills'>> {
    const runs = await Promise.all([...this.#orders.values()].map(id => ending(url, id ?? '')))
    const all = await this.#effects()
    const cuts = [...this.#cuts.values()]
    return {
      workflows: runs.length,
      cuts: cuts.reduce((sum, each) => sum + each, 0),
      mostCuts: Math.max(0, ...cuts),
      effects: all.length,
      again: all.length - new Set(all.map(({ key }) => key)).size,
      wrong: [...this.#wrong, ...runs.flatMap(run => wrongWith(run, all)), ...this.#doubled(all)],
    }
  }

  /** Effects that came again though they were recorded, or twice in one process. */
  #doubled(all: readonly Effect[]): string[] {
    const seen = new Set<string>()
    return all.flatMap(({ key, generation }) => {
      const once = `${key} in process ${generation}`
      const isSecond = seen.has(once)
      seen.add(once)
      const [id = ''] = key.split('/')
      const recorded = Math.min(
        ...[id, key].map(each => this.#recorded.get(each) ?? Number.POSITIVE_INFINITY),
      )
      if (isSecond) return [`${once}: twice`]
      return recorded < generation ? [`${once}: was recorded in process ${recorded}`] : []
    })
  }
}
