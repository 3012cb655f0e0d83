import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { approvals } from '../../src/features/approvals/plugin.ts'
import { sessions } from '../../src/features/sessions/plugin.ts'
import { ROLES } from '../../src/features/small/role-table.ts'
import {
  Agent,
  bearerIdentity,
  createHandler,
  type HandlerOptions,
  type LogEntry,
  MetricsExporter,
  memoryState,
  tool,
} from '../../src/index.ts'
import { jsonRequest } from '../contracts/http/client.ts'

const ORIGIN = 'http://127.0.0.1'

const pay = tool({ name: 'pay', needsApproval: true, execute: () => 'paid' })

const asks = new Agent({
  name: 'asks',
  register: false,
  tools: [pay],
  async *run(_, { callTool }) {
    yield String(yield* callTool(pay, {}))
  },
})

function service(options: HandlerOptions = {}) {
  const logged: LogEntry[] = []
  const handler = createHandler({
    serve: [asks, new Agent({ name: 'waits', register: false, run: () => new Promise<string>(() => {}) })],
    registry: false,
    state: memoryState(),
    logger: entry => void logged.push(entry),
    middleware: [
      (request, context, next) => {
        const [id = '', ...roles] = (request.headers.get('x-test-user') ?? '').split(' ')
        if (id !== '') context.identity = { id, roles }
        return next()
      },
    ],
    ...options,
  })
  const ask = (user: string, path: string, init: RequestInit = {}) =>
    handler(new Request(ORIGIN + path, { ...init, headers: { ...init.headers, 'x-test-user': user } }))
  const start = async (user: string, agent: string): Promise<string> => {
    const init = jsonRequest({ input: 'x' }, { prefer: 'respond-async' })
    return (await (await ask(user, `/api/agents/${agent}/run`, init)).json()).id
  }
  /** Starts a run that waits for an approval, and returns its id and the answer. */
  const wait = async (user: string) => {
    const id = await start(user, 'asks')
    let request: string | undefined
    await expect
      .poll(async () => {
        const { status, requests } = await (await ask(user, `/api/runs/${id}`)).json()
        request = requests?.[0].id
        return status
      })
      .toBe('input_required')
    return { id, answer: jsonRequest({ answers: [{ id: request, decision: 'approve' }] }) }
  }
  return { ask, start, wait, logged }
}

describe('the option `access`', () => {
  it('gives rights to roles of one’s own, and takes them from others', async () => {
    const { ask, start } = service({ access: { support: ['list', 'read'], viewer: [] } })
    const id = await start('ann', 'waits')
    const statusOf = async (user: string, path: string, method = 'GET') =>
      (await ask(user, path, { method })).status
    expect(await statusOf('eve support', `/api/runs/${id}?owner=ann`)).toBe(200)
    expect(await statusOf('eve support', '/api/runs?owner=*')).toBe(200)
    expect(await statusOf('eve support', `/api/runs/${id}/cancel?owner=ann`, 'POST')).toBe(404)
    expect(await statusOf('eve viewer', `/api/runs/${id}?owner=ann`)).toBe(404)
    expect(await statusOf('eve operator', `/api/runs/${id}/cancel?owner=ann`, 'POST')).toBe(200)
  })

  it('may be a function, which leaves to the table what it does not decide', async () => {
    const asked: unknown[] = []
    const { ask, start } = service({
      access: ({ id }, right, owner) => {
        asked.push([id, right, owner])
        if (owner === 'boss') return false
        return id === 'eve' ? true : undefined
      },
    })
    const [ann, boss] = [await start('ann', 'waits'), await start('boss', 'waits')]
    const statusOf = async (user: string, path: string) => (await ask(user, path)).status
    expect(await statusOf('eve', `/api/runs/${ann}?owner=ann`)).toBe(200)
    expect(await statusOf('eve', `/api/runs/${boss}?owner=boss`)).toBe(404)
    expect(await statusOf('eve', '/api/runs?owner=*')).toBe(200)
    expect(await statusOf('joe', `/api/runs/${ann}?owner=ann`)).toBe(404)
    expect(await statusOf('joe viewer', `/api/runs/${ann}?owner=ann`)).toBe(200)
    expect(asked).toContainEqual(['eve', 'list', undefined])
    expect(asked).toContainEqual(['joe', 'read', 'ann'])
  })

  it.each([
    () => {
      throw new Error('The directory is away')
    },
    () => 'yes' as never,
    () => Promise.resolve(true) as never,
  ])('refuses where the function fails: %s', async access => {
    const { ask, start, logged } = service({ access })
    const id = await start('ann', 'waits')
    expect((await ask('eve admin', `/api/runs/${id}?owner=ann`)).status).toBe(404)
    const failures = logged.filter(({ event }) => event === 'access.failed')
    if (access.toString().includes('throw'))
      expect(failures).toMatchObject([{ message: 'The directory is away' }])
  })

  it.each([{ viewer: ['reads'] }, { viewer: 'read' }, ['viewer'], 'admin', null])(
    'is checked: %j',
    access => {
      expect(() => service({ access: access as never })).toThrow(
        /`access` must be a function, or an object of roles/,
      )
    },
  )

  it('knows all owners in the list of runs alone: elsewhere `*` is the name of one', async () => {
    const { ask } = service({ plugins: [sessions()] })
    await ask('eve admin', '/api/sessions', jsonRequest({ kind: 'agent', name: 'waits' }))
    const listed = async (query: string) =>
      (await (await ask('eve admin', `/api/sessions${query}`)).json()).sessions
    expect([(await listed('')).length, (await listed('?owner=*')).length]).toEqual([1, 0])
  })

  it('has no role that an object inherits', async () => {
    const { ask, start } = service({ access: {} })
    const id = await start('ann', 'waits')
    for (const role of ['constructor', '__proto__', 'toString'])
      expect((await ask(`eve ${role}`, `/api/runs/${id}?owner=ann`)).status).toBe(404)
  })
})

