/**
 * Bun and Deno beside Node over one PostgreSQL database, with TLS.
 *
 * @module-tag long
 */
import { execFile } from 'node:child_process'
import process from 'node:process'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect } from 'vitest'
import { type PostgresDriver, postgresDriver } from '../../src/stores/postgres/driver.ts'
import { accept, as, cancel, get, openGate, own, post } from '../contracts/runs/client.ts'
import { eventually } from '../eventually.ts'
import { needing } from '../needing.ts'
import { ELSEWHERE } from '../tags.ts'
import { denoPath } from './harness.ts'
import { expectInterrupted, following, idsOf } from './neighbours.ts'
import { startBlockingProxy } from './postgres/blocking-proxy.ts'
import { cluster, endless, START_BUN, START_DENO, START_NODE } from './postgres/cluster.ts'
import { type PostgresServer, startPostgres } from './postgres/server.ts'
import { root } from './process.ts'

const { describe, it } = needing('postgresql')

const run = promisify(execFile)

let database: PostgresServer
let admin: PostgresDriver
beforeAll(async () => {
  database = await startPostgres({ hasTls: true })
  admin = postgresDriver(database.url, { max: 1, prepare: false, ssl: undefined })
})
afterAll(async () => {
  await admin?.end()
  await database?.stop()
})

/** The option that trusts the server's certificate. */
const trusting = () => JSON.stringify({ ca: database.certificate })

/** How many connections to a database there are, and how many of them have TLS. */
async function connections(url: string) {
  const [row] = await admin.query(
    `SELECT count(*)::int AS all, (count(*) FILTER (WHERE ssl))::int AS tls
      FROM pg_stat_activity JOIN pg_stat_ssl USING (pid) WHERE application_name = 'servable' AND datname = $1::text`,
    [new URL(url).pathname.slice(1)],
  )
  return row
}

describe.concurrent.each([
  ['Bun', START_BUN, async () => [`${root}node_modules/.bin/bun`]],
  [
    'Deno',
    START_DENO,
    async () => [await denoPath(), 'run', '--no-prompt', '--allow-net=127.0.0.1', '--allow-env'],
  ],
] as const)('%s', ELSEWHERE, (_, start, command) => {
  it('follows, lists and cancels the runs of a Node process, and the other way, over TLS', async context => {
    const url = await database.database()
    const enter = cluster(context, { url, env: { SSL: trusting() } })
    const [node, other] = await Promise.all([enter(), enter({}, start)])
    for (const [one, two] of [
      [node, other],
      [other, node],
    ] as const) {
      const owner = as(own('owner'))
      const { id } = await endless(one.server, owner)
      const elsewhere = await following(two.server, id, owner)
      expect(await idsOf(two.server, 'running', owner)).toEqual(new Set([id]))
      expect(await cancel(two.server, id, owner)).toMatchObject({ status: 200 })
      expect((await elsewhere.all).at(-1)?.event).toMatchObject({ finishReason: 'cancelled' })
      expect(await get(one.server, id, owner)).toMatchObject({ status: 'cancelled' })
    }
    const { all, tls } = (await connections(url)) ?? {}
    expect(all).toBeGreaterThan(2)
    expect(tls).toBe(all)
  })

  it('hears notifications', async () => {
    const [program = '', ...args] = await command()
    const env = {
      ...process.env,
      DATABASE_URL: `${database.url}?sslmode=require`,
      DENO_NO_PACKAGE_JSON: '1',
    }
    const asked = (act: string) => {
      const options = ['--listen-url', database.url, '--schema', 'heard']
      return run(program, [...args, 'src/command/cli.ts', 'store', act, ...options], { env, cwd: root })
    }
    await asked('migrate')
    expect((await asked('check')).stdout).toContain('ok     notifications arrive')
  })

  it.each([
    ['it is killed', start, START_NODE],
    ['Node is killed beside it', START_NODE, start],
  ])('when %s: runs end as interrupted, or go on', async (_, killed, left) => {
    const stops: (() => unknown)[] = []
    try {
      const context = { onTestFinished: (stop: () => unknown) => void stops.push(stop) } as never
      const enter = cluster(context, { url: database.url })
      const [one, two] = await Promise.all([enter({}, killed), enter({}, left)])
      const owner = as(own('owner'))
      const gate = own('gate')
      const lost = await endless(one.server, owner)
      const resumed = await accept(one.server, 'agents/resumes', { input: gate }, owner)
      const [first, second] = await Promise.all(
        [lost, resumed].map(({ id }) => following(two.server, id, owner)),
      )
      await one.kill()
      await expectInterrupted(first!)
      await openGate(two.server, gate)
      expect((await second!.all).at(-1)?.event).toMatchObject({ type: 'finish', finishReason: 'stop' })
      expect(await get(two.server, resumed.id, owner)).toMatchObject({ status: 'completed' })
    } finally {
      for (const stop of stops.reverse()) await stop()
    }
  })

  it('answers 503 while the network is cut, and goes on with new connections', async context => {
    const network = await startBlockingProxy(database.url)
    context.onTestFinished(network.stop)
    const enter = cluster(context, { url: network.url })
    const { server } = await enter({}, start)
    const owner = as(own('owner'))
    const { id } = await endless(server, owner)
    const here = await following(server, id, owner)
    network.cut()
    const headers = { ...owner, prefer: 'respond-async' }
    const refused = await post(server, '/api/agents/counts/run', { input: '3' }, headers)
    expect(refused.status, refused.text).toBe(503)
    expect(JSON.parse(refused.text)).toMatchObject({ code: 'state_unavailable' })
    network.mend()
    await eventually(async () => expect((await fetch(`${server().url}/api/health`)).status).toBe(200))
    await eventually(async () => expect(await cancel(server, id, owner)).toMatchObject({ status: 200 }))
    const messages = await here.all
    expect(messages.map(({ id }) => Number(id))).toEqual(messages.map((_, index) => index + 1))
    expect(messages.at(-1)?.event).toMatchObject({ finishReason: 'cancelled' })
  })
})

