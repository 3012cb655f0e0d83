/**
 * Whatever call of a store fails, at whatever moment: once it works again, every task has an end and everyone is told.
 *
 * @module-tag long
 */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { isSettledState, isTerminalState } from '../../../src/protocols/a2a/model.ts'
import { PUSH_DEFAULTS } from '../../../src/protocols/a2a/options.ts'
import { createLocalTaskHost } from '../../../src/protocols/a2a/tasks/local-task-host.ts'
import type { TaskEntry } from '../../../src/protocols/a2a/tasks/task-body.ts'
import type { TaskHost } from '../../../src/protocols/a2a/tasks/task-host.ts'
import { AT_WORK, TASKS } from '../../../src/protocols/a2a/tasks/task-record.ts'
import type { Follower } from '../../../src/runs/stored/host.ts'
import type { Target } from '../../../src/runs/target.ts'
import { openDatabase } from '../../../src/runtimes/sqlite.ts'
import { memoryStore } from '../../../src/stores/memory.ts'
import { sqlStore } from '../../../src/stores/sql/sql.ts'
import type { NearStore, Store } from '../../../src/stores/store.ts'
import { unique } from '../../contracts/run-host/kit.ts'
import { reopened, SETTINGS } from '../../contracts/run-host/local.ts'
import { type Act, openGate, scripted } from '../../contracts/run-host/scripted.ts'
import {
  callsOf,
  type Failing,
  faultyStore,
  outages,
  pass,
  passAMinute,
  storms,
} from '../../contracts/store/faulty.ts'
import { ELSEWHERE } from '../../tags.ts'

const OWNER = 'ann'
const RECEIVER = 'http://127.0.0.1:9'

/** What receivers were told, by the path of each. */
const received = new Map<string, string[]>()
const unhandled: unknown[] = []
const note = (reason: unknown) => void unhandled.push(reason)

beforeEach(() => {
  vi.useFakeTimers()
  unhandled.length = 0
  received.clear()
  process.on('unhandledRejection', note)
  // Without a client of its own the service sends with `fetch`, which no real clock has a part in.
  const builtin = process.getBuiltinModule
  vi.spyOn(process, 'getBuiltinModule').mockImplementation((name: string) =>
    name === 'node:http' ? undefined : builtin(name),
  )
  vi.stubGlobal('fetch', async ({ href }: URL, { body }: { body: string }) => {
    received.set(href, [...(received.get(href) ?? []), body])
    return new Response(null, { status: 204 })
  })
})
afterEach(() => {
  process.off('unhandledRejection', note)
  vi.unstubAllGlobals()
  vi.restoreAllMocks()
  vi.useRealTimers()
  expect(unhandled).toEqual([])
})

const target: Target = { kind: 'agent', name: 'scripted', servable: scripted }

function hostOver(store: Store): TaskHost {
  const settings = {
    ...SETTINGS,
    maxTasksPerOwner: 1000,
    maxHistory: 200,
    push: { ...PUSH_DEFAULTS, allow: ['127.0.0.1'] },
    onGivenUp() {},
  }
  return createLocalTaskHost({ store, settings, retention: {}, targetOf: () => target })
}

const faultyHost = (inner: NearStore, isFailing: Failing) => hostOver(faultyStore(inner, isFailing))

/** A message whose agent is to do so. */
interface Sending {
  readonly taskId?: string
  readonly isNew?: boolean
  readonly isWaitedFor?: boolean
  readonly isTold?: boolean
}

function send(host: TaskHost, acts: readonly Act[], sending: Sending = {}) {
  const { taskId = crypto.randomUUID(), isNew = true, isWaitedFor = false, isTold = false } = sending
  return host.deliver({
    taskId,
    message: { messageId: crypto.randomUUID(), role: 'user', parts: [{ text: JSON.stringify(acts) }] },
    target: isNew ? target : undefined,
    owner: OWNER,
    options: {},
    mayWait: isWaitedFor,
    pushConfig: isTold ? { url: `${RECEIVER}/${taskId}`, version: '1.0' } : undefined,
  })
}

/** What a follower is told until the task has ended or waits for its client. */
async function toldTo(follower: Follower): Promise<TaskEntry[]> {
  const entries: TaskEntry[] = []
  const isSettled = () => entries.some(entry => entry.type === 'status' && isSettledState(entry.status.state))
  try {
    while (!isSettled()) {
      const batch = await follower.next()
      if (batch === undefined) break
      entries.push(...batch.map(({ data }) => JSON.parse(data) as TaskEntry))
    }
  } finally {
    follower.leave()
  }
  return entries
}

const ASKS: Act = { finish: { finishReason: 'input_required' } }

