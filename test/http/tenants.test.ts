/** One service for many customers: nothing crosses from one to another. */
import { describe, expect, it } from 'vitest'
import { approvals } from '../../src/features/approvals/plugin.ts'
import { callerKeys } from '../../src/features/keys/plugin.ts'
import { queue } from '../../src/features/queue/plugin.ts'
import { sessions } from '../../src/features/sessions/plugin.ts'
import { webhooks } from '../../src/features/webhooks/plugin.ts'
import {
  Agent,
  bearerAuth,
  createHandler,
  type HandlerOptions,
  type Identity,
  memoryState,
  platform,
  tool,
} from '../../src/index.ts'
import { jsonRequest } from '../contracts/http/client.ts'

const ORIGIN = 'http://127.0.0.1'
const says = new Agent({ name: 'says', register: false, run: (_, { identity }) => `by ${identity}` })
const pay = tool({ name: 'pay', needsApproval: true, execute: () => 'paid' })
const asks = new Agent({
  name: 'asks',
  register: false,
  tools: [pay],
  async *run(_, { callTool }) {
    yield String(yield* callTool(pay, {}))
  },
})

const USERS: Record<string, Identity> = {
  ada: { id: 'ada', tenant: 'acme' },
  boss: { id: 'boss', tenant: 'acme', roles: ['admin'] },
  // The same id, of another customer.
  other: { id: 'ada', tenant: 'umbrella' },
  plain: { id: 'ada' },
  root: { id: 'root', roles: ['admin'] },
}

function service(options: HandlerOptions = {}) {
  const handler = createHandler({
    serve: [says, asks],
    registry: false,
    state: memoryState(),
    logger: false,
    runs: { store: 'all' },
    middleware: [bearerAuth({ tokens: USERS })],
    ...options,
  })
  const ask = (user: string, path: string, init: RequestInit = {}) =>
    handler(
      new Request(`${ORIGIN}/api/${path}`, {
        ...init,
        headers: { ...init.headers, authorization: `Bearer ${user}` },
      }),
      platform({ ip: '127.0.0.1' }),
    )
  const json = async (user: string, path: string, init?: RequestInit) => (await ask(user, path, init)).json()
  const statusOf = async (user: string, path: string, init?: RequestInit) =>
    (await ask(user, path, init)).status
  return { ask, json, statusOf }
}

const run = jsonRequest({ input: 'x' })

describe('a tenant', () => {
  it('is part of the owner: one id of two tenants is two owners', async () => {
    const { json, statusOf } = service({
      plugins: [sessions(), webhooks({ clients: true, allow: ['127.0.0.1'] })],
    })
    const { runId, text } = await json('ada', 'agents/says/run', run)
    expect(text).toBe('by acme›ada')
    const session = await json('ada', 'sessions', jsonRequest({ kind: 'agent', name: 'says' }))
    const hook = await json(
      'ada',
      'webhooks',
      jsonRequest({ url: 'http://127.0.0.1:9', events: ['run.completed'] }),
    )
    expect(await statusOf('ada', `runs/${runId}`)).toBe(200)
    for (const user of ['other', 'plain', 'boss', 'root']) {
      expect(await statusOf(user, `runs/${runId}`), user).toBe(404)
      expect(await statusOf(user, `agents/says/sessions/${session.id}`), user).toBe(404)
      expect(await statusOf(user, `webhooks/${hook.id}`), user).toBe(404)
      expect(await json(user, 'runs'), user).toMatchObject({ runs: [] })
    }
  })

  it('bounds its operators; those without one are for all', async () => {
    const { json, statusOf } = service()
    const mine = await json('ada', 'agents/says/run', run)
    const theirs = await json('other', 'agents/says/run', run)
    await json('plain', 'agents/says/run', run)
    const ownersOf = async (user: string, query: string) =>
      (await json(user, `runs?${query}`)).runs.map(({ owner }: { owner?: string }) => owner)
    expect(await ownersOf('boss', 'owner=*')).toEqual(['acme›ada'])
    expect((await ownersOf('root', 'owner=*')).sort()).toEqual(['acme›ada', 'ada', 'umbrella›ada'])
    // Operators of a tenant name its users by their ids.
    for (const owner of ['ada', 'acme›ada'])
      expect(await statusOf('boss', `runs/${mine.runId}?owner=${owner}`)).toBe(200)
    expect(await statusOf('root', `runs/${mine.runId}?owner=acme›ada`)).toBe(200)
    for (const owner of ['ada', 'umbrella›ada', 'acme›umbrella›ada', ''])
      expect(await statusOf('boss', `runs/${theirs.runId}?owner=${encodeURIComponent(owner)}`), owner).toBe(
        404,
      )
  })

  it('does not open the routes of operators of all', async () => {
    const keys = callerKeys()
    const { statusOf } = service({ plugins: [keys], production: true, admin: {} })
    for (const [path, found] of [
      ['keys', 200],
      [`admin/runs/${crypto.randomUUID()}`, 404],
    ] as const) {
      expect(await statusOf('boss', path)).toBe(403)
      expect(await statusOf('root', path)).toBe(found)
    }
    const own = callerKeys({ authenticate: () => ({ id: 'boss', tenant: 'acme' }) })
    expect(await service({ plugins: [own] }).statusOf('ada', 'keys')).toBe(403)
  })

  it('bounds who decides approvals, whatever `authorize` says', async () => {
    const { json, statusOf } = service({ plugins: [approvals({ authorize: () => true })] })
    const { runId, requests } = await json('ada', 'agents/asks/run', run)
    const answer = jsonRequest({ answers: [{ id: requests[0].id, decision: 'approve' }] })
    expect(await statusOf('other', `runs/${runId}/answers`, answer)).toBe(404)
    expect(await json('other', 'approvals?whose=others')).toMatchObject({ approvals: [] })
    expect((await json('boss', 'approvals?whose=others')).approvals).toHaveLength(1)
    expect(await statusOf('boss', `runs/${runId}/answers`, answer)).toBe(200)
  })

  it('bounds lists of what is queued', async () => {
    const held = new Agent({ name: 'held', register: false, run: () => new Promise<string>(() => {}) })
    const { json } = service({ serve: [held], plugins: [queue()], runs: { maxRunning: 1 } })
    const asked = jsonRequest({ input: 'x' }, { prefer: 'respond-async' })
    for (const user of ['ada', 'other', 'plain']) await json(user, 'agents/held/run', asked)
    const queued = async (user: string) => (await json(user, 'runs?owner=*&status=queued')).runs.length
    expect([await queued('boss'), await queued('root')]).toEqual([0, 2])
  })
})

