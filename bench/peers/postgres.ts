/**
 * Whole runs of workflows with one step and with three, whose state is in PostgreSQL, beside Mastra with `@mastra/pg`. Each is a process of its own with
 * its own database on one server, whose commits wait for the disk. Run with `node bench/peers/postgres.ts`.
 */

import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { postgresDriver } from '../../src/stores/postgres/driver.ts'
import { startPostgres } from '../../test/runtimes/postgres/server.ts'
import { compare, table } from '../measure.ts'
import { installPeers } from './install.ts'
import type { Load } from './stored-workflow.ts'

const LOADS: readonly Load[] = [
  { runs: 200, atOnce: 1, steps: 1 },
  { runs: 1000, atOnce: 50, steps: 1 },
  { runs: 200, atOnce: 1, steps: 3 },
  { runs: 1000, atOnce: 50, steps: 3 },
]

async function started(entry: string, url: string): Promise<ChildProcess> {
  const child = fork(fileURLToPath(new URL(entry, import.meta.url)), [url], { stdio: 'inherit' })
  await once(child, 'message')
  return child
}

/** Runs a second. */
async function measured(child: ChildProcess, load: Load): Promise<number> {
  child.send(load)
  const [runs] = await once(child, 'message')
  return Number(runs)
}

/** What stands in each table, so that nobody keeps nothing. */
async function kept(url: string): Promise<string> {
  const driver = postgresDriver(url, { max: 1, prepare: false, ssl: undefined })
  await driver.query('ANALYZE', [])
  const rows = await driver.query(
    "SELECT relname || ' ' || reltuples AS kept FROM pg_class WHERE relkind = 'r' AND reltuples > 20 AND relnamespace::regnamespace::text !~ '^(pg_|information)'",
    [],
  )
  await driver.end()
  return rows.map(row => row.kept).join(', ')
}

installPeers()
const server = await startPostgres({ isDurable: true })
try {
  const [ownUrl, otherUrl] = [await server.database(), await server.database()]
  const own = await started('servers/stored-workflow.ts', ownUrl)
  const other = await started('frameworks/mastra-postgres.ts', otherUrl)
  const comparisons = []
  for (const load of LOADS) {
    const each = (child: ChildProcess) => () => measured(child, load)
    const name = `runs a second, ${load.steps === 1 ? 'one step' : 'three steps'}, ${load.atOnce} at a time`
    comparisons.push(await compare(name, '/s', { measured: each(own), reference: each(other) }))
  }
  console.log(table(comparisons, ['servable', 'Mastra']))
  console.log(`\nservable keeps: ${await kept(ownUrl)}\nMastra keeps: ${await kept(otherUrl)}`)
  for (const child of [own, other]) child.disconnect()
} finally {
  await server.stop()
}