describe.concurrent.each([
  ['Node', START_NODE],
  ['Bun', START_BUN],
  ['Deno', START_DENO],
] as const)('%s, on SIGTERM', ELSEWHERE, (_, start) => {
  it('leaves no connection and no lease, and ends by itself', async context => {
    const url = await database.database()
    const enter = cluster(context, { url, env: { CLOSES: '1' } })
    const [one, two] = await Promise.all([enter({}, start), enter()])
    const owner = as(own('owner'))
    const { id } = await endless(one.server, owner)
    const elsewhere = await following(two.server, id, owner)
    const gone = async () => {
      const own = postgresDriver(url, { max: 1, prepare: false, ssl: undefined })
      const rows = await own.query(`SELECT gone FROM "${enter.schema}".workers`, [])
      await own.end()
      return rows.map(({ gone }) => gone !== null).toSorted()
    }
    one.signal('SIGTERM')
    await eventually(() => expect(one.log()).toContain('exited with code 0'))
    expect((await elsewhere.all).at(-1)?.event).toMatchObject({ type: 'finish', finishReason: 'cancelled' })
    expect(await gone()).toEqual([false, true])
    two.signal('SIGTERM')
    await eventually(() => expect(two.log()).toContain('exited with code 0'))
    expect(await connections(url)).toMatchObject({ all: 0 })
    expect(await gone()).toEqual([true, true])
  })
})

describe('TLS', () => {
  const ask = async (url: string, ssl: undefined | boolean | 'require' | 'verify-full' | object) => {
    const driver = postgresDriver(url, { max: 1, prepare: false, ssl })
    try {
      const [row] = await driver.query('SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()', [])
      return row?.ssl
    } catch (error) {
      return (error as { code?: string }).code
    } finally {
      await driver.end()
    }
  }

  it('is used as the option and the address say, and checks names and numbers of hosts', async () => {
    const { url, certificate: ca } = database
    expect(await ask(url, undefined)).toBe(false)
    expect(await ask(`${url}?sslmode=require`, undefined)).toBe(true)
    expect(await ask(url, 'require')).toBe(true)
    for (const ssl of ['verify-full', true] as const)
      expect(await ask(url, ssl)).toBe('DEPTH_ZERO_SELF_SIGNED_CERT')
    expect(await ask(`${url}?sslmode=verify-full`, undefined)).toBe('DEPTH_ZERO_SELF_SIGNED_CERT')
    expect(await ask(url, { ca })).toBe(true)
    // The certificate is for the number alone.
    expect(await ask(url.replace('127.0.0.1', 'localhost'), { ca })).toBe('ERR_TLS_CERT_ALTNAME_INVALID')
  })
})
