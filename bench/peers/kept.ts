/**
 * What the three runs of `bench/kept.ts` keep and write at others: `node bench/peers/kept.ts`. Mastra's durable agents and workflow with
 * PostgreSQL, and LangGraph's server of `langgraphjs dev` with its files.
 */

import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { postgresDriver } from '../../src/stores/postgres/driver.ts'
import { startPostgres } from '../../test/runtimes/postgres/server.ts'
import { type KeptShape, SHAPES, shown } from '../kept-shapes.ts'
import { installPeers } from './install.ts'

/** What is kept, and what was written until now. Undefined where nothing counts it. */
interface Amount {
  readonly rows: number | undefined
  readonly bytes: number
  readonly statements: number | undefined
  readonly wal: number | undefined
}

interface Side {
  readonly name: string
  readonly child: ChildProcess
  amount(): Promise<Amount>
  stop(): Promise<void>
}

async function started(entry: string, ...args: string[]): Promise<ChildProcess> {
  const path = fileURLToPath(new URL(`frameworks/${entry}`, import.meta.url))
  const child = fork(path, args, { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
  await once(child, 'message')
  return child
}

async function mastra(recovery: string): Promise<Side> {
  const settings = ['shared_preload_libraries=pg_stat_statements']
  const server = await startPostgres({ isDurable: true, settings })
  const driver = postgresDriver(server.url, { max: 1, prepare: false, ssl: undefined })
  const rows = (sql: string) => driver.query(sql, [])
  const one = async (sql: string) => Number((await rows(sql))[0]?.is)
  await rows('CREATE EXTENSION pg_stat_statements')
  const child = await started('mastra-kept.ts', server.url, recovery)
  return {
    name: `Mastra${recovery && ', `recovery`'}`,
    child,
    async amount() {
      const tables = await rows(
        "SELECT oid::regclass::text AS name FROM pg_class WHERE relkind = 'r' AND relnamespace::regnamespace::text !~ '^(pg_|information)'",
      )
      const each = tables
        .map(({ name }) => `SELECT pg_column_size(t.*) AS size FROM ${name} t`)
        .join(' UNION ALL ')
      return {
        rows: await one(`SELECT count(*)::float8 AS is FROM (${each}) all_rows`),
        bytes: await one(`SELECT coalesce(sum(size), 0)::float8 AS is FROM (${each}) all_rows`),
        statements: await one(
          "SELECT sum(calls)::float8 AS is FROM pg_stat_statements JOIN pg_database d ON d.oid = dbid WHERE datname = current_database() AND query !~ 'pg_(stat|current|column|class|wal)'",
        ),
        wal: await one("SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::float8 AS is"),
      }
    },
    async stop() {
      child.disconnect()
      await once(child, 'exit')
      await driver.end()
      await server.stop()
    },
  }
}

async function langGraph(): Promise<Side> {
  const folder = mkdtempSync(join(tmpdir(), 'servable-langgraph-'))
  const files = join(folder, '.langgraph_api')
  const child = await started('langgraph-kept.ts', folder)
  return {
    name: "LangGraph's dev server",
    child,
    async amount() {
      // The server writes its files three seconds after the last change.
      await new Promise(resolve => setTimeout(resolve, 8000))
      const sizes = readdirSync(files).map(name => statSync(join(files, name)).size)
      const bytes = sizes.reduce((sum, size) => sum + size, 0)
      return { rows: undefined, bytes, statements: undefined, wal: undefined }
    },
    async stop() {
      child.disconnect()
      await once(child, 'exit')
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

const more = (after: number | undefined, before: number | undefined) =>
  after === undefined || before === undefined ? undefined : after - before

installPeers()
console.log('| where | run | its bytes | rows | bytes | of its bytes | statements | WAL | ms |')
console.log('|---|---|---|---|---|---|---|---|---|')
for (const open of [() => mastra(''), () => mastra('recovery'), langGraph]) {
  for (const [shape, { what, bytes }] of Object.entries(SHAPES) as [
    KeptShape,
    (typeof SHAPES)[KeptShape],
  ][]) {
    const side = await open()
    const before = await side.amount()
    side.child.send(shape)
    const [{ ms, outcome }] = await once(side.child, 'message')
    const after = await side.amount()
    const kept = after.bytes - before.bytes
    const figures = [bytes, more(after.rows, before.rows), kept].map(shown)
    const written = [more(after.statements, before.statements), more(after.wal, before.wal), ms].map(shown)
    console.log(`| ${[side.name, what, ...figures, (kept / bytes).toFixed(2), ...written].join(' | ')} |`)
    console.error(`… ${outcome}`)
    await side.stop()
  }
}