describe('the deletion of a tenant', () => {
  it('deletes sessions, keys and webhooks of its users, also of those without runs', async () => {
    const keys = callerKeys()
    const { json, statusOf } = service({
      plugins: [sessions(), keys, webhooks({ clients: true, allow: ['127.0.0.1'] })],
    })
    const hook = jsonRequest({ url: 'http://127.0.0.1:9', events: ['run.completed'] })
    for (const user of ['ada', 'other']) {
      await json(user, 'sessions', jsonRequest({ kind: 'agent', name: 'says' }))
      await json(user, 'webhooks', hook)
    }
    await json('boss', 'webhooks', hook)
    await json('root', 'keys', jsonRequest({ owner: 'acme›cid', name: 'x', scopes: ['all'] }))
    const deletes = { method: 'DELETE' }
    for (const user of ['ada', 'boss', 'plain'])
      expect(await statusOf(user, 'tenants/acme', deletes)).toBe(404)
    expect(await json('root', 'tenants/acme', deletes)).toEqual({ owners: 3, isDone: false })
    expect(await json('root', 'tenants/acme', deletes)).toEqual({ owners: 0, isDone: true })
    expect(await json('ada', 'sessions')).toMatchObject({ sessions: [] })
    expect(await json('boss', 'webhooks')).toMatchObject({ webhooks: [] })
    expect((await json('root', 'keys')).keys).toEqual([])
    expect((await json('other', 'sessions')).sessions).toHaveLength(1)
    expect((await json('other', 'webhooks')).webhooks).toHaveLength(1)
    for (const name of ['', 'acm', 'acme›', '%', 'umbrell'])
      expect(await json('root', `tenants/${encodeURIComponent(name)}`, deletes)).not.toMatchObject({
        isDone: false,
      })
  })
})

describe('an identity', () => {
  it.each<Identity>([
    { id: 'acme›ada' },
    { id: 'acme›ada', tenant: 'acme' },
    { id: 'ada', tenant: 'acme›umbrella' },
    { id: 'ada', tenant: '' },
    { id: 'ada', tenant: 'a b' },
    { id: 'ada', tenant: 5 as never },
    { id: 'ada', tenant: 'x'.repeat(65) },
  ])('that could be taken for one of another tenant is refused: %j', async identity => {
    const { statusOf } = service({
      middleware: [
        (_, context, next) => {
          context.identity = identity
          return next()
        },
      ],
    })
    expect(await statusOf('ada', 'runs')).toBe(500)
    expect(() => bearerAuth({ tokens: { t: identity } })).toThrow('must give each token an identity')
  })

  it('stays the same when middleware sets it again, and is refused with the id of another', async () => {
    const seen: (string | undefined)[] = []
    const again = (change: object): HandlerOptions => ({
      middleware: [
        bearerAuth({ tokens: USERS }),
        (_, context, next) => {
          context.identity = { ...context.identity!, ...change }
          seen.push(context.identity.id)
          return next()
        },
      ],
    })
    expect(await service(again({ scopes: ['x'] })).statusOf('ada', 'runs')).toBe(200)
    expect(seen).toEqual(['acme›ada'])
    expect(await service(again({ id: 'umbrella›ada' })).statusOf('ada', 'runs')).toBe(500)
    expect(await service(again({ tenant: 'umbrella' })).statusOf('ada', 'runs')).toBe(500)
  })
})
