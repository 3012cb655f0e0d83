/**
 * Whole runs whose state is in PostgreSQL, beside Mastra with `@mastra/pg`: workflows with one step and with three, and an agent with two
 * tools and a scripted model. Each is a process of its own with its own database on one server, whose commits wait for the disk. Run
 * with `node bench/peers/postgres.ts [part of a shape's name]`.
 */

import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import process from 'node:process'
import { fileURLToPath } from 'node:url'
import { postgresDriver } from '../../src/stores/postgres/driver.ts'
import { startPostgres } from '../../test/runtimes/postgres/server.ts'
import { compare, table } from '../measure.ts'
import { installPeers } from './install.ts'
import type { Load, Shape } from './stored-workflow.ts'

const SHAPES: readonly Shape[] = ['one step', 'three steps', 'agent', 'agent in a session']
const ROUNDS = 9

/** An agent takes several times as long as a workflow, so it has fewer runs. */
function loadsOf(shape: Shape): readonly [Load, Load] {
  const [one, many] = shape.startsWith('agent') ? [60, 300] : [200, 1000]
  return [
    { shape, runs: one, atOnce: 1 },
    { shape, runs: many, atOnce: 50 },
  ]
}

type Driver = ReturnType<typeof postgresDriver>

interface Side {
  readonly name: string
  readonly child: ChildProcess
  readonly driver: Driver
}

async function started(name: string, entry: string, url: string): Promise<Side> {
  const child = fork(fileURLToPath(new URL(entry, import.meta.url)), [url], { stdio: 'inherit' })
  await once(child, 'message')
  return { name, child, driver: postgresDriver(url, { max: 1, prepare: false, ssl: undefined }) }
}

/** Runs a second. */
async function measured({ child }: Side, load: Load): Promise<number> {
  child.send(load)
  const [runs] = await once(child, 'message')
  return Number(runs)
}

/** Rows that stand in each table, so that nobody keeps nothing. */
async function kept({ driver }: Side): Promise<Map<string, number>> {
  const tables = await driver.query(
    "SELECT oid::regclass::text AS name FROM pg_class WHERE relkind = 'r' AND relnamespace::regnamespace::text !~ '^(pg_|information)'",
    [],
  )
  const counts = new Map<string, number>()
  for (const { name } of tables) {
    const [row] = await driver.query(`SELECT count(*)::int AS rows FROM ${name}`, [])
    counts.set(String(name), Number(row?.rows))
  }
  return counts
}

/** What a run asks of the database and leaves there, while nobody else is at work. */
async function asked(side: Side, shape: Shape): Promise<string> {
  const { driver, name } = side
  const [load] = loadsOf(shape)
  const { runs } = load
  const before = await kept(side)
  await driver.query('SELECT pg_stat_statements_reset()', [])
  const [start] = await driver.query('SELECT pg_current_wal_lsn()::text AS at', [])
  await measured(side, load)
  const [wal] = await driver.query(`SELECT pg_current_wal_lsn() - '${start?.at}'::pg_lsn AS bytes`, [])
  const [sum] = await driver.query(
    "SELECT sum(calls)::int AS calls FROM pg_stat_statements JOIN pg_database d ON d.oid = dbid WHERE datname = current_database() AND query !~ 'pg_(stat|current)'",
    [],
  )
  const rows = [...(await kept(side))].flatMap(([table, count]) => {
    const more = (count - (before.get(table) ?? 0)) / runs
    return more >= 0.1 ? [`${table} ${more.toFixed(1)}`] : []
  })
  const perRun = `${(Number(sum?.calls) / runs).toFixed(1)} statements, ${(Number(wal?.bytes) / runs / 1000).toFixed(1)} kB of WAL`
  return `${shape}, ${name}, a run: ${perRun}; rows: ${rows.join(', ')}`
}

installPeers()
const [, , part = ''] = process.argv
const settings = ['shared_preload_libraries=pg_stat_statements']
const server = await startPostgres({ isDurable: true, settings })
try {
  const own = await started('servable', 'servers/stored-workflow.ts', await server.database())
  const other = await started('Mastra', 'frameworks/mastra-postgres.ts', await server.database())
  for (const { driver } of [own, other]) await driver.query('CREATE EXTENSION pg_stat_statements', [])
  const comparisons = []
  for (const shape of SHAPES.filter(each => each.includes(part))) {
    for (const load of loadsOf(shape)) {
      const each = (side: Side) => () => measured(side, load)
      const name = `runs a second, ${shape}, ${load.atOnce} at a time`
      comparisons.push(await compare(name, '/s', { measured: each(own), reference: each(other) }, ROUNDS))
      console.log(table(comparisons.slice(-1)).split('\n').at(-1))
    }
    for (const side of [own, other]) console.log(await asked(side, shape))
  }
  console.log(`\n${table(comparisons, ['servable', 'Mastra'])}`)
  for (const { child, driver } of [own, other]) {
    await driver.end()
    child.disconnect()
  }
} finally {
  await server.stop()
}
