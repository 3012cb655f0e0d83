/**
 * Runs of several kinds on processes over one PostgreSQL that meet faults: `kill -9`, freezes, stops of the database, and more. Rounds
 * come one after the other, each with a schema of its own; in two of three, the clocks of the processes are a minute wrong.
 */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { JOURNAL } from '../../../src/runs/stored/journal.ts'
import { RUNNING, RUNS } from '../../../src/runs/stored/record.ts'
import { postgresDriver } from '../../../src/stores/postgres/driver.ts'
import { postgresStore } from '../../../src/stores/postgres/store.ts'
import { newFolder, onDisk } from '../../contracts/run-host/folder.ts'
import { type PostgresServer, startPostgres } from '../postgres/server.ts'
import { wrongWith } from './checks.ts'
import { Absences, type FaultEffect } from './effects.ts'
import { Fleet } from './fleet.ts'
import { KINDS, type Played, play, type RunKind } from './play.ts'
import { disturb, type FaultCounts, type FaultName, noFaults } from './schedule.ts'

export interface FaultsOptions {
  readonly runs: number
  /** Decides the faults, and what clients do. */
  readonly seed: number
  /** Runs of a round. */
  readonly perRound?: number
  /** Runs at work at a time. */
  readonly atOnce?: number
  readonly onRound?: (round: number, figures: FaultFigures) => void
}

/** What came of it. */
export interface FaultFigures {
  readonly runs: Record<RunKind, number>
  readonly faults: FaultCounts
  /** How often a run was cut off and went on, and how often one at most. */
  cuts: number
  mostCuts: number
  effects: number
  /** Effects that were done again, as their process lost the run before their record. */
  again: number
  readers: number
  reconnects: number
  answersSent: number
  answersApplied: number
  ms: number
  readonly wrong: string[]
}

const PER_ROUND = 400
const AT_ONCE = 80
const MINUTE_MS = 60_000
const SKEWS = [
  [MINUTE_MS, -MINUTE_MS, 0],
  [0, MINUTE_MS, 0],
  [0, 0, 0],
]

/** Numbers from 0 to 1 that look random. */
function randomOf(seed: number): () => number {
  let state = seed % 2_147_483_647 || 1
  return () => {
    state = (state * 48_271) % 2_147_483_647
    return state / 2_147_483_647
  }
}

export async function faults(options: FaultsOptions): Promise<FaultFigures> {
  const { runs, seed, perRound = PER_ROUND, atOnce = AT_ONCE, onRound } = options
  const figures: FaultFigures = {
    runs: { order: 0, asks: 0, helper: 0, approved: 0 },
    faults: noFaults(),
    ...{ cuts: 0, mostCuts: 0, effects: 0, again: 0, readers: 0, reconnects: 0 },
    ...{ answersSent: 0, answersApplied: 0, ms: 0, wrong: [] },
  }
  const random = randomOf(seed)
  const database = await startPostgres()
  try {
    for (let round = 0, left = runs; left > 0; round++, left -= perRound) {
      await playRound({ database, round, count: Math.min(left, perRound), atOnce, random }, figures)
      onRound?.(round, figures)
    }
  } finally {
    await database.stop()
  }
  return figures
}

interface Round {
  readonly database: PostgresServer
  readonly round: number
  readonly count: number
  readonly atOnce: number
  readonly random: () => number
}

async function playRound({ database, round, count, atOnce, random }: Round, figures: FaultFigures) {
  const begin = performance.now()
  const schema = `faults_${round}`
  const folder = await newFolder(onDisk())
  const file = join(folder.path, 'effects')
  const admin = postgresDriver(`${database.url}?statement_timeout=0`, {
    ...{ max: 1, prepare: false, ssl: undefined },
  })
  const absences = new Absences()
  const env = {
    ...{ DATABASE: database.url, LISTEN: database.url, SCHEMA: schema, MAX: '4' },
    EFFECTS: file,
  }
  const fleet = new Fleet({ env, skews: SKEWS[round % SKEWS.length] ?? [], absences })
  const over = new AbortController()
  try {
    await fleet.begin()
    const world = { fleet, database, admin, absences }
    const disturbed = disturb(world, { random, signal: over.signal, counts: figures.faults })
    const played = await playAll(fleet, { count, atOnce, random }).finally(() => over.abort())
    await disturbed
    const effects = await effectsIn(file)
    note(figures, { played, effects, absences })
    figures.wrong.push(...(await wrongInStore(database.url, schema, played)), ...fleet.logs())
  } finally {
    over.abort()
    await fleet.stop()
    await admin.end()
    await folder.remove()
    figures.ms += performance.now() - begin
  }
}

