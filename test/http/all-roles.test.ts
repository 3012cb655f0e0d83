/** Who may do what with the things of others: every route, whoever adds it, for every role. */
import { beforeAll, describe, expect, it } from 'vitest'
import { everything } from '../../examples/everything.ts'
import { createCore } from '../../src/core/core.ts'
import { routesOf, serve } from '../../src/core/handler.ts'
import { localState } from '../../src/core/local-state.ts'
import { ROLES, ROUTE_RIGHTS, rightOf } from '../../src/features/small/role-table.ts'
import type { Route } from '../../src/http/context.ts'
import { Agent, type LogEntry, type Middleware, platform } from '../../src/index.ts'
import { toCoreOptions } from '../../src/options.ts'
import type { RunPage } from '../../src/runs/stored/host.ts'
import { memoryStore } from '../../src/stores/memory.ts'
import { jsonRequest } from '../contracts/http/client.ts'
import { eventually } from '../eventually.ts'

const ORIGIN = 'http://127.0.0.1:8787'
/** What nobody but its owner may see. */
const SECRET = 'the-secret-of-ann'

/** Says who it is in a header, which stands for any middleware. */
const who: Middleware = (request, context, next) => {
  const [id = '', ...roles] = (request.headers.get('x-test-user') ?? '').split(' ')
  if (id !== '') context.identity = { id, ...(roles.length > 0 && { roles }) }
  return next()
}

const logged: LogEntry[] = []
const state = localState({ store: memoryStore(), retention: {}, isVolatile: false })
const assets = async () => new Response(null, { status: 404 })
const says = new Agent({ name: 'says', register: false, run: input => `You said: ${input}` })
const options = everything({ ADMIN_TOKEN: 'admin' }, { state, assets })
const core = createCore(
  toCoreOptions({
    ...options,
    serve: [...(options.serve ?? []), says],
    cors: false,
    logger: entry => void logged.push(entry),
    middleware: [who],
  }),
)
const routes = routesOf(core)
const handler = serve(core)
const prefix = '/api'

/** A body that many routes take. */
const BODY = JSON.stringify({ input: 'x', score: 1, answers: [{ id: 'x', decision: 'approve' }] })

/** Ids of things of ann, by the name of a parameter; others are `says`. */
const ids: Record<string, string> = { name: 'says' }

function fill(path: string): string {
  const id = path.includes('/sessions/') ? ids.session : path.includes('/webhooks/') ? ids.webhook : ids.run
  return path.replace(/:(\w+)/g, (_, name) => (name === 'id' ? (id ?? '') : (ids[name] ?? 'x')))
}

/** Sends a request to a route with the ids of ann. */
async function ask({ method, path }: Pick<Route, 'method' | 'path'>, user: string, query = '') {
  const body =
    method === 'GET' || method === 'DELETE'
      ? {}
      : { body: BODY, headers: { 'content-type': 'application/json' } }
  const headers = { ...Object(body).headers, 'x-test-user': user }
  const signal = AbortSignal.timeout(20_000)
  const request = new Request(ORIGIN + fill(path) + query, { method, ...body, headers, signal })
  const response = await handler(request, platform({ ip: '127.0.0.1' }))
  return response
}

/** The first 64 KiB of a body: some have no end. */
async function textOf(response: Response): Promise<string> {
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  const isOpen = response.headers.get('content-type')?.startsWith('text/event-stream')
  while (reader && text.length < 65_536) {
    const { done, value } = await reader.read()
    if (done) break
    text += value
    if (isOpen) break
  }
  await reader?.cancel().catch(() => {})
  return text
}

/** A problem without what differs from request to request. */
async function outcomeOf(response: Response): Promise<string> {
  const text = await textOf(response)
  return `${response.status} ${text.replace(/"(requestId|instance)":"[^"]*",?/g, '')}`
}

const named = (which: (route: Route) => boolean) =>
  routes.filter(which).map(route => [`${route.method} ${route.path}`, route] as const)
const hasRight = (route: Route) => rightOf(route, prefix) !== undefined

