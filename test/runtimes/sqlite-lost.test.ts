/**
 * The file of a process changes under it: a newer version writes it, or it is moved, deleted, replaced or made read-only.
 *
 * @module-tag long
 */
import { execFile } from 'node:child_process'
import { chmod, chown, copyFile, readdir, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { promisify } from 'node:util'
import { describe, expect, it, onTestFinished } from 'vitest'
import { subscribe, TONGUES, atWork as taskAtWork } from '../contracts/a2a/client.ts'
import { run } from '../contracts/http/client.ts'
import { newFolder } from '../contracts/run-host/folder.ts'
import {
  accept,
  acceptGated,
  as,
  ask,
  ended,
  get,
  list,
  own,
  post,
  type Server,
} from '../contracts/runs/client.ts'
import { eventually } from '../eventually.ts'
import { expectInterrupted, type Following, following, RUNTIMES, street } from './neighbours.ts'
import { root } from './process.ts'

/** What a newer version does to a file. */
function migrate(database: string): void {
  const file = new DatabaseSync(database)
  file.exec('PRAGMA busy_timeout = 10000')
  file.exec(`BEGIN IMMEDIATE;
    ALTER TABLE documents ADD COLUMN newer TEXT;
    INSERT INTO servable_schema (version) VALUES (999);
    COMMIT`)
  file.close()
}

const health = async (server: Server) => (await ask(server, '/api/health')).status

/** Nothing that needs the state is done, and nobody waits for it. */
async function expectRefused(server: Server, id: string, headers: Record<string, string>): Promise<void> {
  const answers = [
    await ask(server, `/api/runs/${id}`, { headers }),
    await ask(server, `/api/runs/${id}/stream`, { headers }),
    await ask(server, '/api/runs', { headers }),
    await post(server, '/api/agents/counts/run', { input: '3' }, { ...headers, prefer: 'respond-async' }),
  ]
  for (const { status, text } of answers) {
    expect([status, JSON.parse(text).code]).toEqual([503, 'state_unavailable'])
  }
  expect(await health(server)).toBe(503)
  expect((await run(server, '/api/agents/echo/run')).text).toBe('one two')
}

/** Who follows a run is not kept waiting: the stream closes, and another process may tell the rest. */
async function expectLost({ all }: Following): Promise<void> {
  expect((await all).at(-1)?.event).toMatchObject({ type: 'text' })
}

const changes: readonly (readonly [what: string, change: (database: string) => Promise<void>])[] = [
  ['a newer version has written it', async database => migrate(database)],
  ['it is deleted', database => rm(database)],
  [
    'it is deleted with its log',
    async database => {
      for (const end of ['', '-wal', '-shm']) await rm(database + end)
    },
  ],
  ['its log is deleted', database => rm(`${database}-wal`)],
  [
    'it is replaced',
    async database => {
      const other = `${database}.other`
      await copyFile(database, other)
      await rename(other, database)
    },
  ],
]

describe.each(RUNTIMES)('a file that changes while it is open: %s', (...runtime) => {
  it.each(changes)('is not used any more: %s', async (_, change) => {
    const { moveIn, database } = await street(runtime)
    const { server } = await moveIn()
    const owner = as(own('owner'))
    const done = await accept(server, 'agents/counts', { input: '3' }, owner)
    await ended(server, done.id, owner)
    const { id } = await acceptGated(server, owner, {}, 'chatty')
    const quiet = await acceptGated(server, owner)
    const followed = [await following(server, id, owner), await following(server, quiet.id, owner)]
    const key = { ...owner, 'idempotency-key': own('key') }
    const task = await taskAtWork(server, TONGUES.rpc1, { headers: owner, agent: 'chatty' })
    const updates = await subscribe(server, TONGUES.rest1, task.id, { headers: owner })
    await updates.next()
    const waits = post(server, '/api/agents/gated/run', { input: own('never') }, key)
    await eventually(async () => expect((await list(server, '?status=running', owner)).runs).toHaveLength(3))
    expect(await health(server)).toBe(200)
    const before = await readdir(dirname(database))

    await change(database)
    for (const each of followed) await expectLost(each)
    await updates.rest()
    const { status, text } = await waits
    expect([status, JSON.parse(text).code]).toEqual([503, 'state_unavailable'])
    await expectRefused(server, done.id, owner)
    // Others see that nobody is at work here, and nothing new is made.
    const after = await readdir(dirname(database))
    expect(after.filter(name => name.endsWith('.lock'))).toEqual([])
    expect(before).toEqual(expect.arrayContaining(after))
  })

  it('is used again once it is back', async () => {
    const { moveIn, database } = await street(runtime)
    const { server } = await moveIn()
    const owner = as(own('owner'))
    const { id } = await acceptGated(server, owner)
    const followed = await following(server, id, owner)
    await rename(database, `${database}.away`)
    await expectLost(followed)
    await expectRefused(server, id, owner)
    await rename(`${database}.away`, database)
    await eventually(async () => expect(await health(server)).toBe(200))
    const cut = { status: 'failed', error: { code: 'interrupted' } }
    await eventually(async () => expect(await get(server, id, owner)).toMatchObject(cut))
    await expectInterrupted(await following(server, id, owner))
    const next = await accept(server, 'agents/counts', { input: '3' }, owner)
    expect(await ended(server, next.id, owner)).toMatchObject({ status: 'completed' })
  })
})

const NOBODY = 65_534

/** Makes its file read-only, and then writable again. Only a process without all rights minds. */
const readOnly = `
  import { chmodSync } from 'node:fs'
  import { Agent, createHandler } from './src/index.ts'
  import { sqliteState } from './src/runtimes/sqlite.ts'
  let stopped = ''
  const waits = new Agent({
    name: 'waits',
    register: false,
    async *run(_, { signal }) {
      yield 'before'
      await new Promise(resolve => signal.addEventListener('abort', resolve))
      stopped = signal.reason.code
    },
  })
  const path = process.env.DATABASE
  const handler = createHandler({ registry: false, agents: { waits }, state: sqliteState({ path }), logger: false })
  const ask = (path, init) => handler(new Request('http://127.0.0.1' + path, init))
  const body = { method: 'POST', headers: { 'content-type': 'application/json', prefer: 'respond-async' }, body: '{"input":"x"}' }
  const began = await ask('/api/agents/waits/run', body)
  const told = async () => {
    const run = await ask(began.headers.get('location'))
    const { code, status, error } = await run.json()
    return [(await ask('/api/health')).status, run.status, code ?? status, error?.code, stopped].join(' ')
  }
  console.log(await told())
  chmodSync(path, 0o444)
  await ask('/api/health')
  console.log(await told())
  chmodSync(path, 0o644)
  await ask('/api/health')
  while ((await told()).includes('running')) await new Promise(resolve => setTimeout(resolve, 50))
  console.log(await told())
  process.exit()`

describe('a file that is made read-only while it is open', () => {
  it('is not used until it can be written, and its run has failed', async () => {
    const folder = await newFolder()
    onTestFinished(folder.remove)
    const asRoot = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {}
    if (process.getuid?.() === 0) await chown(folder.path, NOBODY, NOBODY)
    else await chmod(folder.path, 0o700)
    const { stdout } = await promisify(execFile)(
      process.execPath,
      ['--input-type=module', '--eval', readOnly],
      {
        cwd: root,
        env: { ...process.env, NODE_NO_WARNINGS: '1', DATABASE: join(folder.path, 'x.db') },
        ...asRoot,
      },
    )
    expect(stdout.trim().split('\n')).toEqual([
      '200 200 running  ',
      '503 503 state_unavailable  state_unavailable',
      '200 200 failed interrupted state_unavailable',
    ])
  })
})
