import { afterEach, describe, expect, it } from 'vitest'
import { approvals } from '../../src/features/approvals/plugin.ts'
import { callerKeys, keysAuth } from '../../src/features/keys/plugin.ts'
import { schedule, schedules } from '../../src/features/schedules/plugin.ts'
import {
  Agent,
  type HandlerOptions,
  memoryState,
  type RunEvent,
  sequence,
  Team,
  Workflow,
} from '../../src/index.ts'
import { sqliteState } from '../../src/runtimes/sqlite.ts'
import { transcript } from '../../src/testing/index.ts'
import { type TestService, type TestSettings, testService } from '../../src/testing/service.ts'
import { identify } from '../contracts/identify.ts'
import { eventually } from '../eventually.ts'
import { drain } from '../support.ts'
import { CALL, cashier, refund } from './agents.ts'

const open: { stop(): Promise<void> }[] = []

afterEach(async () => {
  for (const service of open.splice(0)) await service.stop()
})

/** A service that ends with its test. */
async function started(
  options: HandlerOptions | (() => HandlerOptions),
  settings?: TestSettings,
): Promise<TestService> {
  const service = (await testService(options, settings)) as unknown as TestService
  open.push(service)
  return service
}

const echo = new Agent({ name: 'echo', register: false, run: async input => `You said ${input}` })

describe('a service in a test', () => {
  it('runs agents, teams and workflows, as a client does', async () => {
    const team = new Team({ name: 'all', register: false, members: [echo], strategy: sequence })
    const flow = new Workflow({
      name: 'flow',
      register: false,
      async *run(input, { step }) {
        return yield* step('say', async () => `${input}!`)
      },
    })
    const service = await started({ serve: [echo, team, flow] })
    expect((await service.agent('echo').run('Hello')).text).toBe('You said Hello')
    expect((await service.team('all').run('Hello')).text).toContain('Hello')
    expect((await service.workflow('flow').run('Hello')).text).toBe('Hello!')
    const events = await drain<RunEvent>(service.agent('echo').stream('Hello'))
    expect(transcript(events)).toBe('text "You said Hello"\nfinish stop')
    expect((await service.client.agents()).map(({ name }) => name)).toEqual(['echo'])
    expect((await service.fetch('/api/health')).status).toBe(200)
  })

  it('knows the names that it serves, and the types of their output', async () => {
    const service = await testService({ serve: [echo], agents: { other: echo } })
    open.push(service)
    await expect(service.agent('echo').run('Hello')).resolves.toMatchObject({ structured: null })
    await expect(service.agent('other').run('Hello')).resolves.toBeDefined()
    // @ts-expect-error No agent has this name.
    await expect(service.agent('ecco').run('Hello')).rejects.toMatchObject({ code: 'agent_not_found' })
  })

  it('knows nothing of agents that registered elsewhere', async () => {
    const service = await started({ serve: [echo] })
    new Agent({ name: 'elsewhere-in-test', run: async () => 'no' })
    await expect(service.client.agent('elsewhere-in-test').run('Hello')).rejects.toMatchObject({
      code: 'agent_not_found',
    })
  })

  it('refuses options that no handler takes, and a state outside of the process', async () => {
    await expect(testService({ sreve: [] } as object)).rejects.toMatchObject({ code: 'invalid_options' })
    const state = { kind: 'hosted' } as unknown as ReturnType<typeof memoryState>
    await expect(testService({ state })).rejects.toMatchObject({ code: 'invalid_options' })
    expect(Date.now.name).not.toBe('bound now')
  })

  it('says what goes wrong in an agent, and keeps the log', async () => {
    const broken = new Agent({
      name: 'broken',
      register: false,
      run: async () => {
        throw new Error('no money')
      },
    })
    const service = await started({ serve: [broken] })
    await expect(service.agent('broken').run('go')).rejects.toThrow('no money')
    expect(service.log.map(({ event }) => event)).toContain('request')
  })

  it('has other callers', async () => {
    const service = await started(
      { serve: [echo], middleware: [identify] },
      { headers: { 'x-test-user': 'ada' } },
    )
    const bob = service.as({ headers: { 'x-test-user': 'bob' } })
    const run = await service.agent('echo').start('Hello')
    await run.result()
    await expect(bob.client.runs.get(run.id)).rejects.toMatchObject({ code: 'run_not_found' })
    expect((await service.client.runs.list()).runs).toHaveLength(1)
  })
})

