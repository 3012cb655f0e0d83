import { describe, expect, it } from 'vitest'
import { createHandler as createHandlerOfCore } from '../../../src/core-entry.ts'
import { budgets } from '../../../src/features/budgets/plugin.ts'
import { Agent, Registry, ServableError, sequence, Team } from '../../../src/index.ts'
import { memoryStore } from '../../../src/stores/memory.ts'
import type { Store } from '../../../src/stores/store.ts'
import { eventually } from '../../eventually.ts'
import { untyped } from '../../support.ts'
import { callerOf, LONG_MS, MODEL, type Seen, service, USAGE } from './kit.ts'

/** A dollar's hundredth is a call. */
const cents = (count: number, more: object = {}) => ({
  maxCostUsd: count / 100,
  windowMs: LONG_MS,
  key: 'owner' as const,
  ...more,
})

describe('a budget', () => {
  it('counts what runs cost, and refuses the run after its limit', async () => {
    const { run, standing } = service(cents(3))
    expect((await run(2, 'ann')).status).toBe(200)
    await eventually(async () => expect(await standing('ann')).toMatchObject({ spentUsd: 0.02, heldUsd: 0 }))
    expect((await run(1, 'ann')).status).toBe(200)
    await eventually(async () =>
      expect(await standing('ann')).toMatchObject({ spentUsd: 0.03, remainingUsd: 0 }),
    )
    const { status, body, headers } = await run(1, 'ann')
    expect(status).toBe(429)
    expect(body).toMatchObject({ code: 'budget_exceeded', budget: 'owner', remainingUsd: 0 })
    const resetMs = Date.parse(String(body.resetAt)) - Date.now()
    expect(resetMs).toBeGreaterThan(0)
    expect(resetMs).toBeLessThanOrEqual(LONG_MS)
    expect(Number(headers.get('retry-after'))).toBeLessThanOrEqual(LONG_MS / 1000)
    expect(Number(headers.get('retry-after'))).toBeGreaterThanOrEqual(Math.floor(resetMs / 1000))
    expect((await run(1, 'bob')).status).toBe(200)
  })

  it('stops a run at work before its next call of a model', async () => {
    const { run, seen, standing } = service(cents(3))
    const { status, body } = await run(10, 'ann')
    expect({ status, code: body.code }).toEqual({ status: 429, code: 'budget_exceeded' })
    expect(seen.calls).toBe(3)
    expect(seen.signals[0]?.aborted).toBe(true)
    await eventually(async () => expect(await standing('ann')).toMatchObject({ spentUsd: 0.03, heldUsd: 0 }))
  })

  it('counts tokens as well', async () => {
    const { run, standing } = service({ maxTokens: 2500, windowMs: LONG_MS, key: 'all' })
    expect((await run(2)).status).toBe(200)
    await eventually(async () =>
      expect(await standing()).toMatchObject({ maxTokens: 2500, spentTokens: 2000, remainingTokens: 500 }),
    )
    // A call has taken 1,000, and less is left.
    const refused = await run(9)
    expect(refused.body).toMatchObject({ code: 'budget_exceeded', remainingTokens: 500 })
    expect(refused.body.detail).toContain('has too little left')
    expect(await standing()).toMatchObject({ spentTokens: 2000 })
    expect(await standing()).not.toHaveProperty('spentUsd')
  })
})

