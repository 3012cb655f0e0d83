/** Several processes over one PostgreSQL database, of which some are killed, frozen, or cut from the database. */
import process from 'node:process'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { eventually } from '../contracts/http/client.ts'
import { accept, as, cancel, ended, get, own, post, type Server } from '../contracts/runs/client.ts'
import { startNode } from './harness.ts'
import { expectInterrupted, following, idsOf, type Neighbour } from './neighbours.ts'
import { type PostgresServer, startPostgres } from './postgres/server.ts'

let database: PostgresServer
beforeAll(async () => {
  database = await startPostgres()
})
afterAll(() => database?.stop())

let schemas = 0

/** Processes that share a schema. */
function cluster(options: { readonly isHeard?: boolean; readonly url?: string } = {}) {
  const { isHeard = true, url = database.url } = options
  const SCHEMA = `cluster_${++schemas}`
  const env = { DATABASE: url, SCHEMA, MAX: '4', ...(isHeard && { LISTEN: url }) }
  return async (): Promise<Neighbour> => {
    const runtime = await startNode('test/runtimes/entries/neighbours-node.ts', { env })
    onTestFinished(() => runtime.stop())
    const pid = Number(/pid (\d+)/.exec(runtime.log())?.[1])
    return {
      server: () => ({ ...runtime, folder: '' }),
      kill: runtime.kill,
      signal: signal => void process.kill(pid, signal),
    }
  }
}

const endless = (server: Server, owner: Record<string, string>) =>
  accept(server, 'agents/gated', { input: own('never') }, owner)

describe.each([
  ['that hear each other', true],
  ['that read again and again', false],
])('two processes %s', (_, isHeard) => {
  it('follow, list and cancel the runs of each other', async () => {
    const join = cluster({ isHeard })
    const [one, two] = [await join(), await join()]
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

  it('end the runs of one that is killed, each once', async () => {
    const join = cluster({ isHeard })
    const [one, two] = [await join(), await join()]
    const owner = as(own('owner'))
    const ids = await Promise.all(Array.from({ length: 10 }, () => endless(one.server, owner)))
    const followed = await Promise.all(ids.map(({ id }) => following(two.server, id, owner)))
    await one.kill()
    for (const each of followed) await expectInterrupted(each)
    expect(await idsOf(two.server, 'running', owner)).toEqual(new Set())
  })
})

describe('a process', () => {
  it('that was frozen for longer than its lease stops what others have ended, and goes on', async () => {
    const join = cluster()
    const [one, two] = [await join(), await join()]
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

  it('answers 503 while the database is frozen, and loses nothing of what runs', async () => {
    const own1 = await startPostgres()
    onTestFinished(() => own1.stop())
    const join = cluster({ url: own1.url })
    const one = await join()
    const owner = as(own('owner'))
    const { id } = await endless(one.server, owner)
    const here = await following(one.server, id, owner)
    own1.signal('SIGSTOP')
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
    own1.signal('SIGCONT')
    await eventually(async () => expect((await fetch(`${one.server().url}/api/health`)).status).toBe(200))
    await eventually(async () => expect(await cancel(one.server, id, owner)).toMatchObject({ status: 200 }))
    const messages = await here.all
    expect(messages.map(({ id }) => Number(id))).toEqual(messages.map((_, index) => index + 1))
    expect(messages.at(-1)?.event).toMatchObject({ finishReason: 'cancelled' })
  })

  it('hears again after the database was restarted', async () => {
    const own1 = await startPostgres()
    onTestFinished(() => own1.stop())
    const join = cluster({ url: own1.url })
    const [one, two] = [await join(), await join()]
    const owner = as(own('owner'))
    const { id } = await endless(one.server, owner)
    const elsewhere = await following(two.server, id, owner)
    await own1.restart()
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
})