describe('a run that waits', () => {
  const waiting = () => cashier([CALL, 'Done.'], [refund([], { needsApproval: true, editable: true })])

  it('is approved', async () => {
    const service = await started({ serve: [waiting()] })
    const run = await service.agent('cashier').start('Refund order 7')
    expect(await run.request('refund')).toMatchObject({ kind: 'approval', args: { order: 7 } })
    expect(await run.result()).toMatchObject({ finishReason: 'input_required' })
    await run.approve('refund', { editedArgs: { order: 8 } })
    expect(await run.result()).toMatchObject({ text: 'Done.', finishReason: 'stop' })
    expect(run.ids).toHaveLength(2)
    expect(await run.transcript()).toContain('tool_result refund {"paid":true}')
    expect(await run.record()).toMatchObject({ status: 'completed', continuedFrom: run.ids[0] })
  })

  it('is denied, and the model gets the reason', async () => {
    const agent = cashier(
      ({ results }) => (results.length === 0 ? CALL : JSON.stringify(results)),
      [refund([], { needsApproval: true })],
    )
    const service = await started({ serve: [agent] })
    const run = await service.agent('cashier').start('Refund order 7')
    await run.reject('refund', 'too late')
    expect((await run.result()).text).toContain('too late')
  })

  it('is answered', async () => {
    const asking = new Agent({
      name: 'asking',
      register: false,
      async *run(_input, { ask }) {
        const size = yield* ask('size', { message: 'Which size?' })
        const colour = yield* ask('colour', { message: 'Which colour?' })
        return `${size} ${colour}`
      },
    })
    const service = await started({ serve: [asking] })
    const run = await service.agent('asking').start('A shirt')
    await run.answer('size', 'M')
    await run.answer('colour', 'red')
    expect((await run.result()).text).toBe('M red')
  })

  it('says what it does instead', async () => {
    const service = await started({ serve: [waiting(), echo] })
    const run = await service.agent('cashier').start('Refund order 7')
    await expect(run.answer('size', 'M')).rejects.toThrow(
      /does not wait for question or client_tool of `size`.*something else:\n {2}approval refund \{"order":7\}\nThe run:\n.*tool_call refund/s,
    )
    const other = await service.agent('echo').start('Hello')
    await expect(other.approve()).rejects.toThrow(
      /waits for nothing: it is completed\nThe run:\n {2}text "You said Hello"/,
    )
  })

  it('gives up in time', async () => {
    const silent = new Agent({ name: 'silent', register: false, run: () => new Promise<string>(() => {}) })
    const service = await started({ serve: [silent] }, { timeoutMs: 50 })
    const run = await service.agent('silent').start('Hello')
    await expect(run.request()).rejects.toThrow('The run did not come to a request within 50 ms')
    await run.cancel()
    expect(await run.record()).toMatchObject({ status: 'cancelled' })
  })
})

