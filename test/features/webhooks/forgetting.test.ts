/** What is left of the deliveries of a session, and of an owner, once it is deleted. */
import { describe, expect, it } from 'vitest'
import { sessions } from '../../../src/features/sessions/plugin.ts'
import { DELIVERIES, type KeptDelivery } from '../../../src/features/webhooks/kept.ts'
import { type WebhookDelivery, webhooks } from '../../../src/features/webhooks/plugin.ts'
import { type HandlerOptions, sequence, Team } from '../../../src/index.ts'
import { openai } from '../../../src/protocols/openai/plugin.ts'
import { RUNS, type StoredRun } from '../../../src/runs/stored/record.ts'
import { forgetRun } from '../../../src/runs/stored/retention.ts'
import type { NearStore } from '../../../src/stores/store.ts'
import { eventually } from '../../eventually.ts'
import { speaker } from '../../support.ts'
import { inMemory, inSqlite, type Kept, type Service, service } from '../sessions/service.ts'

// Nobody listens there: what is to be told waits.
const url = 'http://127.0.0.1:1/hook'
const secret = btoa('x'.repeat(32))

function served(kept: Kept, more: HandlerOptions = {}): Service {
  const hooks = webhooks({
    subscriptions: [{ id: 'crm', url, secret, contents: true }],
    ...{ clients: true, runs: { secret }, allow: ['127.0.0.1'] },
  })
  const admin = { authenticate: () => ({ id: 'root' }) }
  return service(kept, { plugins: [sessions(), hooks, openai()], runs: { store: 'all' }, admin, ...more })
}

/** Leaves what a run said in a delivery of each kind. */
async function tell({ ask }: Service, user: string, input: string, sessionId: string): Promise<string> {
  const body = { input, sessionId, webhook: { url } }
  const headers = { prefer: 'respond-async' }
  const { json, text, status } = await ask('POST', '/api/agents/talks/run', { user, body, headers })
  expect(status, text).toBe(202)
  const { id } = json()
  await eventually(async () => {
    expect((await ask('GET', `/api/runs/${id}`, { user })).json().status).toBe('completed')
  })
  return id
}

/** A run whose time has come. */
function expire({ state }: Kept, id: string): void {
  const store = state.store as NearStore
  store.write(tx => {
    const run = tx.get<StoredRun>(RUNS, id)?.value
    if (run !== undefined) forgetRun(tx, run)
  })
}

async function subscribe({ ask }: Service, user: string): Promise<void> {
  expect((await ask('POST', '/api/webhooks', { user, body: { url, contents: true } })).status).toBe(201)
}

async function remove({ ask }: Service, path: string, user: string): Promise<void> {
  expect((await ask('DELETE', path, { user })).status).toBe(204)
}

