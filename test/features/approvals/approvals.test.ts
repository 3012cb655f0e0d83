/** The plugin in one process: its options, who may decide, and what of that is kept. */

import { randomUUID } from 'node:crypto'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { coreOf } from '../../../src/core/handler.ts'
import type { WaitingRequest } from '../../../src/features/approvals/inbox.ts'
import { type ApprovalsOptions, approvals } from '../../../src/features/approvals/plugin.ts'
import { changesOf, LiveInbox } from '../../../src/features/approvals/watch.ts'
import { RUNS } from '../../../src/runs/stored/record.ts'
import { ASKING } from '../../../src/runs/waiting/waiting.ts'
import { memoryStore } from '../../../src/stores/memory.ts'
import { eventually } from '../../eventually.ts'
import { service } from './kit.ts'

afterEach(() => {
  vi.useRealTimers()
})

const byBob: ApprovalsOptions = { authorize: (_, { identity }) => identity?.id === 'bob' }

describe('options', () => {
  it.each<[string, object]>([
    ['authorize', { authorize: true }],
    ['expiresMs', { expiresMs: 0 }],
    ['onExpiry', { onExpiry: 'ignore' }],
    ['authorise', { authorise: () => true }],
  ])('refuse a wrong %s', (name, options) => {
    expect(() => approvals(options as ApprovalsOptions)).toThrow(
      expect.objectContaining({
        code: 'invalid_options',
        message: expect.stringContaining(`approvals.${name}`),
      }),
    )
  })
})

describe('without `authorize`', () => {
  it.each([{}, undefined])('only the owner of a run decides: %o', async plugin => {
    const { waiting, decide } = service(plugin)
    const asked = await waiting('ann')
    expect((await decide(asked, 'bob')).body.code).toBe('run_not_found')
    expect((await decide(asked, 'ann')).body).toMatchObject({ text: 'paid' })
  })
})

describe('`authorize`', () => {
  it('is told of the request, the run and the approver, and nothing else', async () => {
    const authorize = vi.fn(() => true)
    const { waiting, decide } = service({ authorize })
    const asked = await waiting('ann')
    await decide(asked, 'bob')
    expect(authorize.mock.calls).toEqual([
      [
        {
          request: expect.objectContaining({ id: asked.request, kind: 'approval', args: { amount: 5 } }),
          run: {
            id: asked.id,
            kind: 'agent',
            name: 'pays',
            owner: 'ann',
            userId: 'ann',
            sessionId: undefined,
          },
        },
        { identity: { id: 'bob' }, ip: undefined, requestId: expect.any(String) },
      ],
    ])
  })

  it.each<[string, ApprovalsOptions['authorize']]>([
    [
      'throws',
      () => {
        throw new Error('nobody knows')
      },
    ],
    ['rejects', () => Promise.reject(new Error('nobody knows'))],
    ['gives what is no boolean', (() => 'yes') as unknown as ApprovalsOptions['authorize']],
  ])('refuses where it %s', async (name, authorize) => {
    const { waiting, decide, logged } = service({ authorize })
    const asked = await waiting('ann')
    expect((await decide(asked, 'ann')).body.code).toBe('forbidden')
    expect((await decide(asked, 'bob')).body.code).toBe('run_not_found')
    const told = logged.filter(({ event }) => event === 'approvals.failed')
    expect(told).toHaveLength(name.startsWith('gives') ? 0 : 2)
  })

  it('refuses where it takes too long', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    let isAsked = false
    const never = () => {
      isAsked = true
      return new Promise<boolean>(() => {})
    }
    const authorize: ApprovalsOptions['authorize'] = (_, { identity }) =>
      identity?.id === 'bob' ? never() : true
    const { waiting, decide, logged } = service({ authorize })
    const asking = waiting('ann')
    await vi.advanceTimersByTimeAsync(1000)
    const deciding = decide(await asking, 'bob')
    await eventually(() => expect(isAsked).toBe(true))
    await vi.advanceTimersByTimeAsync(10_000)
    expect((await deciding).body.code).toBe('run_not_found')
    expect(logged.some(({ event }) => event === 'approvals.failed')).toBe(true)
  })

  it('decides of a run without an owner, too', async () => {
    const { waiting, decide } = service(byBob)
    const asked = await waiting()
    for (const who of [undefined, 'carol']) expect((await decide(asked, who)).body.code).toBe('forbidden')
    expect((await decide(asked, 'bob')).body).toMatchObject({ text: 'paid' })
  })
})

describe('a run that waits for a key', () => {
  it('goes on for its owner alone, with a key', async () => {
    const { ask, decide, handler } = service(byBob)
    const { body } = await ask('agents/pays/run', 'ann', { input: 'x', apiKey: 'sk-of-ann-0123456789' })
    const asked = { id: body.runId, request: body.requests?.[0]?.id ?? '' }
    const core = coreOf(handler)!
    const { resume } = core.again
    const asker = (owner: string, key?: string) => ({
      owner,
      ip: undefined,
      transport: 'http',
      isIsolated: false,
      apiKeys: () => (key === undefined ? undefined : { openai: key }),
      credentials: () => [],
      secrets: () => [],
    })
    const key = 'sk-of-ann-0123456789'
    const tried = (...given: Parameters<typeof asker>) =>
      resume({ id: asked.id }, asker(...given)).catch(error => error.code)
    expect(await tried('ann', key)).toBe('not_resumable')
    expect((await decide(asked, 'bob')).body).toMatchObject({ goesOn: false, resumable: true })
    expect(await tried('bob', key)).toBe('run_not_found')
    expect(await tried('ann')).toBe('key_required')
    const started = await resume({ id: asked.id }, asker('ann', key))
    expect((await started.result()).text).toBe('paid')
    expect((await ask(`runs/${asked.id}`, 'ann')).body).toMatchObject({ continuedBy: started.id })
  })
})