describe('the clock', () => {
  it('starts the runs of schedules', async () => {
    const service = await started(
      () => ({
        serve: [echo],
        middleware: [identify],
        plugins: [schedules([schedule(echo, { cron: '0 * * * *', input: 'again', owner: 'ada' })])],
      }),
      { headers: { 'x-test-user': 'ada' } },
    )
    const runs = async () => (await service.client.runs.list()).runs.length
    await service.advance(60 * 60_000)
    await eventually(async () => expect(await runs()).toBe(1))
    await service.advance(5 * 60 * 60_000)
    await eventually(async () => expect(await runs()).toBe(6))
  })

  it('makes up for schedules that were missed while the service was down', async () => {
    const service = await started(
      () => ({
        serve: [echo],
        middleware: [identify],
        plugins: [schedules([schedule(echo, { cron: '0 * * * *', input: 'again', owner: 'ada' })])],
      }),
      { headers: { 'x-test-user': 'ada' } },
    )
    service.kill()
    await expect(service.fetch('/api/health')).rejects.toThrow('killed')
    await service.advance(3 * 60 * 60_000)
    await service.restart()
    await service.advance(1000)
    await eventually(async () => expect((await service.client.runs.list()).runs.length).toBe(1))
  })

  it('lets approvals expire', async () => {
    const agent = cashier([CALL, 'Then not.'], [refund([], { needsApproval: true })])
    const service = await started({ serve: [agent], plugins: [approvals({ expiresMs: 60_000 })] })
    const run = await service.agent('cashier').start('Refund order 7')
    await run.request('refund')
    await service.advance(59_000)
    expect(await run.record()).toMatchObject({ waiting: true })
    await service.advance(2000)
    await expect(run.result()).rejects.toMatchObject({ code: 'approval_expired' })
  })

  it('lets keys expire', async () => {
    const keys = callerKeys()
    const service = await started({
      serve: [echo],
      plugins: [keys],
      middleware: [keysAuth(keys, { tokens: { boss: { id: 'boss', roles: ['admin'] } } })],
    })
    const boss = { headers: { authorization: 'Bearer boss', 'content-type': 'application/json' } }
    const made = await service.fetch('/api/keys', {
      method: 'POST',
      ...boss,
      body: JSON.stringify({
        owner: 'ada',
        name: 'short',
        scopes: ['run'],
        expiresAt: new Date(Date.now() + 60_000),
      }),
    })
    const said = await made.text()
    expect(`${made.status} ${said}`).toMatch(/^201/)
    const { key } = JSON.parse(said)
    const holder = service.as({ headers: { authorization: `Bearer ${key}` } })
    expect((await holder.agent('echo').run('Hello')).text).toBe('You said Hello')
    await service.advance(61_000)
    await expect(holder.agent('echo').run('Hello')).rejects.toMatchObject({ status: 401 })
  })

  it('ends runs that take too long', async () => {
    const silent = new Agent({ name: 'silent', register: false, run: () => new Promise<string>(() => {}) })
    const service = await started({ serve: [silent], runs: { timeoutMs: 60_000 } })
    const run = await service.agent('silent').start('Hello')
    await eventually(async () => expect((await run.record()).status).toBe('running'))
    await service.advance(59_000)
    expect((await run.record()).status).toBe('running')
    await service.advance(1000)
    await expect(run.result()).rejects.toMatchObject({ code: 'run_timeout' })
  })

  it('goes through the delays of a scripted model', async () => {
    const service = await started({ serve: [cashier([{ text: 'At last', delayMs: 500_000 }])] })
    const run = await service.agent('cashier').start('Hello')
    await service.advance(500_000)
    expect((await run.result()).text).toBe('At last')
  })

  it('refuses what is no time', async () => {
    const service = await started({ serve: [echo] })
    for (const ms of [-1, Number.NaN, Number.POSITIVE_INFINITY])
      await expect(service.advance(ms)).rejects.toMatchObject({ code: 'invalid_options' })
  })
})