describe.each<readonly [string, () => Kept]>([
  ['memory', inMemory],
  ['SQLite', inSqlite],
])('in %s', (_, open) => {
  it('nothing of a session or of an owner is left in deliveries, also of runs that have expired', async () => {
    const kept = open()
    const it = served(kept)
    for (const user of ['ada-lovelace', 'bob-dylan']) {
      await subscribe(it, user)
      for (const session of ['one', 'two']) {
        const id = await tell(it, user, `MARKER-${session}-${user}`, session)
        const expired = await tell(it, user, `EXPIRED-${session}-${user}`, session)
        expect(id).not.toBe(expired)
        expire(kept, expired)
      }
    }
    const marks = (session: string, user: string) => [
      `MARKER-${session}-${user}`,
      `EXPIRED-${session}-${user}`,
    ]
    await remove(it, '/api/agents/talks/sessions/one', 'ada-lovelace')
    for (const mark of marks('one', 'ada-lovelace')) expect(it.all()).not.toContain(mark)
    for (const mark of marks('two', 'ada-lovelace')) expect(it.all()).toContain(mark)
    await remove(it, '/api/users/me', 'ada-lovelace')
    expect(it.all()).not.toContain('ada-lovelace')
    expect((await it.ask('GET', '/api/webhooks', { user: 'bob-dylan' })).json().webhooks).toHaveLength(1)
    const all = it.all()
    for (const session of ['one', 'two'])
      for (const mark of marks(session, 'bob-dylan')) expect(all).toContain(mark)
  })

  it('what an older version wrote is found by its run, and by its owner', async () => {
    const kept = open()
    const it = served(kept)
    await tell(it, 'ada', 'MARKER-ONE', 'one')
    expire(kept, await tell(it, 'ada', 'MARKER-TWO', 'two'))
    const store = kept.state.store as NearStore
    store.write(tx => {
      for (const document of tx.oldest<KeptDelivery>(DELIVERIES, 100)) {
        const { session: _, ...value } = document.value
        tx.put(DELIVERIES, { ...document, tags: { status: value.status }, value })
      }
    })
    await remove(it, '/api/agents/talks/sessions/one', 'ada')
    expect(it.all()).not.toContain('MARKER-ONE')
    expect(it.all()).toContain('MARKER-TWO')
    await remove(it, '/api/users/me', 'ada')
    expect(it.all()).not.toContain('MARKER-TWO')
  })

  it.each(['/api/agents/talks/sessions/one', '/api/users/me'])(
    'nothing of a run that is cancelled for it: %s',
    async path => {
      const it = served(open())
      it.gate('g')
      const headers = { prefer: 'respond-async' }
      const id = await it.say('waits g', 'one', { user: 'ada', headers })
      await eventually(() => expect(it.all()).toContain('you said waits g'))
      await remove(it, `${path}?running=cancel`, 'ada')
      for (const mark of [id, 'waits g']) expect(it.all()).not.toContain(mark)
    },
  )

  it('nothing of a response that its client deletes', async () => {
    const it = served(open())
    const user = 'ada'
    await subscribe(it, user)
    const respond = async (input: string) => {
      const { text, status, json } = await it.ask('POST', '/v1/responses', {
        user,
        body: { model: 'talks', input },
      })
      expect(status, text).toBe(200)
      return json().id as string
    }
    const [id, other] = [await respond('MARKER-ONE'), await respond('MARKER-TWO')]
    expect(other).not.toBe(id)
    expect(it.all()).toContain('MARKER-ONE')
    expect((await it.ask('DELETE', `/v1/responses/${id}`, { user: 'bob' })).status).toBe(404)
    expect(it.all()).toContain('MARKER-ONE')
    expect((await it.ask('DELETE', `/v1/responses/${id}`, { user })).status).toBe(200)
    expect(it.all()).not.toContain('MARKER-ONE')
    expect(it.all()).toContain('MARKER-TWO')
  })
})

it('finds those of a session, and of an owner, page by page, and no others', async () => {
  const kept = inMemory()
  const team = new Team({
    name: 'talks',
    members: [speaker('one', 'x')],
    strategy: sequence,
    register: false,
  })
  const it = served(kept, { teams: { talks: team } })
  const headers = { prefer: 'respond-async' }
  const tellOf = async (user: string | undefined, of: string, session: string) => {
    const id = await it.say('x', session, { user, of, headers })
    await eventually(async () => {
      expect((await it.ask('GET', `/api/runs/${id}`, { user })).json().status).toBe('completed')
    })
    expire(kept, id)
    return id
  }
  const left = async () => {
    const { json } = await it.ask('GET', '/api/admin/webhooks/crm/deliveries')
    return new Set(json().deliveries.map(({ runId }: WebhookDelivery) => runId))
  }
  for (let count = 0; count < 120; count++) await tellOf('ada', 'agents/talks', 's')
  const others = [
    await tellOf('ada', 'agents/served', 's'),
    await tellOf('ada', 'teams/talks', 's'),
    await tellOf('ada', 'agents/talks', 'other'),
    await tellOf(undefined, 'agents/talks', 's'),
    await tellOf('bob', 'agents/talks', 's'),
  ]
  await remove(it, '/api/agents/talks/sessions/s', 'ada')
  expect(await left()).toEqual(new Set(others))
  await remove(it, '/api/users/me', 'ada')
  expect(await left()).toEqual(new Set(others.slice(3)))
})