describe('a budget of 20,000 tokens', () => {
  const tokens = { maxTokens: 20_000, windowMs: LONG_MS, key: 'owner' as const }
  const crowd = (count: number, run: () => Promise<{ status: number }>) =>
    Promise.all(Array.from({ length: count }, run))

  it.each<[string, object, object?]>([
    ['nobody says what a call costs', {}],
    ['its reserve does', { reserveTokens: 1000 }],
    ['the agent does', {}, { maxOutputTokens: 400 }],
  ])('is a cap for 100 runs at once where %s', async (_, more, config = {}) => {
    const seen: Seen = { calls: 0, signals: [] }
    const agents = { calls: callerOf(seen, config) }
    const { run, standing } = service({ ...tokens, ...more }, { seen, agents })
    for (let round = 0; round < 3; round++) {
      await crowd(100, () => run(1, 'ann'))
      await eventually(async () => expect(await standing('ann')).toMatchObject({ heldTokens: 0 }))
      expect((await standing('ann')).spentTokens).toBeLessThanOrEqual(20_000)
    }
    expect(await standing('ann')).toMatchObject({ spentTokens: 20_000, remainingTokens: 0 })
    expect(seen.calls).toBe(20)
  })

  it('reserves for a new owner what calls of others have cost, and nothing where they cost nothing', async () => {
    const free = new Agent({ name: 'free', register: false, run: () => 'x' })
    const seen: Seen = { calls: 0, signals: [] }
    const { run, ask, standing } = service(tokens, { seen, agents: { calls: callerOf(seen), free } })
    const statuses = async (count: number, path: string, who: string) => {
      const answers = await Promise.all(Array.from({ length: count }, () => ask(path, who, { input: '1' })))
      return answers.filter(({ status }) => status === 200).length
    }
    expect(await statuses(1, 'agents/free/run', 'ann')).toBe(1)
    expect(await statuses(50, 'agents/free/run', 'bob')).toBe(50)
    expect((await run(1, 'ann')).status).toBe(200)
    expect(await statuses(30, 'agents/calls/run', 'bob')).toBe(20)
    await eventually(async () => expect(await standing('bob')).toMatchObject({ spentTokens: 20_000 }))
  })

  it('takes no run that used nothing for what the next one will use', async () => {
    const seen: Seen = { calls: 0, signals: [] }
    const { run, ask } = service(tokens, { seen })
    const { body } = await run(1, 'ann', { input: '1 hang' }, { prefer: 'respond-async' })
    await ask(`runs/${body.id}/cancel`, 'ann', {})
    const answers = await crowd(100, () => run(1, 'ann'))
    expect(answers.filter(({ status }) => status === 200).length).toBeLessThanOrEqual(20)
  })

  it('tells a run to try again soon where all that is left is reserved', async () => {
    const { run, ask, standing } = service({ ...tokens, reserveTokens: 20_000 })
    const { body: hanging } = await run(1, 'ann', { input: '1 hang' }, { prefer: 'respond-async' })
    const { status, body, headers } = await run(1, 'ann')
    expect([status, body.code, body.retryAfter, headers.get('retry-after')]).toEqual([
      429,
      'budget_exceeded',
      5,
      '5',
    ])
    expect(body.detail).toContain('reserved for runs at work')
    await ask(`runs/${hanging.id}/cancel`, 'ann', {})
    await eventually(async () => expect(await standing('ann')).toMatchObject({ heldTokens: 0 }))
  })

  it('counts the characters of a prompt that is longer than any before, where the agent limits its answers', async () => {
    const seen: Seen = { calls: 0, signals: [] }
    const { ask } = service(tokens, { seen, agents: { calls: callerOf(seen, { maxOutputTokens: 400 }) } })
    const { status, body } = await ask('agents/calls/run', 'ann', { input: `1 ${'x'.repeat(20_000)}` })
    expect([status, body.code, seen.calls]).toEqual([429, 'budget_exceeded', 0])
    expect((await ask('agents/calls/run', 'ann', { input: `1 ${'x'.repeat(19_000)}` })).status).toBe(200)
  })
})

describe('what nobody knows the cost of', () => {
  const nameless = new Agent({ name: 'nameless', register: false, run: () => 'x' })
  const unknown = new Agent({
    name: 'unknown',
    register: false,
    model: { provider: 'acme', id: 'new' },
    run: () => 'x',
  })

  it.each([
    ['nameless', nameless],
    ['unknown', unknown],
  ])('is refused when the handler is made: %s', (name, agent) => {
    expect(() => service(cents(3), { agents: { agent } })).toThrow(
      expect.objectContaining({
        code: 'invalid_options',
        message: expect.stringContaining(`agent \`agent\``),
      }),
    )
    const ignored = () => service(cents(3, { unpriced: 'ignore' }), { agents: { [name]: agent } })
    expect(ignored).not.toThrow()
    const { maxCostUsd: _, ...rest } = cents(3, { maxTokens: 10 })
    expect(() => service(rest, { agents: { [name]: agent } })).not.toThrow()
  })

  it('is refused at its first run where it is registered later', async () => {
    const registry = new Registry()
    const { ask } = service(cents(3), { registry })
    new Agent({ name: 'late', register: registry, run: () => 'x' })
    for (const more of [{}, { background: true }]) {
      const { status, body } = await ask('agents/late/run', 'ann', { input: 'x', ...more })
      expect([status, body.code]).toEqual([500, 'invalid_options'])
    }
  })

  it('stops a run after the call of a model that has no price', async () => {
    const strays = new Agent({
      name: 'strays',
      register: false,
      model: MODEL,
      async *run() {
        yield { type: 'model_call', model: 'other/model', usage: USAGE } as const
        yield 'x'
      },
    })
    const team = new Team({ name: 'team', register: false, members: [strays], strategy: sequence })
    const { ask } = service(cents(3), { teams: { team } })
    const { status, body } = await ask('teams/team/run', 'ann', { input: 'x' })
    expect([status, body.code]).toEqual([500, 'invalid_options'])
    const ignoring = service(cents(3, { unpriced: 'ignore' }), { teams: { team } })
    expect((await ignoring.ask('teams/team/run', 'ann', { input: 'x' })).status).toBe(200)
  })
})