/** Plays so many runs, some of them at a time. */
async function playAll(
  fleet: Fleet,
  { count, atOnce, random }: Pick<Round, 'count' | 'atOnce' | 'random'>,
): Promise<Played[]> {
  const played: Played[] = []
  let begun = 0
  const lane = async () => {
    while (begun < count) {
      const kind = KINDS[begun++ % KINDS.length] ?? 'order'
      const input = `${kind}-${crypto.randomUUID()}`
      // A client that gives up is one of the figures too.
      const failed = (error: unknown): Played => ({
        ...{ kind, input, runs: [], answersSent: 0, wrong: [`${input}: ${error}`] },
      })
      played.push(await play(fleet, { kind, input }, random).catch(failed))
    }
  }
  await Promise.all(Array.from({ length: atOnce }, lane))
  return played
}

async function effectsIn(file: string): Promise<FaultEffect[]> {
  const text = await readFile(file, 'utf8')
  return text.split('\n').flatMap(line => (line === '' ? [] : (JSON.parse(line) as FaultEffect)))
}

/** Adds what came of a round. */
function note(
  figures: FaultFigures,
  {
    played,
    effects,
    absences,
  }: {
    readonly played: readonly Played[]
    readonly effects: readonly FaultEffect[]
    readonly absences: Absences
  },
): void {
  const byRun = Map.groupBy(effects, ({ key }) => key.slice(0, key.indexOf('/')))
  figures.effects += effects.length
  figures.again += effects.length - new Set(effects.map(({ key }) => key)).size
  for (const each of played) {
    const first = each.runs[0]?.record.id ?? ''
    // The model knows the input alone.
    const own = [...(byRun.get(first) ?? []), ...(byRun.get(each.input) ?? [])]
    figures.wrong.push(...wrongWith(each, own, absences))
    figures.runs[each.kind]++
    figures.answersSent += each.answersSent
    figures.answersApplied += each.runs.length - 1
    for (const { readings, log } of each.runs) {
      const cuts = log.filter(({ data }) => JSON.parse(data).type === 'resumed').length
      figures.cuts += cuts
      figures.mostCuts = Math.max(figures.mostCuts, cuts)
      figures.readers += readings.length
      for (const { connections } of readings) figures.reconnects += Math.max(0, connections - 1)
    }
  }
}

/** The store has the runs that clients know, and nothing that is at work. */
async function wrongInStore(url: string, schema: string, played: readonly Played[]): Promise<string[]> {
  const driver = postgresDriver(url, { max: 1, prepare: false, ssl: undefined })
  const store = postgresStore({ driver, schema })
  try {
    const counts = await store.read(tx => [RUNS, RUNNING, JOURNAL].map(each => tx.count(each)))
    const must = [played.reduce((sum, { runs }) => sum + runs.length, 0), 0, 0]
    return counts.join() === must.join()
      ? []
      : [`${schema}: the store has ${counts} runs, slots and journals, not ${must}`]
  } finally {
    await store.close()
  }
}

/** The figures as lines of a table. */
export function tableOf({ runs, faults, wrong, ms, ...more }: FaultFigures): string {
  const total = Object.values(runs).reduce((sum, each) => sum + each, 0)
  const rows: (readonly [string, unknown])[] = [
    ['runs', `${total}: ${Object.entries(runs).map(([kind, count]) => `${count} ${kind}`)}`],
    ...(Object.keys(faults) as FaultName[]).map(name => [name, faults[name]] as const),
    ['cut off and gone on, in all and most', `${more.cuts}, ${more.mostCuts} times`],
    ['effects', more.effects],
    ['of them again, before their record', more.again],
    ['readers', more.readers],
    ['reconnections of them', more.reconnects],
    ['answers sent', more.answersSent],
    ['answers applied', more.answersApplied],
    ['seconds', Math.round(ms / 1000)],
    ['wrong', wrong.length],
  ]
  return rows.map(([name, value]) => `| ${name} | ${value} |`).join('\n')
}
