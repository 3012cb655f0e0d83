/** Stores that older versions left behind open, and their runs go on. `test/old-stores/make.ts` makes them. */
import { execFile } from 'node:child_process'
import { copyFile, mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it, onTestFinished } from 'vitest'
import * as library from '../../src/index.ts'
import { postgresState } from '../../src/runtimes/postgres.ts'
import { sqliteState } from '../../src/runtimes/sqlite.ts'
import { jsonRequest } from '../contracts/http/client.ts'
import { newFolder, onDisk } from '../contracts/run-host/folder.ts'
import { eventually } from '../eventually.ts'
import { needing } from '../needing.ts'
import { type LeftRuns, serviceOf } from '../old-stores/service.ts'
import { startWorkerd } from './harness.ts'
import { startPostgres } from './postgres/server.ts'
import { root } from './process.ts'

const run = promisify(execFile)
const at = (file: string) => join(root, 'test/old-stores', file)

/** The versions of which there are stores. */
const NAMES = ['schema-1']

/** What is asked of an event. */
interface StepEvent {
  readonly type: string
  readonly status?: string
}

type Ask = (path: string, init?: RequestInit) => Promise<Response>

const served = (state: library.State): Ask => {
  const handler = serviceOf(library, state, () => 'second')
  return (path, init) => handler(new Request(`http://127.0.0.1/api/${path}`, init))
}

/** An alarm brings a run back in Durable Objects, some 30 seconds later. */
const GOES_ON_MS = 90_000

/** What was left is read, answered, and goes on. */
async function expectGoesOn(ask: Ask, { done, waits, cut }: LeftRuns): Promise<void> {
  const get = async (path: string) => (await ask(path)).json()
  const events = async (id: string) =>
    (await get(`runs/${id}/events`)).events.map(({ event }: { event: StepEvent }) => event)

  expect(await get(`runs/${done}`)).toMatchObject({
    status: 'completed',
    result: { text: 'one two three größer 😀' },
  })
  expect((await events(done)).map(({ type }: { type: string }) => type)).toEqual([
    ...Array(5).fill('text'),
    'finish',
  ])
  expect((await get('runs?limit=10')).runs.map(({ id }: { id: string }) => id)).toEqual(
    expect.arrayContaining([done, waits, cut]),
  )

  const { requests } = await get(`runs/${waits}`)
  const answers = { answers: [{ id: requests[0].id, value: 'large' }] }
  const { id: next } = await (
    await ask(`runs/${waits}/answers`, jsonRequest(answers, { prefer: 'respond-async' }))
  ).json()
  await eventually(async () =>
    expect(await get(`runs/${next}`)).toMatchObject({
      status: 'completed',
      result: { text: 'It is large.' },
    }),
  )

  await eventually(async () => expect((await get(`runs/${cut}`)).status).toBe('completed'), GOES_ON_MS)
  expect((await get(`runs/${cut}`)).result.text).toBe('first second')
  const steps = (await events(cut)).filter(
    (event: StepEvent) => event.type === 'step' && event.status === 'completed',
  )
  expect(steps.map(({ name }: { name: string }) => name)).toEqual(['first', 'second'])
}

const leftIn = async (name: string) => JSON.parse(await readFile(at(`${name}.json`), 'utf8'))

describe.each(NAMES)('a store of the format %s', name => {
  it('in SQLite: its runs go on', async () => {
    const folder = await newFolder()
    onTestFinished(() => folder.remove())
    const path = join(folder.path, 'old.db')
    await copyFile(at(`${name}.db`), path)
    const state = sqliteState({ path })
    onTestFinished(() => state.store.close())
    await expectGoesOn(served(state), (await leftIn(name)).db)
  })

  it('in Durable Objects: its runs go on', {
    timeout: 2 * GOES_ON_MS,
  }, async () => {
    const folder = await newFolder(onDisk())
    onTestFinished(() => folder.remove())
    const storage = join(folder.path, 'objects')
    await mkdir(storage)
    await run('tar', ['-xzf', at(`${name}.tgz`), '-C', storage])
    const { url, stop } = await startWorkerd('test/old-stores/worker.ts', {
      storage,
    })
    onTestFinished(stop)
    await expectGoesOn((path, init) => fetch(`${url}/api/${path}`, init), (await leftIn(name)).tgz)
  })

  needing('postgresql').it('in PostgreSQL: its runs go on', async () => {
    const server = await startPostgres()
    onTestFinished(() => server.stop())
    const [major] = (await run('ls', ['/usr/lib/postgresql'])).stdout.trim().split('\n').toReversed()
    await run(`/usr/lib/postgresql/${major}/bin/psql`, [
      '-v',
      'ON_ERROR_STOP=1',
      '-q',
      '-f',
      at(`${name}.sql`),
      server.url,
    ])
    const state = postgresState({ url: server.url })
    onTestFinished(async () => void (await state.store.close()))
    await expectGoesOn(served(state), (await leftIn(name)).sql)
  })
})
