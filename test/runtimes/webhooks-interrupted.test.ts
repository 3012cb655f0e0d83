/**
 * Webhooks of servers and objects that end: nothing is lost.
 *
 * @module-tag long
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import type { WebhookDelivery } from '../../src/features/webhooks/plugin.ts'
import { MAX_DEATHS } from '../../src/stores/deaths.ts'
import { accept, as, type Server } from '../contracts/webhooks/client.ts'
import { type Receiver, startReceiver } from '../contracts/webhooks/receiver.ts'
import { SECRETS } from '../contracts/webhooks/service.ts'
import { eventually } from '../eventually.ts'
import { needing } from '../needing.ts'
import { fileOf } from '../programs.ts'
import { ELSEWHERE } from '../tags.ts'
import { storesOf } from './deployments.ts'
import { startEvicting } from './evicting.ts'
import { type Runtime, startNode } from './harness.ts'
import { type PostgresServer, startPostgres } from './postgres/server.ts'

const RUNS = 10
const PATH = '/all?token=secret'

const starts = storesOf('webhooks')

const serverOf =
  (runtime: Pick<Runtime, 'url'>): Server =>
  () =>
    ({ ...runtime, folder: '' }) as never

/** Runs that have ended, each told to a receiver at least once. */
async function startRuns(server: Server): Promise<string[]> {
  const records = Array.from({ length: RUNS }, () => accept(server, 'agents/echo', { input: 'x' }, as('bob')))
  return (await Promise.all(records)).map(({ id }) => id)
}

/** Every run was told, whatever was told twice. */
async function expectTold(receiver: () => Receiver, ids: readonly string[], type: string): Promise<void> {
  await eventually(() => {
    const told = receiver()
      .payloads(PATH, SECRETS.all)
      .filter(payload => payload.type === type)
    expect(ids.filter(id => !told.some(({ data }) => data.runId === id))).toEqual([])
  })
}

describe.each(Object.entries(starts))('webhooks: %s', ELSEWHERE, (_, start) => {
  it('reach a receiver that was away while the server was killed and began again', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'servable-webhooks-'))
    const before = await startReceiver()
    let runtime = await start(folder, `patient ${before.url}`)
    let receiver: Receiver | undefined
    try {
      await before.stop()
      const ids = await startRuns(serverOf(runtime))
      await runtime.kill()
      runtime = await start(folder, `patient ${before.url}`)
      receiver = await startReceiver(before.port)
      // A run that was at work when the process died is told of, too: it was interrupted.
      await eventually(() => {
        const told = receiver!.payloads(PATH, SECRETS.all)
        expect(ids.filter(id => !told.some(({ data }) => data.runId === id))).toEqual([])
      })
    } finally {
      await runtime.stop()
      await receiver?.stop()
      await rm(folder, { recursive: true, force: true })
    }
  }, 180_000)
})

describe('webhooks: a server that is killed while a run is at work', ELSEWHERE, () => {
  it('tells after its restart that the run has failed, asked by nobody', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'servable-webhooks-'))
    const receiver = await startReceiver()
    const start = starts['Node, in SQLite']
    let runtime = await start(folder, `patient ${receiver.url}`)
    try {
      const { id } = await accept(serverOf(runtime), 'agents/stays', { input: 'x' })
      await runtime.kill()
      runtime = await start(folder, `patient ${receiver.url}`)
      await expectTold(() => receiver, [id], 'run.failed')
    } finally {
      await runtime.stop()
      await receiver.stop()
      await rm(folder, { recursive: true, force: true })
    }
  })
})