/** Everything that is done with tasks, one after the other and at once. What is refused is refused. */
async function bustle(host: TaskHost) {
  const ids = new Set<string>()
  const told: Promise<PromiseSettledResult<TaskEntry[]>>[] = []
  const refused: unknown[] = []
  const trying = <T>(work: Promise<T>) => work.catch(error => void refused.push(error))
  /** Gives a message to an agent, and begins to follow and wait for what comes of it. */
  const one = async (acts: readonly Act[], sending: Sending = {}) => {
    const delivered = await trying(send(host, acts, sending))
    if (delivered === undefined || 'message' in delivered) return undefined
    const { seq, task } = delivered.view
    const { id } = task
    ids.add(id)
    const waiting = trying(host.settled(id, { owner: OWNER }))
    const follower = await trying(host.follow(id, { owner: OWNER }, seq))
    if (follower !== undefined) told.push(settled(toldTo(follower)))
    return { id, settled: waiting }
  }
  const gate = unique('gate')
  const [, , , , waiting, asking] = await Promise.all([
    one([{ say: 'a' }, { turns: 2 }, { say: 'b', times: 3 }], { isTold: true }),
    one([{ say: 'a' }, { turns: 1 }, { fail: 'on purpose' }], { isTold: true }),
    one([{ say: 'c', times: 10 }]),
    one([{ event: { type: 'message', parts: [{ type: 'text', text: 'hi' }] } }], { isWaitedFor: true }),
    one([{ say: 'd' }, { gate }]),
    one([{ say: 'which?' }, ASKS], { isTold: true }),
    one([{ say: 'which?' }, ASKS]),
  ])
  await asking?.settled
  const config = { id: 'c', url: `${RECEIVER}/other`, version: '1.0' }
  await Promise.all([
    asking && one([{ say: 'that' }], { taskId: asking.id, isNew: false }),
    waiting && trying(host.push({ owner: OWNER }, { act: 'set', taskId: waiting.id, config })),
    waiting && trying(host.cancel(waiting.id, { owner: OWNER })),
    trying(host.list({ owner: OWNER }, { pageSize: 10, includeArtifacts: true })),
  ])
  openGate(gate)
  if (waiting !== undefined) {
    await trying(host.push({ owner: OWNER }, { act: 'list', taskId: waiting.id }))
    await trying(host.push({ owner: OWNER }, { act: 'delete', taskId: waiting.id, id: 'c' }))
  }
  return { ids: [...ids], refused, told: Promise.all(told) }
}

async function settled<T>(promise: Promise<T>): Promise<PromiseSettledResult<T>> {
  const [result] = await Promise.allSettled([promise])
  return result
}

const statesIn = (entries: readonly TaskEntry[]) =>
  entries.flatMap(entry => (entry.type === 'status' ? [entry.status.state] : []))

/** That all tasks that began have an end, or wait for their client, that their receivers know, and that nothing else is there. */
async function expectAllSettled(host: TaskHost, inner: NearStore, ids: readonly string[]): Promise<void> {
  for (const id of ids) {
    const { state } = (await host.get(id, { owner: OWNER })).task.status
    expect(isSettledState(state)).toBe(true)
    const entries = (await read(host, id)).map(({ data }) => JSON.parse(data) as TaskEntry)
    const states = statesIn(entries)
    expect(states.at(-1)).toBe(state)
    expect(states.filter(isTerminalState)).toHaveLength(isTerminalState(state) ? 1 : 0)
    const heard = received.get(`${RECEIVER}/${id}`)
    if (heard !== undefined) expect(JSON.parse(heard.at(-1) ?? '')).toMatchObject(toldState(state))
  }
  const { tasks } = await host.list({ owner: OWNER }, { pageSize: 100, includeArtifacts: false })
  expect(new Set(tasks.map(({ id }) => id))).toEqual(new Set(ids))
  expect(inner.read(tx => [tx.count(AT_WORK), tx.count(TASKS)])).toEqual([0, ids.length])
}

/** All that stands in the log of a task by now. */
async function read(host: TaskHost, id: string) {
  const { seq } = await host.get(id, { owner: OWNER })
  const follower = (await host.follow(id, { owner: OWNER }, 0))!
  const entries = []
  while (entries.length < seq) entries.push(...((await follower.next()) ?? []))
  follower.leave()
  return entries
}

const toldState = (state: string) => ({
  statusUpdate: { status: { state: `TASK_STATE_${state.toUpperCase().replaceAll('-', '_')}` } },
})

/** What comes of the tasks where nothing fails. */
const ENDS = ['canceled', 'completed', 'completed', 'completed', 'failed', 'input-required']

/** How long a store is out: less than anyone's patience, that of requests, and that of runs. */
const OUTAGES_MS = [200, 3000, 40_000]

