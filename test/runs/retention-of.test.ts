import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { Agent, createHandler, type LogEntry, memoryState, type RunsOptions } from '../../src/index.ts'
import { SESSIONS } from '../../src/runs/sessions/session-record.ts'
import { retentionBy } from '../../src/runs/stored/retention-of.ts'
import type { Document } from '../../src/stores/store.ts'
import { jsonRequest } from '../contracts/http/client.ts'
import { identify } from '../contracts/identify.ts'

const HOUR = 3_600_000
const what = { kind: 'agent', name: 'a', owner: null } as const

describe('a function of a deployment', () => {
  it.each([0, 1, 1.4, HOUR])('says how long something is kept: %d ms', ms => {
    const told: unknown[] = []
    expect(
      retentionBy(
        () => ms,
        5,
        error => told.push(error),
      )(what),
    ).toBe(Math.round(ms))
    expect(told).toEqual([])
  })

  it.each<unknown>([-1, Number.NaN, Number.POSITIVE_INFINITY, '5', undefined, null, Promise.resolve(5)])(
    'that gives %s is told, and the default holds',
    given => {
      const told: unknown[] = []
      expect(
        retentionBy(
          () => given as number,
          5,
          error => told.push(error),
        )(what),
      ).toBe(5)
      expect(told).toMatchObject([{ code: 'invalid_options' }])
    },
  )

  it('that throws is told, and the default holds', () => {
    const thrown = new Error('no')
    const told: unknown[] = []
    const asked = retentionBy(
      () => {
        throw thrown
      },
      5,
      error => told.push(error),
    )
    expect([asked(what), told]).toEqual([5, [thrown]])
  })
})

describe('what a handler keeps', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['Date'] })
  })
  afterEach(() => {
    vi.useRealTimers()
  })

  function service(runs: RunsOptions) {
    const log: LogEntry[] = []
    const agent = new Agent({
      name: 'echo',
      register: false,
      async *run() {
        yield { type: 'text', text: 'hi' }
      },
    })
    const handler = createHandler({
      agents: { echo: agent, short: agent },
      state: memoryState({ maxAgeMs: 100 * HOUR }),
      middleware: [identify],
      logger: entry => void log.push(entry),
      runs,
    })
    const run = async (name: string, user: string): Promise<string> => {
      const headers = { 'x-test-user': user, 'idempotency-key': crypto.randomUUID() }
      const request = jsonRequest({ input: 'hi' }, headers)
      const response = await handler(new Request(`http://x/api/agents/${name}/run`, request))
      expect(response.status).toBe(200)
      return response.headers.get('x-run-id') ?? ''
    }
    const isKept = async (id: string, user: string): Promise<boolean> => {
      const request = new Request(`http://x/api/runs/${id}`, { headers: { 'x-test-user': user } })
      return (await handler(request)).status === 200
    }
    return { run, isKept, log }
  }

  it('is kept by its agent and its owner', async () => {
    const asked: unknown[] = []
    const { run, isKept } = service({
      retentionMs(of) {
        asked.push(of)
        return of.name === 'short' ? HOUR : of.owner === 'ada' ? 3 * HOUR : 2 * HOUR
      },
    })
    const kept = [
      [await run('short', 'ada'), 'ada'],
      [await run('echo', 'bob'), 'bob'],
      [await run('echo', 'ada'), 'ada'],
    ] as const
    const statuses = () => Promise.all(kept.map(([id, user]) => isKept(id, user)))
    expect(await statuses()).toEqual([true, true, true])
    for (const left of [2, 1, 0]) {
      vi.setSystemTime(Date.now() + HOUR)
      expect((await statuses()).filter(Boolean)).toHaveLength(left)
    }
    expect(asked).toContainEqual({ kind: 'agent', name: 'short', owner: 'ada' })
  })

  it('is kept as long as the default says where the function throws, and the log is told', async () => {
    const { run, isKept, log } = service({
      retentionMs() {
        throw new Error('broken')
      },
    })
    const id = await run('echo', 'ada')
    vi.setSystemTime(Date.now() + 23 * HOUR)
    expect(await isKept(id, 'ada')).toBe(true)
    vi.setSystemTime(Date.now() + HOUR)
    expect(await isKept(id, 'ada')).toBe(false)
    expect(log).toContainEqual(
      expect.objectContaining({ event: 'retention.failed', option: 'runs.retentionMs', message: 'broken' }),
    )
  })

  it('of sessions is by their agent and owner, also of one that claims to be someone', async () => {
    const asked: unknown[] = []
    const state = memoryState()
    const agent = new Agent({ name: 'echo', register: false, run: () => 'hi' })
    const handler = createHandler({
      agents: { 'a:b': agent },
      state,
      middleware: [identify],
      runs: {
        sessionRetentionMs(of) {
          asked.push(of)
          return of.owner === 'x' ? HOUR : 2 * HOUR
        },
      },
    })
    const say = (fields: Record<string, string>, more: object = {}) => {
      const request = jsonRequest({ input: 'hi', sessionId: 's', ...more }, fields)
      return handler(new Request('http://x/api/agents/a%3Ab/run', request))
    }
    for (const [fields, more] of [[{ 'x-test-user': 'x' }], [{}, { userId: 'ada' }], [{}]] as const)
      expect((await say(fields, more)).status).toBe(200)
    expect(asked).toContainEqual({ kind: 'agent', name: 'a:b', owner: 'x' })
    expect(asked).toContainEqual({ kind: 'agent', name: 'a:b', owner: null })
    expect(asked).not.toContainEqual({ kind: 'agent', name: 'a:b', owner: 'ada' })
    const kept = state.store.read(tx => tx.oldest(SESSIONS, 10)) as Document[]
    const times = kept.map(({ partition, at, expiresAt = 0 }) => [partition, expiresAt - at])
    expect(Object.fromEntries(times)).toEqual({
      'owner:x': HOUR,
      'owner:/ada': 2 * HOUR,
      anonymous: 2 * HOUR,
    })
  })
})