describe('webhooks: two processes on one file', ELSEWHERE, () => {
  it('tell of each run, also of those of a process that was killed', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'servable-webhooks-'))
    const before = await startReceiver()
    const start = starts['Node, in SQLite']
    const [one, other] = await Promise.all([
      start(folder, `patient ${before.url}`),
      start(folder, `patient ${before.url}`),
    ])
    let receiver: Receiver | undefined
    try {
      await before.stop()
      const ids = (await Promise.all([one, other].map(each => startRuns(serverOf(each))))).flat()
      for (const id of ids) {
        await eventually(async () => {
          const response = await fetch(`${other.url}/api/runs/${id}`, { headers: as('bob') })
          expect((await response.json()).status).toBe('completed')
        })
      }
      await one.kill()
      receiver = await startReceiver(before.port)
      await expectTold(() => receiver!, ids, 'run.completed')
    } finally {
      await Promise.all([one.stop(), other.stop()])
      await receiver?.stop()
      await rm(folder, { recursive: true, force: true })
    }
  }, 180_000)
})

/** Restarts a process that dies as it sends, until one lives on. Gives it, and how many have died. */
async function survivor(database: string) {
  for (let deaths = 0; ; deaths++) {
    const starting = startNode('test/runtimes/entries/webhooks-dying.ts', { env: { DATABASE: database } })
    // It may die before it says that it listens.
    const runtime = await starting.catch(() => undefined)
    if (runtime === undefined) continue
    onTestFinished(() => runtime.stop())
    const list = async () => {
      const headers = { 'x-test-admin': 'yes' }
      const response = await fetch(`${runtime.url}/api/admin/webhooks/all/deliveries`, { headers })
      return (await response.json()).deliveries as WebhookDelivery[]
    }
    if (deaths === 0)
      await accept(serverOf(runtime), 'agents/pays', { input: 'x' }, as('bob')).catch(() => {})
    const found = await eventually(async () => {
      const deliveries = await list().catch(() => [])
      if (deliveries.length > 0) expect(deliveries[0]!.status).toBe('failed')
      return deliveries
    })
    if (found.length > 0) return { deaths, found }
  }
}

describe('webhooks: a delivery of which each process dies', ELSEWHERE, () => {
  const about = { status: 'failed', tries: MAX_DEATHS, code: 'interrupted' }
  let database: PostgresServer
  let folder: string
  beforeAll(async () => {
    if (fileOf('postgresql')) database = await startPostgres()
    folder = await mkdtemp(join(tmpdir(), 'servable-webhooks-'))
  })
  afterAll(async () => {
    await database?.stop()
    await rm(folder, { recursive: true, force: true })
  })

  const isGivenUp = async (database: string) => {
    const { deaths, found } = await survivor(database)
    expect(deaths).toBe(MAX_DEATHS)
    expect(found).toMatchObject([{ ...about, error: expect.stringContaining('stopped') }])
  }
  const title = 'is given up after a few of them, and is in the log of deliveries as that'
  it(`${title}: SQLite`, () => isGivenUp(join(folder, 'webhooks.db')), 180_000)
  needing('postgresql').it(`${title}: PostgreSQL`, async () => isGivenUp(await database.database()), 180_000)
})

describe('webhooks: objects that leave memory between two tries', ELSEWHERE, () => {
  it('reach their receiver, by the alarm alone', async () => {
    const before = await startReceiver()
    const server = await startEvicting('test/contracts/webhooks/service.ts', ['Run', 'Index'], {
      SETTINGS: `calm ${before.url}`,
    })
    let receiver: Receiver | undefined
    try {
      await before.stop()
      const ids = await startRuns(serverOf(server))
      for (const id of ids) {
        await eventually(async () => {
          const response = await fetch(`${server.url}/api/runs/${id}`, { headers: as('bob') })
          expect((await response.json()).status).toBe('completed')
        })
      }
      for (const id of await server.worker.listDurableObjectIds('ServableIndex')) {
        const evicting = server.worker.evictDurableObject('ServableIndex', { id })
        await evicting.catch(error => expect(String(error)).toContain('not currently running'))
      }
      receiver = await startReceiver(before.port)
      // workerd calls an alarm that was set before an eviction some ten seconds later.
      await expect
        .poll(() => new Set(receiver!.payloads(PATH, SECRETS.all).map(({ data }) => data.runId)).size, {
          timeout: 60_000,
        })
        .toBe(ids.length)
    } finally {
      await server.stop()
      await receiver?.stop()
    }
  }, 300_000)
})
