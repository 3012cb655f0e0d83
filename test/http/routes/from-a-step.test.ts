/** Runs that go on after a step of another run: what is not done again, and what nobody may do again. */
import { describe, expect, it } from 'vitest'
import { deferred } from '../../../src/base/wake.ts'
import { auditLog } from '../../../src/features/logs/index.ts'
import { queue } from '../../../src/features/queue/plugin.ts'
import { Agent, type HandlerOptions, type LogEntry, type RunRecord, type Tool } from '../../../src/index.ts'
import { restarting } from '../../contracts/fixture/restarting.ts'
import { identify } from '../../contracts/identify.ts'
import { eventually } from '../../eventually.ts'

const LATER = { prefer: 'respond-async' }

/** A service of one agent. */
function served(flow: Agent, { runs = {}, ...more }: HandlerOptions = {}) {
  const { fetch } = restarting({
    middleware: [identify],
    agents: { flow },
    runs: { keepInput: true, keepJournal: true, ...runs },
    ...more,
  })
  const ask = async (method: string, path: string, body?: object, headers: HeadersInit = {}) => {
    const sent = { 'x-test-user': 'ada', 'content-type': 'application/json', ...headers }
    const init = { method, headers: sent, body: body === undefined ? null : JSON.stringify(body) }
    const answer = await fetch(new Request(`http://127.0.0.1/api/${path}`, init))
    return {
      status: answer.status,
      body: (await answer.json()) as RunRecord & { code?: string; runId: string },
    }
  }
  const start = async (path: string, body: object = { input: 'go' }) =>
    (await ask('POST', path, body, LATER)).body.id
  const record = async (id: string) => (await ask('GET', `runs/${id}`)).body
  const ended = async (id: string, status: string) => {
    await eventually(async () => expect((await record(id)).status).toBe(status))
    return record(id)
  }
  return { ask, start, record, ended }
}

