/**
 * Several processes over one PostgreSQL database, of which some are killed, frozen, or cut from the database.
 *
 * @module-tag long
 */
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import process from 'node:process'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, type TestContext } from 'vitest'
import { postgresDriver } from '../../src/stores/postgres/driver.ts'
import { postgresStore } from '../../src/stores/postgres/store.ts'
import { as, cancel, ended, get, own, post } from '../contracts/runs/client.ts'
import { eventually } from '../eventually.ts'
import { needing } from '../needing.ts'
import { killing, STARTS } from './kills.ts'
import { expectInterrupted, following, idsOf } from './neighbours.ts'
import { startBlockingProxy } from './postgres/blocking-proxy.ts'
import { type ClusterOptions, endless, cluster as newCluster } from './postgres/cluster.ts'
import { startPooler } from './postgres/pooler.ts'
import { type PostgresServer, startPostgres } from './postgres/server.ts'
import { root } from './process.ts'

const { describe, it } = needing('postgresql')

const run = promisify(execFile)

let database: PostgresServer
beforeAll(async () => {
  database = await startPostgres()
})
afterAll(() => database?.stop())

type Context = Pick<TestContext, 'onTestFinished'>
const cluster = (context: Context, options: Partial<ClusterOptions> = {}) =>
  newCluster(context, { url: database.url, ...options })

describe.concurrent.each([
  ['that hear each other', true],
  ['that read again and again', false],
])('two processes %s', (_, isHeard) => {
  it('follow, list and cancel the runs of each other', async context => {
    const enter = cluster(context, { isHeard })
    const [one, two] = [await enter(), await enter()]
    const owner = as(own('owner'))
    const { id } = await endless(one.server, owner)
    const elsewhere = await following(two.server, id, owner)
    const here = await following(one.server, id, owner)
    expect(await idsOf(two.server, 'running', owner)).toEqual(new Set([id]))
    expect(await cancel(two.server, id, owner)).toMatchObject({ status: 200 })
    for (const { all } of [elsewhere, here]) {
      expect((await all).at(-1)?.event).toMatchObject({ type: 'finish', finishReason: 'cancelled' })
    }
    expect(await get(one.server, id, owner)).toMatchObject({ status: 'cancelled' })
  })

  it('end the runs of one that is killed, each once', async context => {
    const enter = cluster(context, { isHeard })
    const [one, two] = [await enter(), await enter()]
    const owner = as(own('owner'))
    const ids = await Promise.all(Array.from({ length: 10 }, () => endless(one.server, owner)))
    const followed = await Promise.all(ids.map(({ id }) => following(two.server, id, owner)))
    await one.kill()
    for (const each of followed) await expectInterrupted(each)
    expect(await idsOf(two.server, 'running', owner)).toEqual(new Set())
  })
})