describe('the inbox', () => {
  it('has what waited before the plugin was there', async () => {
    const before = service(undefined)
    const asked = await before.waiting('ann')
    const { ask } = service(byBob, { store: before.store })
    await eventually(async () => {
      const { body } = await ask('approvals?whose=others', 'bob')
      expect((body as unknown as { approvals: WaitingRequest[] }).approvals).toMatchObject([
        { request: { id: asked.request }, run: { id: asked.id, owner: 'ann' } },
      ])
    })
  })

  it('pages through 1,000 runs of one owner', async () => {
    const { ask, handler, store } = service(byBob, { store: memoryStore() })
    const host = coreOf(handler)!.host
    for (let count = 0; count < 1000; count++) {
      const id = randomUUID()
      const request = { id: `${id}/pay`, kind: 'approval', toolName: 'pay', digest: 'x' } as const
      await host.keep({
        id,
        owner: 'ann',
        event: { type: 'finish', finishReason: 'input_required', requests: [request] },
        waiting: {
          target: { kind: 'agent', name: 'pays' },
          input: 'x',
          options: { identity: 'ann' },
          requests: [request],
          answers: [],
          work: { done: [], answered: [], states: {} },
        },
      })
    }
    expect(await store.read(tx => tx.count(ASKING))).toBe(1000)
    for (const [who, query] of [
      ['ann', 'whose=mine'],
      ['bob', 'whose=others'],
    ] as const) {
      const seen = new Set<string>()
      let cursor: string | null = ''
      let pages = 0
      while (cursor !== null) {
        const at: string = cursor === '' ? '' : `&cursor=${cursor}`
        const { body } = await ask(`approvals?limit=100&${query}${at}`, who)
        const page = body as unknown as { approvals: WaitingRequest[]; nextCursor: string | null }
        for (const { run } of page.approvals) seen.add(run.id)
        cursor = page.nextCursor
        pages++
      }
      expect([seen.size, pages]).toEqual([1000, 10])
    }
  })
})

describe('an approval that expires', () => {
  it('goes on, though another one that is due is gone', async () => {
    const { waiting, ask, store } = service({ expiresMs: 20, onExpiry: 'continue' })
    const gone = await waiting('ann')
    await store.write(tx => tx.delete(RUNS, gone.id))
    const asked = await waiting('ann')
    await eventually(async () => {
      await ask('approvals', 'ann')
      expect((await ask(`runs/${asked.id}`, 'ann')).body.continuedBy).toBeDefined()
    })
    expect(await store.read(tx => tx.get(ASKING, gone.id))).toBeUndefined()
  })
})

describe('changes of the inbox', () => {
  const entry = (id: string, second: number): WaitingRequest => ({
    request: { id, kind: 'approval', digest: 'x' },
    run: { id, kind: 'agent', name: 'pays' },
    createdAt: new Date(second * 1000).toISOString(),
  })
  const asBefore = (...entries: readonly WaitingRequest[]) =>
    new Map(entries.map(each => [each.request.id, each] as const))

  it('are what came, the oldest first, and what left', () => {
    const [a, b, c] = [entry('a', 1), entry('b', 2), entry('c', 3)]
    expect(changesOf(asBefore(a), { approvals: [c, b], hasMore: false })).toEqual([
      { type: 'removed', id: 'a' },
      { type: 'added', approval: b },
      { type: 'added', approval: c },
    ])
  })

  it('remember the newest thousand, however many have come', async () => {
    const all = Array.from({ length: 3000 }, (_, index) => entry(`${index}`, index))
    let last = 100
    const page = () => ({ approvals: all.slice(last - 100, last).toReversed(), hasMore: true })
    const inbox = new LiveInbox(async () => page())
    await inbox.first()
    while (last < 3000) {
      last += 100
      expect(await inbox.changes()).toHaveLength(100)
    }
    // All that came later have left. Those of the last thousand are known, and older ones are told as if they came.
    const typesAt = async (at: number) => {
      last = at
      return new Set((await inbox.changes()).map(({ type }) => type))
    }
    expect(await typesAt(2100)).toEqual(new Set(['removed']))
    expect(await typesAt(1900)).toEqual(new Set(['removed', 'added']))
  })

  it('are not what is too old to be seen', () => {
    const [a, b, c] = [entry('a', 1), entry('b', 2), entry('c', 3)]
    expect(changesOf(asBefore(a, b), { approvals: [c, b], hasMore: true })).toEqual([
      { type: 'added', approval: c },
    ])
    expect(changesOf(asBefore(a, b, c), { approvals: [c, a], hasMore: true })).toEqual([
      { type: 'removed', id: 'b' },
    ])
  })
})