/** `step`: of the calls at which it may fail, each so many. `seeds`: so many times at random. */
function outageCases(make: () => NearStore, { step, seeds }: { step: number; seeds: number }): void {
  it.each(OUTAGES_MS)('at each call in turn, for %i ms', { timeout: 300_000 }, async ms => {
    const all = outages()
    const whole = make()
    const steady = faultyHost(whole, all.failing)
    const { ids, refused, told } = await pass(bustle(steady))
    expect(refused).toEqual([])
    expect((await pass(told)).map(({ status }) => status)).toEqual(Array(7).fill('fulfilled'))
    const { count } = all
    await pass(expectAllSettled(steady, whole, ids))
    const states = ids.map(async id => (await steady.get(id, { owner: OWNER })).task.status.state)
    expect((await Promise.all(states)).toSorted()).toEqual(ENDS)
    expect(received.size).toBe(4)
    expect(count).toBeGreaterThan(100)
    for (const at of callsOf(count, ms, step)) {
      const inner = make()
      const outage = outages()
      const host = faultyHost(inner, outage.failing)
      outage.begin(at, () => void setTimeout(outage.end, ms))
      const { ids, refused, told } = await pass(bustle(host))
      // Without patience there is a refusal; with it nobody notices.
      const ends = await pass(told)
      if (ms < 1000) expect(refused).toEqual([])
      // Whoever follows a task already has more of it.
      if (ms < 15_000) expect(ends.filter(({ status }) => status === 'rejected')).toEqual([])
      for (const end of ends) {
        if (end.status === 'fulfilled') expect(statesIn(end.value).some(isSettledState)).toBe(true)
      }
      await passAMinute()
      await pass(expectAllSettled(host, inner, ids))
    }
  })

  it('at random, again and again', { timeout: 300_000 }, async () => {
    for (let seed = 1; seed <= seeds; seed++) {
      const inner = make()
      const storm = storms(seed)
      const host = faultyHost(inner, storm.failing)
      const { ids, told } = await pass(bustle(host))
      storm.end()
      await pass(told)
      await passAMinute()
      await pass(expectAllSettled(host, inner, ids))
    }
  })

  it('while a host looks for the first time for what a dead one left: it looks again', async () => {
    const inner = make()
    const before = hostOver(inner)
    const delivered = await send(before, [{ say: 'a' }, { gate: unique('never') }])
    const id = 'view' in delivered ? delivered.view.task.id : ''
    let isOut = true
    const after = faultyHost(reopened(inner) as NearStore, () => isOut)
    await expect(pass(after.get(id, { owner: OWNER }))).rejects.toMatchObject({ code: 'state_unavailable' })
    isOut = false
    expect((await pass(after.get(id, { owner: OWNER }))).task.status.state).toBe('failed')
    await pass(expectAllSettled(after, inner, [id]))
  })
}

describe('tasks over a store that fails: memory', () =>
  outageCases(() => memoryStore(), { step: 5, seeds: 60 }))

// Whoever asks a store is the same code for both.
describe('tasks over a store that fails: SQLite', ELSEWHERE, () => {
  outageCases(() => sqlStore(openDatabase(':memory:')), { step: 37, seeds: 20 })
})

describe('a task over a store that fails', () => {
  /** A task that is at work, and what its agent waits for. */
  async function begun(isFailing: Failing) {
    const inner = memoryStore()
    const host = faultyHost(inner, isFailing)
    const gate = unique('gate')
    const acts = [{ say: 'a' }, { gate }, { say: 'b', times: 1000 }]
    const delivered = await pass(send(host, acts, { isTold: true }))
    const id = 'view' in delivered ? delivered.view.task.id : ''
    return { inner, host, gate, id }
  }

  it('goes on for as long as it has patience, and says nothing twice', async () => {
    let isOut = false
    const { inner, host, gate, id } = await begun(() => isOut)
    const told = toldTo((await host.follow(id, { owner: OWNER }, 0))!)
    isOut = true
    openGate(gate)
    await vi.advanceTimersByTimeAsync(8_000)
    isOut = false
    const { artifacts = [], status } = await pass(host.settled(id, { owner: OWNER }))
    expect([status.state, artifacts[0]?.parts]).toEqual(['completed', [{ text: `a${'b'.repeat(1000)}` }]])
    expect(statesIn(await pass(told))).toEqual(['working', 'completed'])
    await passAMinute()
    await pass(expectAllSettled(host, inner, [id]))
    expect(received.get(`${RECEIVER}/${id}`)).toBeDefined()
  })

  it('fails after that; whoever cancels it meanwhile hears why that cannot be kept', async () => {
    let isOut = false
    const { inner, host, gate, id } = await begun(() => isOut)
    const told = toldTo((await host.follow(id, { owner: OWNER }, 0))!)
    isOut = true
    openGate(gate)
    await vi.advanceTimersByTimeAsync(30_000)
    await expect(pass(host.cancel(id, { owner: OWNER }))).rejects.toMatchObject({ code: 'state_unavailable' })
    isOut = false
    expect((await pass(host.settled(id, { owner: OWNER }))).status.state).toBe('failed')
    expect(statesIn(await pass(told))).toEqual(['working', 'failed'])
    await passAMinute()
    await pass(expectAllSettled(host, inner, [id]))
  })
})