async function make(): Promise<void> {
  const post = async (path: string, body: object) => {
    const headers = { 'x-test-user': 'ann', prefer: 'respond-async' }
    const response = await handler(new Request(ORIGIN + path, jsonRequest(body, headers)))
    return response.json()
  }
  const session = await post('/api/sessions', { kind: 'agent', name: 'says', title: SECRET })
  const run = await post('/api/agents/says/run', { input: SECRET, sessionId: session.id })
  const webhook = await post('/api/webhooks', { url: 'http://127.0.0.1:9/hook', events: ['run.completed'] })
  const tested = await post(`/api/webhooks/${webhook.id}/test`, {})
  Object.assign(ids, { session: session.id, run: run.id, webhook: webhook.id, delivery: tested.id })
  expect(Object.values(ids).every(id => typeof id === 'string')).toBe(true)
  await eventually(async () => {
    const record = await (await ask({ method: 'GET', path: '/api/runs/:id' }, 'ann')).json()
    expect(record.result?.text).toContain(SECRET)
  })
}

beforeAll(make)

describe('a route', () => {
  it('has the right of the table', () => {
    const found = new Set(routes.flatMap(route => rightOf(route, prefix) ?? []))
    expect(found).toEqual(new Set(Object.values(ROUTE_RIGHTS)))
    const keys = routes.filter(hasRight).map(({ method, path }) => {
      return `${method} ${path.slice(prefix.length).replace(/^\/(agents|teams|workflows)\//, '/kinds/')}`
    })
    expect(new Set(keys)).toEqual(new Set(Object.keys(ROUTE_RIGHTS)))
  })
})

describe('somebody without a role', () => {
  it.each(named(() => true))('sees and does nothing of what is ann’s: %s', async (_, route) => {
    for (const query of ['', '?owner=ann', '?owner=*', '?owner=ann&roles=admin&role=admin']) {
      // A route without a right is about its caller alone, whatever role that has.
      const isOfCaller = !hasRight(route) && route.part !== 'admin'
      for (const user of ['bob', 'bob stranger', '', ...(isOfCaller ? ['eve admin'] : [])]) {
        const text = await textOf(await ask(route, user, query))
        expect(text, `${user} ${query}`).not.toContain(SECRET)
      }
    }
  })

  it.each(named(hasRight))('is told what is told of things that do not exist: %s', async (_, route) => {
    const [denied, other] = [
      await ask(route, 'bob', '?owner=ann'),
      await ask(route, 'bob viewe', '?owner=ann'),
    ]
    const outcome = await outcomeOf(denied)
    expect(outcome).toMatch(/^404 .*"code":"(run_not_found|not_found)"/)
    expect(await outcomeOf(other)).toBe(outcome)
    if (!route.path.startsWith('/api/runs/:id')) return
    const absent = { ...route, path: route.path.replace(':id', crypto.randomUUID()) }
    expect(await outcomeOf(await ask(absent, 'bob'))).toBe(outcome)
  })

  it('gets no role by what a client sends', async () => {
    const forged = { roles: ['admin'], role: 'admin', owner: 'ann', identity: { id: 'ann' } }
    for (const path of ['/api/agents/says/run', '/api/agents/says/stream', `/api/runs/${ids.run}/retry`]) {
      const headers = { 'x-test-user': 'bob', 'x-roles': 'admin', roles: 'admin', 'x-owner': 'ann' }
      const init = jsonRequest({ input: 'x', ...forged, metadata: forged, userId: 'ann' }, headers)
      const text = await textOf(await handler(new Request(ORIGIN + path, init)))
      expect(text).not.toContain(SECRET)
    }
    const list = await ask({ method: 'GET', path: '/api/runs' }, 'bob', '?owner=*')
    expect(list.status).toBe(404)
  })
})

