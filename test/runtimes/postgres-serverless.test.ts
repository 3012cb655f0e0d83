/**
 * Functions over PostgreSQL: processes that are frozen between requests, and do not listen.
 *
 * @module-tag long
 */
import { afterAll, beforeAll, expect, type TestContext } from 'vitest'
import { type PostgresDriver, postgresDriver } from '../../src/stores/postgres/driver.ts'
import { accept, as, cancel, follow, get, openGate, own, type Server } from '../contracts/runs/client.ts'
import { eventually } from '../eventually.ts'
import { needing } from '../needing.ts'
import { ELSEWHERE } from '../tags.ts'
import { following, idsOf } from './neighbours.ts'
import { cluster, endless, START_FUNCTION } from './postgres/cluster.ts'
import { type PostgresServer, startPostgres } from './postgres/server.ts'

const { describe, it } = needing('postgresql')

let database: PostgresServer
let admin: PostgresDriver
beforeAll(async () => {
  database = await startPostgres()
  admin = postgresDriver(database.url, { max: 1, prepare: false, ssl: undefined })
})
afterAll(async () => {
  await admin?.end()
  await database?.stop()
})

/** Asks a function, which runs only meanwhile. */
type Invoke = <T>(ask: (server: Server) => Promise<T>) => Promise<T>

/** Starts functions that share a schema, and freezes each. */
async function functions(context: TestContext, count: number, url = database.url): Promise<Invoke[]> {
  const enter = cluster(context, { url, isHeard: false })
  const members = await Promise.all(Array.from({ length: count }, () => enter({}, START_FUNCTION)))
  // One that is frozen does not end by itself.
  context.onTestFinished(() => {
    for (const { signal } of members) signal('SIGCONT')
  })
  return members.map(({ server, signal }) => {
    signal('SIGSTOP')
    return async ask => {
      signal('SIGCONT')
      try {
        return await ask(server)
      } finally {
        signal('SIGSTOP')
      }
    }
  })
}

/** A frozen process would answer on no connection that it has closed meanwhile. */
const owner = () => ({ ...as(own('owner')), connection: 'close' })

/** What a follower got, each once. */
function endsOf(messages: Awaited<ReturnType<typeof follow>>) {
  expect(messages.map(({ id }) => Number(id))).toEqual(messages.map((_, index) => index + 1))
  return messages.map(({ event }) => event).filter(({ type }) => type === 'error' || type === 'finish')
}

describe.concurrent('functions that are frozen between requests', ELSEWHERE, () => {
  it('run for as long as they are asked, and are followed and cancelled elsewhere', async context => {
    const [one, two] = await functions(context, 2)
    const who = owner()
    const gate = own('gate')
    await one!(async server => {
      const { id } = await accept(server, 'agents/gated', { input: gate }, who)
      const elsewhere = two!(async other => (await following(other, id, who)).all)
      await openGate(server, gate)
      expect(endsOf(await follow(server, id, who))).toMatchObject([{ finishReason: 'stop' }])
      expect(endsOf(await elsewhere)).toMatchObject([{ finishReason: 'stop' }])
    })
    await one!(async server => {
      const { id } = await endless(server, who)
      const here = following(server, id, who)
      expect(await two!(other => cancel(other, id, who))).toMatchObject({ status: 200 })
      expect(endsOf(await (await here).all)).toMatchObject([{ finishReason: 'cancelled' }])
    })
  })

  it('leave what they had at work to whoever asks next: it ends, or goes on, each once', async context => {
    const [one, two, three] = await functions(context, 3)
    const who = owner()
    const gate = own('gate')
    const [lost, resumed] = await one!(async server => [
      (await endless(server, who)).id,
      (await accept(server, 'agents/resumes', { input: gate }, who)).id,
    ])
    // It is left awake. One that is frozen again at each question would die of the run that goes on, and the run would rest each time.
    await two!(async server => {
      await openGate(server, gate)
      await eventually(async () => {
        expect(await get(server, lost!, who)).toMatchObject({ status: 'failed' })
        expect(await get(server, resumed!, who)).toMatchObject({ status: 'completed' })
      }, 100_000)
    })
    expect(await three!(server => get(server, lost!, who))).toMatchObject({ status: 'failed' })
    for (const each of [one!, two!, three!]) {
      expect(endsOf(await each(server => follow(server, lost!, who)))).toMatchObject([
        { type: 'error', code: 'interrupted' },
      ])
      const messages = await each(server => follow(server, resumed!, who))
      expect(endsOf(messages)).toMatchObject([{ type: 'finish', finishReason: 'stop' }])
    }
  })

  it('begin under a new name where others count them as gone', async context => {
    const [one, two] = await functions(context, 2)
    const who = owner()
    await one!(server => endless(server, who))
    await eventually(() =>
      two!(async server => expect(await idsOf(server, 'running', who)).toEqual(new Set())),
    )
    // The first thing that it does is to begin with runs, which others must not end.
    await one!(async server => {
      const begun = Array.from({ length: 10 }, () => accept(server, 'agents/counts', { input: '40' }, who))
      for (const { id } of await Promise.all(begun))
        expect(endsOf(await follow(server, id, who))).toMatchObject([{ finishReason: 'stop' }])
    })
  })

  it('connect again without an error where the database has closed what was idle', async context => {
    const url = await database.database()
    const [one, two] = await functions(context, 2, url)
    const who = owner()
    const { id } = await one!(server => accept(server, 'agents/counts', { input: '3' }, who))
    await two!(server => get(server, id, who))
    const ended = async () => {
      const name = new URL(url).pathname.slice(1)
      const rows = await admin.query(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'servable' AND datname = $1::text",
        [name],
      )
      return rows.length
    }
    for (let rounds = 0; rounds < 5; rounds++) {
      expect(await ended()).toBeGreaterThan(0)
      await eventually(async () => expect(await ended()).toBe(0))
      for (const each of [one!, two!]) {
        await each(async server => {
          const { id } = await accept(server, 'agents/counts', { input: '3' }, who)
          expect(endsOf(await follow(server, id, who))).toMatchObject([{ finishReason: 'stop' }])
        })
      }
    }
  })
})
