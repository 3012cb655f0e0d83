import { describe, expect, it } from 'vitest'
import { localState } from '../../src/core/local-state.ts'
import { VERSION } from '../../src/http/version.ts'
import {
  bearerAuth,
  createHandler,
  type HandlerOptions,
  type LogEntry,
  type RunOptions,
} from '../../src/index.ts'
import { jsonRequest } from '../contracts/http/client.ts'

function make(options: HandlerOptions = {}) {
  const entries: LogEntry[] = []
  let seen: RunOptions | undefined
  const handler = createHandler({
    registry: false,
    agents: {
      echo: {
        async run(_input, own) {
          seen = own
          return { text: 'x' } as never
        },
      },
    },
    logger: entry => void entries.push(entry),
    ...options,
  })
  const ask = (path: string, init?: RequestInit) => handler(new Request(`http://127.0.0.1${path}`, init))
  const run = (headers: Record<string, string> = {}) =>
    ask('/api/agents/echo/run', jsonRequest({ input: 'x' }, headers))
  return { entries, handler, ask, run, seen: () => seen }
}

describe('the log of requests', () => {
  it('is one entry a request', async () => {
    const { entries, run } = make({
      middleware: [
        (_, context, next) => {
          context.identity = { id: 'ada' }
          return next()
        },
      ],
    })
    const response = await run()
    expect(entries).toEqual([
      {
        level: 'info',
        event: 'request',
        method: 'POST',
        path: '/api/agents/echo/run',
        part: 'router',
        status: 200,
        durationMs: expect.any(Number),
        requestId: response.headers.get('x-request-id'),
        runId: response.headers.get('x-run-id'),
        identity: 'ada',
      },
    ])
  })

  it.each([
    '/api/agents/a%0d%0a{"level":"error"}/run',
    '/api/%00%1b[31m/%e2%80%a8',
    '/api/\u2028\u2029\u0085\u202e',
    `/${'x'.repeat(10_000)}`,
  ])('shows no control character, and no more of a path than is useful: %j', async path => {
    const { entries, ask } = make()
    await ask(path)
    const line = JSON.stringify(entries[0])
    expect(line).not.toMatch(/[\p{Cc}\u2028\u2029\u202e]/u)
    expect(line.length).toBeLessThan(1000)
  })

  it('shows none of an address as it came, and of no identity', async () => {
    const middleware: HandlerOptions['middleware'] = [
      (_, context, next) => {
        context.identity = { id: 'a\u200bda' }
        return next()
      },
    ]
    const { entries, handler } = make({ middleware })
    const request = new Request('http://127.0.0.1/')
    Object.defineProperty(request, 'url', { value: 'http://127.0.0.1/api/\u0085\u202e\u001bagents' })
    await handler(request)
    expect(entries[0]).toMatchObject({ path: '/api/agents', identity: 'ada' })
  })

  it('shows the start of an id in a path, since who knows all of it may read the run', async () => {
    const { entries, ask } = make()
    await ask('/api/runs/0af76519-16cd-43dd-8448-eb211c80319c/stream')
    expect(entries[0]).toMatchObject({ path: '/api/runs/0af76519/stream' })
  })

  it('holds no query and no credential', async () => {
    const { entries, run, ask } = make({
      providers: { acme: { header: 'x-acme-api-key', matches: ['acme'] } },
    })
    const key = 'sk-canary-log'
    await run({
      'x-api-key': key,
      'x-acme-api-key': key,
      'x-provider-a-api-key': key,
      authorization: `Bearer ${key}`,
      cookie: key,
    })
    await ask(`/api/agents?token=${key}`)
    await ask(`/api/metrics/json?agent=${key}`)
    expect(entries.length).toBe(3)
    expect(JSON.stringify(entries)).not.toContain('sk-canary')
  })
})

describe('a trace', () => {
  const parent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'

  it('goes on to the run, with the span of the client', async () => {
    const { entries, run, seen } = make()
    await run({ traceparent: parent })
    expect(seen()?.traceparent).toBe(parent)
    expect(entries[0]).toMatchObject({ traceId: '0af7651916cd43dd8448eb211c80319c' })
  })

  it('of a later version goes on as what version 00 knows of it', async () => {
    const { run, seen } = make()
    await run({ traceparent: `${parent.replace('00-', '01-')}-more` })
    expect(seen()?.traceparent).toBe(parent)
  })

  it.each([
    undefined,
    '',
    'nonsense',
    parent.toUpperCase(),
    parent.replace('00-', 'ff-'),
    parent.replace('0af7651916cd43dd8448eb211c80319c', '0'.repeat(32)),
    parent.replace('b7ad6b7169203331', '0'.repeat(16)),
    `${parent}0`,
  ])('is not made of %j', async traceparent => {
    const { run, seen, entries } = make()
    await run(traceparent === undefined ? {} : { traceparent })
    expect(seen()?.traceparent).toBeUndefined()
    expect(entries[0]).not.toHaveProperty('traceId')
  })
})

describe('health', () => {
  it('is live and ready, and says when the state cannot be reached', async () => {
    const { ask } = make()
    const healthy = await ask('/api/health')
    expect([healthy.status, await healthy.json()]).toEqual([200, { status: 'ok', live: true, ready: true }])
    expect(healthy.headers.get('cache-control')).toBe('no-store')
    expect((await ask('/api/health', { method: 'HEAD' })).status).toBe(200)
    for (const path of ['/api/health?versions', '/api/health?versions=1']) {
      const refused = await ask(path)
      expect([refused.status, (await refused.json()).code]).toEqual([403, 'forbidden'])
    }
    const store = {
      read: () => undefined,
      write() {
        throw new Error('disk full')
      },
      instance: 'x',
      isShared: false,
      isAlive: () => true,
      close() {},
    }
    const tokens = { admin: { id: 'root', scopes: ['admin'] }, user: 'ada' }
    const guarded = make({ middleware: [bearerAuth({ tokens })] })
    const versionsFor = async (headers: Record<string, string>) => {
      const answer = await guarded.ask('/api/health?versions', { headers })
      return [answer.status, (await answer.json()).versions?.servable]
    }
    expect(await versionsFor({})).toEqual([401, undefined])
    expect(await versionsFor({ authorization: 'Bearer user' })).toEqual([403, undefined])
    expect(await versionsFor({ authorization: 'Bearer admin' })).toEqual([200, VERSION])
    expect((await guarded.ask('/api/health')).status).toBe(200)
    const broken = make({ state: localState({ store: store as never, retention: {}, isVolatile: true }) })
    const sick = await broken.ask('/api/health')
    expect([sick.status, await sick.json()]).toEqual([
      503,
      { status: 'unavailable', live: true, ready: false },
    ])
  })
})