describe('a role', () => {
  const cases = Object.keys(ROLES).flatMap(role =>
    named(route => hasRight(route) && route.method !== 'DELETE').map(
      ([name, route]) => [role, name, route] as const,
    ),
  )

  it.each(cases)('%s has the rights of the table, and no others: %s', async (role, _, route) => {
    const right = rightOf(route, prefix)
    const isAllowed = ROLES[role]?.includes(right!)
    logged.length = 0
    const response = await ask(route, `eve ${role}`, '?owner=ann')
    const outcome = await outcomeOf(response)
    const [entry] = logged.filter(({ event }) => event === 'access.used')
    expect(entry).toMatchObject({
      channel: 'audit',
      actor: 'eve',
      owner: 'ann',
      right,
      outcome: isAllowed ? 'ok' : 'refused',
    })
    if (!isAllowed) expect(outcome).toMatch(/^404 /)
    // What is there of ann's is answered.
    const there =
      /^GET \/api\/(runs(\/:id(\/(stream|events))?)?|sessions|webhooks|budgets|\w+\/:name\/sessions)/
    const isThere =
      there.test(`${route.method} ${route.path}`) &&
      !/\/(teams|workflows|artifacts|messages\/|input|feedback)/.test(route.path)
    if (isAllowed && isThere) expect(outcome).toMatch(/^200 /)
  })

  it('acts as the owner: what it starts is the owner’s', async () => {
    const retry = (init: RequestInit) =>
      handler(new Request(`${ORIGIN}/api/runs/${ids.run}/retry?owner=ann`, { method: 'POST', ...init }))
    const changed = await retry(jsonRequest({ input: 'x' }, { 'x-test-user': 'eve operator' }))
    expect(await outcomeOf(changed)).toMatch(/^403 /)
    const again = await retry({ headers: { 'x-test-user': 'eve operator' } })
    expect(again.status).toBe(200)
    const { runId } = await again.json()
    const mine = await ask({ method: 'GET', path: `/api/runs/${runId}` }, 'ann')
    expect(mine.status).toBe(200)
    expect((await ask({ method: 'GET', path: `/api/runs/${runId}` }, 'eve operator')).status).toBe(404)
  })

  it('that may not read inputs gets the record without it', async () => {
    const path = '/api/runs/:id'
    expect((await ask({ method: 'GET', path }, 'eve viewer', '?owner=ann&include=input')).status).toBe(404)
    const record = await ask({ method: 'GET', path }, 'eve operator', '?owner=ann&include=input')
    expect((await record.json()).input).toBe(SECRET)
  })

  it('lists what is of all, page by page, with their owners', async () => {
    await textOf(
      await handler(
        new Request(`${ORIGIN}/api/agents/says/run`, jsonRequest({ input: 'x' }, { 'x-test-user': 'bob' })),
      ),
    )
    const owners = new Set<string>()
    const page = async (query: string): Promise<RunPage> =>
      (await ask({ method: 'GET', path: '/api/runs' }, 'eve viewer', `?owner=*&limit=1${query}`)).json()
    let pages = 0
    let cursor: string | null = ''
    for (; cursor !== null; pages++) {
      const { runs, nextCursor } = await page(cursor && `&cursor=${cursor}`)
      for (const run of runs) owners.add(String(run.owner))
      cursor = nextCursor
    }
    expect(owners).toContain('ann')
    expect(owners).toContain('bob')
    expect(pages).toBeGreaterThan(1)
    const own = await (await ask({ method: 'GET', path: '/api/runs' }, 'bob')).json()
    expect(own.runs[0]).not.toHaveProperty('owner')
  })

  it('that may delete deletes the owner’s, and nobody else may', async () => {
    const path = '/api/agents/:name/sessions/:id'
    for (const user of ['eve viewer', 'eve approver', 'eve operator'])
      expect((await ask({ method: 'DELETE', path }, user, '?owner=ann')).status).toBe(404)
    expect((await ask({ method: 'DELETE', path }, 'eve admin', '?owner=ann')).status).toBe(204)
    expect((await ask({ method: 'GET', path }, 'ann')).status).toBe(404)
    await make()
  })

  it('opens the routes of administrators that it has the right for', async () => {
    const statusOf = async (path: string, user: string) => (await ask({ method: 'GET', path }, user)).status
    for (const [path, right] of [
      ['/api/keys', 'keys'],
      ['/api/schedules', 'schedules'],
      ['/api/paused', 'pause'],
      ['/api/budgets/all', 'budgets'],
      ['/api/admin/mcp', 'admin'],
    ] as const) {
      expect(await statusOf(path, 'bob')).toBe(401)
      for (const [role, rights] of Object.entries(ROLES))
        expect(await statusOf(path, `eve ${role}`), `${path} ${role}`).toBe(
          rights.includes(right) ? 200 : 401,
        )
    }
  })
})
