/**
 * Makes the stores that a version leaves behind: `node test/old-stores/make.ts <checkout of it> <name>`. They become
 * `test/old-stores/<name>.db`, `<name>.sql` and `<name>.tgz`, the files of Durable Objects, and `<name>.json`, the ids of their runs. Make them before a commit that changes a schema, or with a release.
 */
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFile, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import process from 'node:process'
import { text } from 'node:stream/consumers'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'
import type { State } from '../../src/index.ts'
import { startPostgres } from '../runtimes/postgres/server.ts'
import { type LeftRuns, SESSION, serviceOf } from './service.ts'

const [checkout = '', name = '', left] = process.argv.slice(2)
const load = (path: string) => import(join(resolve(checkout), 'src', path))

/** Leaves the runs behind, and gives their ids. The last one is at work. */
async function leaveRuns(ask: (path: string, init?: RequestInit) => Promise<Response>): Promise<LeftRuns> {
  const run = async (path: string, until: (told: string) => boolean, more: object = {}) => {
    const headers = { 'content-type': 'application/json', prefer: 'respond-async' }
    const body = JSON.stringify({ input: 'go', ...more })
    const { id } = await (await ask(`${path}/run`, { method: 'POST', headers, body })).json()
    while (!until(await (await ask(`runs/${id}/events`)).text())) await pause(10)
    return id as string
  }
  const hasEnded = (told: string) => told.includes('"ended":true')
  return {
    done: await run('agents/says', hasEnded, { sessionId: SESSION }),
    waits: await run('workflows/asks', hasEnded),
    cut: await run('workflows/cut', told => told.includes('"name":"second"')),
  }
}

/** Leaves them in a database, and kills this process in the middle of the last one. */
async function leave(where: string): Promise<void> {
  const library = await load('index.ts')
  const state: State = where.startsWith('postgres')
    ? (await load('runtimes/postgres.ts')).postgresState({ url: where })
    : (await load('runtimes/sqlite.ts')).sqliteState({ path: where })
  const handler = serviceOf(library, state, () => new Promise(() => {}))
  const ids = await leaveRuns((path, init) => handler(new Request(`http://127.0.0.1/api/${path}`, init)))
  console.log(JSON.stringify(ids))
  process.kill(process.pid, 'SIGKILL')
}

/** Leaves them in Durable Objects, whose files become an archive. */
async function leaveInObjects(): Promise<LeftRuns> {
  const own = join(resolve(checkout), 'test/old-stores')
  await mkdir(own, { recursive: true })
  for (const file of ['service.ts', 'worker.ts'])
    if (own !== import.meta.dirname) await copyFile(join(import.meta.dirname, file), join(own, file))
  const { startWorkerd } = await import(join(resolve(checkout), 'test/runtimes/harness.ts'))
  const storage = await mkdtemp(join(tmpdir(), 'old-store-'))
  const runtime = await startWorkerd('test/old-stores/worker.ts', { storage, env: { SECOND: 'never' } })
  const ids = await leaveRuns((path, init) => fetch(`${runtime.url}/api/${path}`, init))
  await runtime.kill()
  await promisify(execFile)('tar', ['-czf', join(import.meta.dirname, `${name}.tgz`), '-C', storage, '.'])
  await rm(storage, { recursive: true })
  return ids
}

/** Lets a process of its own leave the runs behind. */
async function dies(where: string): Promise<LeftRuns> {
  const child = spawn(process.execPath, [import.meta.filename, checkout, name, where], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [told] = await Promise.all([text(child.stdout), once(child, 'exit')])
  return JSON.parse(told)
}

async function make(): Promise<void> {
  const file = join(import.meta.dirname, `${name}.db`)
  const ids: Record<string, LeftRuns> = { db: await dies(file) }
  // What is in its log becomes part of the file.
  const { openDatabase } = await load('runtimes/sqlite.ts')
  const driver = openDatabase(file)
  driver.all('PRAGMA wal_checkpoint(TRUNCATE)')
  driver.close()
  for (const each of await readdir(import.meta.dirname))
    if (each.startsWith(`${name}.db-`)) await rm(join(import.meta.dirname, each))

  const server = await startPostgres()
  try {
    ids.sql = await dies(server.url)
    const [version] = (await readdir('/usr/lib/postgresql')).toSorted((a, b) => Number(b) - Number(a))
    const dump = `/usr/lib/postgresql/${version}/bin/pg_dump`
    const { stdout } = await promisify(execFile)(dump, [
      '--inserts',
      '--no-owner',
      '-n',
      'servable',
      server.url,
    ])
    // Lines for `psql` alone, and comments.
    const lines = stdout.split('\n').filter(line => !/^(\\|--|$)/.test(line))
    await writeFile(join(import.meta.dirname, `${name}.sql`), `${lines.join('\n')}\n`)
  } finally {
    await server.stop()
  }
  ids.tgz = await leaveInObjects()
  await writeFile(join(import.meta.dirname, `${name}.json`), `${JSON.stringify(ids, null, 2)}\n`)
}

await (left === undefined ? make() : leave(left))