describe.concurrent('a process', () => {
  it('that was frozen for longer than its lease stops what others have ended, and goes on', async context => {
    const enter = cluster(context)
    const [one, two] = [await enter(), await enter()]
    const owner = as(own('owner'))
    const { id } = await endless(one.server, owner)
    const elsewhere = await following(two.server, id, owner)
    one.signal('SIGSTOP')
    await expectInterrupted(elsewhere)
    one.signal('SIGCONT')
    await eventually(async () => expect(await get(one.server, id, owner)).toMatchObject({ status: 'failed' }))
    // It works under another name, and others count it as alive.
    const { id: next } = await endless(one.server, owner)
    const again = await following(two.server, next, owner)
    expect(await cancel(two.server, next, owner)).toMatchObject({ status: 200 })
    expect((await again.all).at(-1)?.event).toMatchObject({ finishReason: 'cancelled' })
  })

  it('answers 503 while the database is frozen, and loses nothing of what runs', async context => {
    const away = await startPostgres()
    context.onTestFinished(() => away.stop())
    const enter = cluster(context, { url: away.url })
    const one = await enter()
    const owner = as(own('owner'))
    const { id } = await endless(one.server, owner)
    const here = await following(one.server, id, owner)
    away.signal('SIGSTOP')
    const refused = await post(
      one.server,
      '/api/agents/counts/run',
      { input: '3' },
      { ...owner, prefer: 'respond-async' },
    )
    expect(refused.status).toBe(503)
    expect(JSON.parse(refused.text)).toMatchObject({ code: 'state_unavailable' })
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    const health = await fetch(`${one.server().url}/api/health`)
    expect(health.status).toBe(503)
    away.signal('SIGCONT')
    await eventually(async () => expect((await fetch(`${one.server().url}/api/health`)).status).toBe(200))
    await eventually(async () => expect(await cancel(one.server, id, owner)).toMatchObject({ status: 200 }))
    const messages = await here.all
    expect(messages.map(({ id }) => Number(id))).toEqual(messages.map((_, index) => index + 1))
    expect(messages.at(-1)?.event).toMatchObject({ finishReason: 'cancelled' })
  })

  it('hears again after the database was restarted', async context => {
    const away = await startPostgres()
    context.onTestFinished(() => away.stop())
    const enter = cluster(context, { url: away.url })
    const [one, two] = [await enter(), await enter()]
    const owner = as(own('owner'))
    const { id } = await endless(one.server, owner)
    const elsewhere = await following(two.server, id, owner)
    await away.restart()
    await eventually(async () => expect((await fetch(`${two.server().url}/api/health`)).status).toBe(200))
    await eventually(async () => expect(await cancel(two.server, id, owner)).toMatchObject({ status: 200 }))
    const messages = await elsewhere.all
    expect(messages.map(({ id }) => Number(id))).toEqual(messages.map((_, index) => index + 1))
    expect(messages.at(-1)?.event).toMatchObject({ finishReason: 'cancelled' })
    const next = await post(
      one.server,
      '/api/agents/counts/run',
      { input: '3' },
      { ...owner, prefer: 'respond-async' },
    )
    expect(await ended(one.server, JSON.parse(next.text).id, owner)).toMatchObject({ status: 'completed' })
  })

  it('that is cut from the network ends for the others, and stops by itself', async context => {
    const network = await startBlockingProxy(database.url)
    context.onTestFinished(network.stop)
    const enter = cluster(context)
    const [one, two] = [await enter({ DATABASE: network.url, LISTEN: network.url }), await enter()]
    const owner = as(own('owner'))
    const { id } = await endless(one.server, owner)
    const elsewhere = await following(two.server, id, owner)
    network.cut()
    await expectInterrupted(elsewhere)
    network.mend()
    await eventually(async () => expect(await get(one.server, id, owner)).toMatchObject({ status: 'failed' }))
    const { id: next } = await endless(one.server, owner)
    await eventually(async () => expect(await cancel(two.server, next, owner)).toMatchObject({ status: 200 }))
  })

  it('reads on when its listening connection is ended', async context => {
    const enter = cluster(context)
    const [one, two] = [await enter(), await enter()]
    const owner = as(own('owner'))
    const { id } = await endless(one.server, owner)
    const elsewhere = await following(two.server, id, owner)
    const admin = postgresDriver(database.url, { max: 1, prepare: false, ssl: undefined })
    context.onTestFinished(() => admin.end())
    await admin.query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'LISTEN%'", [])
    expect(await cancel(two.server, id, owner)).toMatchObject({ status: 200 })
    const messages = await elsewhere.all
    expect(messages.map(({ id }) => Number(id))).toEqual(messages.map((_, index) => index + 1))
  })

  it('starts one run for a key that several processes get at once', async context => {
    const enter = cluster(context)
    const processes = [await enter(), await enter()]
    const headers = { ...as(own('owner')), 'idempotency-key': own('key'), prefer: 'respond-async' }
    const asked = Array.from({ length: 100 }, (_, at) =>
      post(processes[at % 2]!.server, '/api/agents/counts/run', { input: '3' }, headers),
    )
    const answers = await Promise.all(asked)
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([202]))
    expect(new Set(answers.map(({ text }) => JSON.parse(text).id)).size).toBe(1)
  })
})

