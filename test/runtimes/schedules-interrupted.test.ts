/**
 * Schedules whose process dies, which several processes share, and whose object sleeps.
 *
 * @module-tag long
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { SCHEDULES, type StoredSchedule } from '../../src/features/schedules/kept.ts'
import { sqliteState } from '../../src/runtimes/sqlite.ts'
import type { Server } from '../contracts/runs/client.ts'
import { asAdmin, expectTicks } from '../contracts/schedules/client.ts'
import { eventually } from '../eventually.ts'
import { needing } from '../needing.ts'
import { fileOf } from '../programs.ts'
import { ELSEWHERE } from '../tags.ts'
import { startEvicting } from './evicting.ts'
import { type Runtime, startNode } from './harness.ts'
import { entryOf } from './listeners.ts'
import { type PostgresServer, startPostgres } from './postgres/server.ts'

const SETTINGS = 'others'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'servable-schedules-'))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

const serverOf =
  (runtime: Runtime): Server =>
  () => ({ ...runtime, folder })

/** Starts a process over a database. It is stopped after the test. */
async function enter(DATABASE: string): Promise<Runtime> {
  const runtime = await startNode(entryOf('schedules', 'node'), { env: { DATABASE, SETTINGS } })
  onTestFinished(() => runtime.stop())
  return runtime
}

/** Three processes: two of them are killed, one after the other. */
async function expectOnce(database: string): Promise<void> {
  const [one, two, three] = await Promise.all([enter(database), enter(database), enter(database)])
  const server = serverOf(three)
  let count = (await expectTicks(server, 'bob', 3)).length
  for (const runtime of [one, two]) {
    await runtime.kill()
    count = (await expectTicks(server, 'bob', count + 2)).length
  }
  const ticks = await expectTicks(server, 'bob', count + 1)
  expect(ticks).toEqual(ticks.toSorted((a, b) => a - b))
}

describe('three processes of which two are killed start each tick once', ELSEWHERE, () => {
  let database: PostgresServer
  beforeAll(async () => {
    if (fileOf('postgresql')) database = await startPostgres()
  })
  afterAll(() => database?.stop())

  it('in SQLite', () => expectOnce(join(folder, 'schedules.db')))
  needing('postgresql').it('in PostgreSQL', async () => expectOnce(await database.database()))
})

it('a process that is killed between its claim and the start of the run loses nothing', async () => {
  const path = join(folder, 'schedules.db')
  const env = { DATABASE: path, SETTINGS }
  const dying = startNode('test/runtimes/entries/schedules-dying.ts', { env })
  // It may die before it says that it listens.
  await dying.catch(() => {})
  const state = sqliteState({ path })
  const claimed = await eventually(async () => {
    const kept = await state.store.read(tx => tx.get<StoredSchedule>(SCHEDULES, 'others')?.value)
    expect(kept?.claim).toBeDefined()
    return kept?.claim?.tickAt
  })
  state.store.close()
  const server = serverOf(await enter(path))
  const ticks = await expectTicks(server, 'bob', 2)
  expect(ticks[0]).toBe(claimed)
})

it('an object that sleeps is woken by its alarm, and by the clock of the Worker', ELSEWHERE, async () => {
  const runtime = await startEvicting(entryOf('schedules', 'workerd'), ['Run', 'Index', 'Gateway'], {
    SETTINGS,
  })
  onTestFinished(() => runtime.stop())
  const server: Server = () => runtime
  // The trigger of `[triggers] crons`.
  await runtime.worker.scheduled({ cron: '* * * * *', scheduledTime: new Date() })
  const count = (await expectTicks(server, 'bob', 2)).length
  await eventually(() => runtime.worker.evictDurableObject('ServableIndex', { name: 'schedules' }))
  await expectTicks(server, 'bob', count + 2)
  expect((await asAdmin(server, '/others')).body).toMatchObject({ lastRun: { status: 'completed' } })
})