describe.each([
  ['memory', () => undefined],
  ['`memoryState()`', () => memoryState()],
  ['SQLite', () => sqliteState({ path: ':memory:' })],
])('a crash, with state in %s', (_, stateOf) => {
  const withState = () => {
    const state = stateOf()
    return state === undefined ? {} : { state }
  }

  it('does not repeat what was done', async () => {
    const calls: unknown[] = []
    const agent = cashier([CALL, { text: 'Paid.', delayMs: 60_000 }], [refund(calls)])
    const service = await started({ serve: [agent], ...withState() })
    const run = await service.agent('cashier').start('Refund order 7')
    await eventually(async () => expect((await run.transcript()).includes('tool_result')).toBe(true))
    await service.restart()
    await service.advance(60_000)
    expect((await run.result()).text).toBe('Paid.')
    expect(calls).toEqual([{ order: 7 }])
    expect(await run.transcript()).toContain('resumed')
  })

  it('stops what the dead process did', async () => {
    const did: string[] = []
    const gates: (() => void)[] = []
    const body = new Agent({
      name: 'body',
      register: false,
      resume: false,
      async *run() {
        yield 'one '
        await new Promise<void>(resolve => gates.push(resolve))
        did.push('between')
        yield 'two'
        did.push('after')
      },
    })
    const service = await started({ serve: [body], ...withState() })
    const run = await service.agent('body').start('go')
    await eventually(async () => expect(gates.length).toBe(1))
    await service.restart()
    gates[0]?.()
    await expect(run.result()).rejects.toMatchObject({ code: 'interrupted' })
    await service.advance(60_000)
    expect(did).toEqual(['between'])
    expect(await run.transcript()).not.toContain('two')
  })

  it('keeps what waits', async () => {
    const agent = cashier([CALL, 'Done.'], [refund([], { needsApproval: true })])
    const service = await started({ serve: [agent], ...withState() })
    const run = await service.agent('cashier').start('Refund order 7')
    await run.request('refund')
    await service.restart()
    await run.approve()
    expect((await run.result()).text).toBe('Done.')
  })

  it('breaks connections, and clients come again', async () => {
    const gates: (() => void)[] = []
    const body = new Agent({
      name: 'body',
      register: false,
      resume: true,
      async *run(_, { step }) {
        yield 'one '
        yield* step('gate', () => new Promise<string>(resolve => gates.push(() => resolve('two'))))
        return 'one two'
      },
    })
    const service = await started({ serve: [body], ...withState() })
    const events = service.agent('body').stream('go')
    await events.next()
    await eventually(async () => expect(gates.length).toBe(1))
    await service.restart()
    await eventually(async () => expect(gates.length).toBe(2))
    gates[1]?.()
    expect((await events.result()).text).toContain('one')
  })

  it('ends the stream of a run that cannot go on, and breaks a body that is read by hand', async () => {
    const body = new Agent({
      name: 'body',
      register: false,
      resume: false,
      async *run() {
        yield 'one '
        await new Promise(() => {})
      },
    })
    const service = await started({ serve: [body], ...withState() })
    const events = service.agent('body').stream('go')
    expect((await events.next()).value).toMatchObject({ type: 'text', text: 'one ' })
    const { body: stream } = await service.fetch('/api/agents/body/stream', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"input":"go"}',
    })
    const reader = stream!.getReader()
    await reader.read()
    const [broken] = await Promise.allSettled([reader.read(), service.restart()])
    expect(broken).toMatchObject({ status: 'rejected', reason: { name: 'TypeError' } })
    expect((await events.next()).value).toMatchObject({ type: 'error', code: 'interrupted' })
  })
})

describe('a service that has ended', () => {
  it('gives the clock back', async () => {
    const before = { ...{ Date, setTimeout, setInterval, clearTimeout, clearInterval } }
    const services: TestService[] = [
      await testService({ serve: [echo] }),
      await testService({ serve: [echo] }),
    ]
    await services[0]!.advance(1000)
    expect(Date).not.toBe(before.Date)
    await services[0]!.stop()
    expect(Date).not.toBe(before.Date)
    await services[1]!.stop()
    expect({ Date, setTimeout, setInterval, clearTimeout, clearInterval }).toEqual(before)
    expect(Object.hasOwn(performance, 'now')).toBe(false)
  })
})