describe('a run that goes on after a step', () => {
  it('of a run that waits, and whose input is kept for its answer alone, is refused', async () => {
    let charged = 0
    const flow = new Agent({
      name: 'flow',
      register: false,
      resume: true,
      async *run(_, { step, ask }) {
        yield* step('charge', () => ++charged)
        yield* ask('size')
      },
    })
    const { ask, start, ended } = served(flow, { runs: { keepInput: false } })
    const id = await start('agents/flow/run')
    await ended(id, 'input_required')
    const { status, body } = await ask('POST', `runs/${id}/retry`, { from: 'charge' })
    expect([status, body.code]).toEqual([409, 'input_not_kept'])
    expect(charged).toBe(1)
  })

  it('of a run that is still queued is refused', async () => {
    const gate = deferred<void>()
    let charged = 0
    const flow = new Agent({
      name: 'flow',
      register: false,
      resume: true,
      async *run(_, { step }) {
        yield* step('charge', async () => {
          charged++
          await gate.promise
        })
      },
    })
    const { ask, start, ended } = served(flow, { plugins: [queue()], runs: { maxRunning: 1 } })
    const first = await start('agents/flow/run')
    await eventually(() => expect(charged).toBe(1))
    const second = await start('agents/flow/run')
    await ended(second, 'queued')
    const { status, body } = await ask('POST', `runs/${second}/retry`, { from: 'charge' }, LATER)
    expect([status, body.code]).toEqual([409, 'not_resumable'])
    gate.resolve()
    await ended(first, 'completed')
  })

  it('does the calls again that were at work beside the step, as calls of its own', async () => {
    const gate = deferred<void>()
    const attempts: number[] = []
    const pay: Tool = {
      name: 'pay',
      async execute(_, { attempt }) {
        attempts.push(attempt)
        await gate.promise
        return 'paid'
      },
    }
    const flow = new Agent({
      name: 'flow',
      register: false,
      resume: true,
      async *run(_, { step, parallel, callTool }) {
        const [a, b] = yield* parallel([
          step('pack', async function* () {
            await eventually(() => expect(attempts).not.toEqual([]))
            return 'packed'
          }),
          callTool(pay, {}),
        ])
        yield `${a} ${b}`
      },
    })
    const { ask, start, record, ended } = served(flow)
    const id = await start('agents/flow/run')
    await eventually(async () => {
      const { body } = await ask('GET', `runs/${id}/events`)
      expect(JSON.stringify(body)).toContain('"completed"')
    })
    gate.resolve()
    await ended(id, 'completed')
    const { body } = await ask('POST', `runs/${id}/retry`, { from: 'pack' })
    expect(await record(body.runId)).toMatchObject({ status: 'completed', result: { text: 'packed paid' } })
    expect(attempts).toEqual([1, 1])
  })

  it('asks again about a call that was approved for the other run, and that was not done there yet', async () => {
    const paid: unknown[] = []
    const gate = deferred<void>()
    const pay: Tool = {
      name: 'pay',
      needsApproval: true,
      onRepeat: 'run',
      async execute(args) {
        await gate.promise
        paid.push(args)
        return 'paid'
      },
    }
    const flow = new Agent({
      name: 'flow',
      register: false,
      resume: true,
      async *run(_, { step, parallel, callTool }) {
        const [a, b] = yield* parallel([
          step('pack', async function* ({ ask }) {
            return String(yield* ask('size'))
          }),
          callTool(pay, { amount: 5 }),
        ])
        yield `${a} ${b}`
      },
    })
    const { ask, start, record, ended } = served(flow)
    const id = await start('agents/flow/run')
    const { requests = [] } = await ended(id, 'input_required')
    const answers = requests.map(({ id: request, kind }) =>
      kind === 'question' ? { id: request, value: 'big' } : { id: request, decision: 'approve' },
    )
    const told = await ask('POST', `runs/${id}/answers`, { answers }, LATER)
    expect(told).toMatchObject({ status: 202 })
    const { continuedBy: on = '' } = await record(id)
    await eventually(async () => {
      const { body } = await ask('GET', `runs/${on}/events`)
      expect(JSON.stringify(body)).toContain('"completed"')
    })
    gate.resolve()
    await ended(on, 'completed')
    expect(paid).toHaveLength(1)
    const { body } = await ask('POST', `runs/${on}/retry`, { from: 'pack' })
    const after = await record(body.runId)
    expect(paid).toHaveLength(1)
    expect(after).toMatchObject({ status: 'input_required', requests: [{ toolName: 'pay' }] })
  })

  it('tells of no decision: nobody decides anew', async () => {
    const entries: LogEntry[] = []
    const told: string[] = []
    const pay: Tool = { name: 'pay', needsApproval: true, execute: () => 'paid' }
    const flow = new Agent({
      name: 'flow',
      register: false,
      resume: true,
      async *run(_, { step, callTool }) {
        yield String(yield* callTool(pay, {}))
        yield* step('pack', () => 'packed')
      },
    })
    flow.events.on('tool.approval.response', ({ decision }) => void told.push(decision))
    const { ask, start, record, ended } = served(flow, {
      plugins: [auditLog({ write: entry => void entries.push(entry) })],
    })
    const id = await start('agents/flow/run')
    const { requests = [] } = await ended(id, 'input_required')
    const answers = requests.map(({ id: request }) => ({ id: request, decision: 'approve' }))
    await ask('POST', `runs/${id}/answers`, { answers })
    const { continuedBy: on = '' } = await record(id)
    const decisions = () => entries.filter(({ event, decisions }) => event === 'run.started' && decisions)
    expect([decisions().length, told]).toEqual([1, ['approve']])
    const { body } = await ask('POST', `runs/${on}/retry`, { from: 'pack' })
    expect(await record(body.runId)).toMatchObject({ status: 'completed', result: { text: 'paid' } })
    expect([decisions().length, told]).toEqual([1, ['approve']])
  })
})