describe('the options', () => {
  it.each<[string, object | object[], string]>([
    ['no limit', { windowMs: LONG_MS, key: 'all' }, 'has no limit'],
    ['no window', { maxTokens: 1, key: 'all' }, 'windowMs'],
    ['a short window', { maxTokens: 1, windowMs: 10, key: 'all' }, 'windowMs'],
    ['another key', { maxTokens: 1, windowMs: LONG_MS, key: 'user' }, 'key'],
    ['no amount', { maxCostUsd: 0, windowMs: LONG_MS, key: 'all' }, 'maxCostUsd'],
    ['a large reserve', cents(1, { reserveUsd: 1 }), 'the reserve of `owner`'],
    ['a reserve of what has no limit', cents(1, { reserveTokens: 1 }), 'the reserve of `owner`'],
    ['an unknown member', cents(1, { maxUsd: 1 }), 'maxUsd'],
    ['no budget', [], 'budgets'],
    ['two of one name', [cents(1), cents(2)], 'two budgets are called `owner`'],
  ])('with %s are refused', (_, options, text) => {
    expect(() => budgets(untyped(options))).toThrow(
      expect.objectContaining({ code: 'invalid_options', message: expect.stringContaining(text) }),
    )
  })

  it('need a state', () => {
    const plugins = [budgets(cents(1))]
    expect(() => createHandlerOfCore({ agents: {}, plugins })).toThrow(
      expect.objectContaining({ code: 'invalid_options' }),
    )
  })

  it('with a key that throws, or gives no text, refuse the run', async () => {
    const throwing = () => {
      throw new Error('nobody knows')
    }
    for (const key of [throwing, () => '', () => 5, () => 'x'.repeat(201)]) {
      const { run, seen } = service(cents(3, { key: untyped(key) }))
      expect((await run(1, 'ann')).status).toBe(500)
      expect(seen.calls).toBe(0)
    }
    const { run } = service(cents(1, { key: () => undefined }))
    for (let time = 0; time < 3; time++) expect((await run(1, 'ann')).status).toBe(200)
  })
})

/** The store, whose writes throw as long as `isAway` says so. */
function away(store: Store, isAway: () => boolean): Store {
  return new Proxy(store, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name)
      if (typeof member !== 'function') return member
      return (...args: unknown[]) => {
        if (name === 'write' && isAway()) throw new ServableError('state_unavailable', 'The store is away')
        return Reflect.apply(member, target, args)
      }
    },
  })
}

describe('a store that fails', () => {
  it('is asked again when a run has ended', async () => {
    const seen: Seen = { calls: 0, signals: [] }
    let failures = 2
    const store = away(memoryStore(), () => seen.calls > 0 && failures-- > 0)
    const { run, standing } = service(cents(10), { store, seen })
    expect((await run(1, 'ann')).status).toBe(200)
    await eventually(async () => expect(await standing('ann')).toMatchObject({ spentUsd: 0.01, heldUsd: 0 }))
    expect(failures).toBeLessThan(0)
  })

  it('refuses runs while it is away', async () => {
    const { run, seen } = service(cents(10), { store: away(memoryStore(), () => true) })
    expect((await run(1, 'ann')).status).toBe(503)
    expect(seen.calls).toBe(0)
  })
})

describe('a start that fails', () => {
  it('gives back what was held', async () => {
    const { run, standing } = service(cents(10), { runs: { maxRunning: 1, maxRunningPerOwner: 1 } })
    const hanging = run(1, 'ann', { background: true })
    const answers = await Promise.all([
      run(1, 'ann', { background: true }),
      run(1, 'ann', { background: true }),
    ])
    await hanging
    const started = 1 + answers.filter(({ status }) => status === 200).length
    await eventually(async () =>
      expect(await standing('ann')).toMatchObject({ spentUsd: started / 100, heldUsd: 0 }),
    )
  })
})