needing('postgresql', 'pgbouncer').describe.concurrent('PgBouncer in transaction mode', () => {
  it.each([
    ['with a connection that listens', true],
    ['alone', false],
  ])('serves processes that follow and cancel each other: %s', async (_, isHeard) => {
    const stops: (() => unknown)[] = []
    try {
      const pooler = await startPooler(database.url)
      stops.push(pooler.stop)
      const context = { onTestFinished: (stop: () => unknown) => void stops.push(stop) } as never
      const env = { PREPARE: 'false', ...(isHeard && { LISTEN: database.url }) }
      const enter = cluster(context, { url: pooler.url, isHeard: false, env })
      const [one, two] = [await enter(), await enter()]
      const owner = as(own('owner'))
      const { id } = await endless(one.server, owner)
      const elsewhere = await following(two.server, id, owner)
      expect(await cancel(two.server, id, owner)).toMatchObject({ status: 200 })
      expect((await elsewhere.all).at(-1)?.event).toMatchObject({ finishReason: 'cancelled' })
      const asked = { ...owner, prefer: 'respond-async' }
      const starts = Array.from({ length: 50 }, () =>
        post(one.server, '/api/agents/counts/run', { input: '20' }, asked),
      )
      const ids = (await Promise.all(starts)).map(({ text }) => JSON.parse(text).id)
      for (const each of ids)
        expect(await ended(two.server, each, owner)).toMatchObject({ status: 'completed' })
    } finally {
      for (const stop of stops.reverse()) await stop()
    }
  })
})

describe.concurrent('processes that are killed again and again', () => {
  it('end all of their workflows, and do again only what was not recorded', {
    timeout: 180_000,
  }, async () => {
    const SCHEMA = 'killed'
    const { wrong, workflows, cuts } = await killing({
      start: STARTS.Node,
      kills: 5,
      seed: 7,
      neighbours: 3,
      database: {
        env: { DATABASE: database.url, LISTEN: database.url, SCHEMA },
        open: () =>
          postgresStore({
            driver: postgresDriver(database.url, { max: 2, prepare: true, ssl: undefined }),
            schema: SCHEMA,
          }),
      },
    })
    expect(wrong).toEqual([])
    expect(workflows).toBeGreaterThanOrEqual(4)
    expect(cuts).toBeGreaterThan(0)
  })
})

describe('the command `servable store`', () => {
  const command = async (...args: string[]) => {
    const env = { ...process.env, DATABASE_URL: database.url }
    try {
      const file = join(root, 'src/command/cli.ts')
      const { stdout } = await run(process.execPath, [file, 'store', ...args], { env })
      return { code: 0, text: stdout }
    } catch (error) {
      const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string }
      return { code, text: stdout + stderr }
    }
  }

  it('makes the schema, once, and says what is wrong with one', async () => {
    const schema = ['--schema', 'commanded']
    expect(await command('check', ...schema)).toMatchObject({
      code: 1,
      text: expect.stringContaining('store migrate'),
    })
    expect((await command('migrate', ...schema)).text).toContain('commanded: version 0 → 3')
    expect((await command('migrate', ...schema)).text).toContain('nothing to do')
    const right = await command('check', ...schema, '--listen-url', database.url)
    expect(right).toMatchObject({ code: 0, text: expect.stringContaining('notifications arrive') })
    expect(right.text).not.toContain('wrong')
  })

  it.each([
    [['drop'], '`store drop` is unknown'],
    [['check', '--schema', 'A b'], '--schema'],
    [['check', '--url', 'mysql://secret@x'], '--url'],
    [['check', '--url', 'postgres://u:secret@127.0.0.1:1/x'], 'ECONNREFUSED'],
  ])('says what is wrong with its arguments: %j', async (args, text) => {
    const said = await command(...args)
    expect(said).toMatchObject({ code: 1, text: expect.stringContaining(text) })
    expect(said.text).not.toContain('secret')
  })
})