describe('an identity', () => {
  it('with roles that are no array is refused', async () => {
    const { ask } = service({
      middleware: [
        (_, context, next) => {
          context.identity = { id: 'eve', roles: 'admin' as never }
          return next()
        },
      ],
    })
    expect((await ask('eve', '/api/runs')).status).toBe(500)
  })
})

describe('a stream that a role has opened', () => {
  it('ends after a minute, and goes on where it ended for who still has the role', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    onTestFinished(() => void vi.useRealTimers())
    const { ask, start } = service()
    const id = await start('ann', 'waits')
    for (const path of [`/api/runs/${id}/stream`, '/api/runs']) {
      const headers = { accept: 'text/event-stream' }
      const response = await ask('eve viewer', `${path}?owner=ann`, { headers })
      expect(response.headers.get('content-type')).toContain('text/event-stream')
      const ended = response.text()
      await vi.advanceTimersByTimeAsync(60_000)
      await ended
    }
    expect((await ask('eve', `/api/runs/${id}/stream?owner=ann`)).status).toBe(404)
  })
})

describe('metrics with an `authenticate` of their own', () => {
  it('are open to whoever has the right, and their stream ends after a minute too', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    onTestFinished(() => void vi.useRealTimers())
    const metricsExporter = new MetricsExporter({
      authenticate: bearerIdentity({ tokens: { x: 'scraper' } }),
    })
    const { ask } = service({ metricsExporter })
    for (const [role, rights] of Object.entries(ROLES)) {
      const response = await ask(`eve ${role}`, '/api/metrics/stream')
      expect(response.status, role).toBe(rights.includes('metrics') ? 200 : 401)
      const ended = response.text()
      await vi.advanceTimersByTimeAsync(60_000)
      await ended
    }
    expect((await ask('eve', '/api/metrics')).status).toBe(401)
  })
})

describe('an approver', () => {
  it.each(Object.entries(ROLES))('%s', async (role, rights) => {
    const { ask, wait, logged } = service({ plugins: [approvals()] })
    const { id, answer } = await wait('ann')
    const mayAnswer = rights.includes('answer')
    const inbox = await (await ask(`eve ${role}`, '/api/approvals?whose=others')).json()
    expect(inbox.approvals.map(({ run }: { run: { id: string } }) => run.id)).toEqual(mayAnswer ? [id] : [])
    const outcome = await ask(`eve ${role}`, `/api/runs/${id}/answers`, answer)
    expect(outcome.status).toBe(mayAnswer ? 200 : 404)
    if (!mayAnswer) return
    const record = await (await ask('ann', `/api/runs/${id}`)).json()
    expect(record.answered).toMatchObject([{ decision: 'approve', answeredBy: { id: 'eve' } }])
    expect(logged.filter(({ level }) => level === 'error')).toEqual([])
  })

  it('may answer as the owner, whose record says who it was', async () => {
    const { ask, wait } = service()
    const { id, answer } = await wait('ann')
    expect((await ask('eve operator', `/api/runs/${id}/answers?owner=ann`, answer)).status).toBe(404)
    expect((await ask('eve approver', `/api/runs/${id}/answers?owner=ann`, answer)).status).toBe(200)
    const record = await (await ask('ann', `/api/runs/${id}`)).json()
    expect(record.answered).toMatchObject([{ answeredBy: { id: 'eve' } }])
  })
})

describe('who may run inputs of others again', () => {
  it('says nothing in their name', async () => {
    const echo = new Agent({ name: 'echo', register: false, run: () => 'x' })
    const { ask, start } = service({ serve: [echo], runs: { keepInput: true } })
    const id = await start('ann', 'echo')
    const status = async () => (await (await ask('ann', `/api/runs/${id}`)).json()).status
    await expect.poll(status).toBe('completed')
    const retry = (user: string, body: object, of = '?owner=ann') =>
      ask(user, `/api/runs/${id}/retry${of}`, jsonRequest(body))
    for (const body of [{ input: 'pay me' }, { sessionId: 'hers' }, { sessionId: null }]) {
      const refused = await retry('eve operator', body)
      expect([refused.status, (await refused.json()).code]).toEqual([403, 'forbidden'])
      expect((await retry('ann', body, '')).status).toBe(200)
      expect((await retry('ann operator', body)).status).toBe(200)
    }
    expect((await retry('eve operator', {})).status).toBe(200)
    expect((await retry('eve viewer', {})).status).toBe(404)
  })
})
