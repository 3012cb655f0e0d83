import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { memoryState } from '../../../src/core/local-state.ts'
import { Agent } from '../../../src/index.ts'
import { isTerminalState, type Message } from '../../../src/protocols/a2a/model.ts'
import { createLocalTaskHost } from '../../../src/protocols/a2a/tasks/local-task-host.ts'
import type { TaskEntry } from '../../../src/protocols/a2a/tasks/task-body.ts'
import type { Delivered, TaskHost } from '../../../src/protocols/a2a/tasks/task-host.ts'
import type { Target } from '../../../src/runs/target.ts'
import { sqliteState } from '../../../src/runtimes/sqlite.ts'
import { SETTINGS } from '../../contracts/run-host/local.ts'
import { turn } from '../../support.ts'

const ROUNDS = 1000
const AT_ONCE = 25

/** Tasks whose signal has fired, and how many agents are at work on each. */
const aborted = new Set<string>()
const working = new Map<string, number>()
const crowded = new Set<string>()

/** Ends after so many turns as the message says; `ask` ends waiting. */
const racer = new Agent({
  name: 'racer',
  register: false,
  async *run(input, { signal, metadata = {} }) {
    const id = String(metadata.taskId)
    const count = (working.get(id) ?? 0) + 1
    working.set(id, count)
    if (count > 1) crowded.add(id)
    signal.addEventListener('abort', () => aborted.add(id))
    yield 'a'
    for (let left = Number.parseInt(String(input), 10); left > 0; left--) await turn()
    yield 'b'
    working.set(id, count - 1)
    if (String(input).includes('ask')) return { finishReason: 'input_required' as const }
    return
  },
})

const target: Target = { kind: 'agent', name: 'racer', servable: racer }
const message = (text: string): Message => ({
  messageId: crypto.randomUUID(),
  role: 'user',
  parts: [{ text }],
})

function deliver(host: TaskHost, taskId: string, text: string, isNew = true): Promise<Delivered> {
  const to = isNew ? target : undefined
  return host.deliver({
    taskId,
    message: message(text),
    target: to,
    owner: 'racer',
    options: {},
    mayWait: false,
  })
}

async function entriesOf(host: TaskHost, id: string): Promise<TaskEntry[]> {
  const follower = (await host.follow(id, { owner: 'racer' }, 0))!
  const entries: TaskEntry[] = []
  for (let batch = await follower.next(); batch; batch = await follower.next()) {
    entries.push(...batch.map(({ data }) => JSON.parse(data) as TaskEntry))
  }
  return entries
}

/** Lets a task end and be cancelled at the same time. */
async function race(host: TaskHost, round: number) {
  const id = crypto.randomUUID()
  const text = String(round % 5)
  const delivering = deliver(host, id, text)
  const following = delivering.then(async () => {
    const follower = (await host.follow(id, { owner: 'racer' }, 0))!
    let count = 0
    for (let batch = await follower.next(); batch; batch = await follower.next()) count += batch.length
    return count
  })
  await delivering
  for (let left = Math.floor(round / 5) % 8; left > 0; left--) await turn()
  const cancelled = await host.cancel(id, { owner: 'racer' }).then(
    ({ task }) => task.status.state,
    (error: { code: string }) => error.code,
  )
  const { task } = await host.get(id, { owner: 'racer' })
  const entries = await entriesOf(host, id)
  await turn()
  const late = await host.get(id, { owner: 'racer' })
  return {
    id,
    cancelled,
    task,
    late: late.task,
    entries,
    count: await following,
    lateEntries: await entriesOf(host, id),
  }
}

async function inBatches<T>(rounds: number, work: (round: number) => Promise<T>): Promise<T[]> {
  const all: T[] = []
  for (let round = 0; round < rounds; round += AT_ONCE) {
    all.push(...(await Promise.all(Array.from({ length: AT_ONCE }, (_, i) => work(round + i)))))
  }
  return all
}

const terminals = (entries: readonly TaskEntry[]) =>
  entries.flatMap(entry =>
    entry.type === 'status' && isTerminalState(entry.status.state) ? [entry.status] : [],
  )

const states = {
  memory: () => ({ ...memoryState(), remove: () => {} }),
  SQLite: () => {
    const folder = mkdtempSync(join(tmpdir(), 'servable-races-'))
    const remove = () => rmSync(folder, { recursive: true, force: true })
    return { ...sqliteState({ path: join(folder, 'races.db') }), remove }
  },
}

describe.each(Object.entries(states))('createLocalTaskHost over %s', (_, open) => {
  let state: ReturnType<(typeof states)['memory']>
  let host: TaskHost
  beforeEach(() => {
    state = open()
    const settings = {
      ...SETTINGS,
      maxRunningPerOwner: 1000,
      maxTasksPerOwner: 100_000,
      maxHistory: 200,
      push: undefined,
      onGivenUp() {},
    }
    host = createLocalTaskHost({ ...state, settings, targetOf: () => target })
  })
  afterEach(() => {
    state.store.close()
    state.remove()
  })

  it(`gives a task that is cancelled as it ends exactly one end, ${ROUNDS} times`, async () => {
    const races = await inBatches(ROUNDS, round => race(host, round))
    for (const { id, cancelled, task, late, entries, lateEntries, count } of races) {
      const { status } = task
      expect(['canceled', 'completed']).toContain(status.state)
      expect(terminals(entries)).toEqual([status])
      expect(entries.at(-1)).toMatchObject({ type: 'status', status })
      expect(late).toEqual(task)
      expect(lateEntries).toEqual(entries)
      expect(count).toBe(entries.length)
      expect(cancelled).toBe(status.state === 'canceled' ? 'canceled' : 'task_not_cancelable')
      if (status.state === 'canceled') expect(aborted.has(id)).toBe(true)
    }
    const ends = new Set(races.map(({ task }) => task.status.state))
    expect(ends).toEqual(new Set(['canceled', 'completed']))
  })

  it('lets nobody but one cancel a task, and all others see it cancelled', async () => {
    await inBatches(100, async round => {
      const id = crypto.randomUUID()
      await deliver(host, id, `${(round % 7) + 1}`)
      const answers = await Promise.all(
        Array.from({ length: 5 }, () =>
          host.cancel(id, { owner: 'racer' }).catch((error: { code: string }) => error.code),
        ),
      )
      const { task } = await host.get(id, { owner: 'racer' })
      for (const answer of answers) {
        if (typeof answer === 'string') expect(answer).toBe('task_not_cancelable')
        else expect(answer.task.status).toEqual(task.status)
      }
      expect(terminals(await entriesOf(host, id))).toHaveLength(1)
    })
  })

  it('never has two agents at work on one task, however many messages come at once', async () => {
    await inBatches(100, async () => {
      const id = crypto.randomUUID()
      await deliver(host, id, '1 ask')
      await host.settled(id, { owner: 'racer' })
      const answers = await Promise.allSettled(
        Array.from({ length: 4 }, () => deliver(host, id, '2 ask', false)),
      )
      expect(answers.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
      for (const answer of answers) {
        if (answer.status === 'rejected')
          expect(answer.reason).toMatchObject({ code: 'unsupported_operation' })
      }
      const task = await host.settled(id, { owner: 'racer' })
      expect(task.history?.filter(({ role }) => role === 'user')).toHaveLength(2)
    })
    expect(crowded).toEqual(new Set())
  })
})

describe('two hosts over one database', () => {
  let folder: string
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'servable-shared-'))
  })
  afterEach(() => rmSync(folder, { recursive: true, force: true }))

  const opened = () => {
    const state = sqliteState({ path: join(folder, 'shared.db') })
    const settings = { ...SETTINGS, maxTasksPerOwner: 1000, maxHistory: 200, push: undefined, onGivenUp() {} }
    return { state, host: createLocalTaskHost({ ...state, settings, targetOf: () => target }) }
  }

  it('both follow a task to its end, whoever runs its agent', { timeout: 30_000 }, async () => {
    const [one, other] = [opened(), opened()]
    const id = crypto.randomUUID()
    await deliver(one.host, id, '50')
    const [here, there] = await Promise.all([entriesOf(one.host, id), entriesOf(other.host, id)])
    expect(there).toEqual(here)
    one.state.store.close()
    other.state.store.close()
  })

  it('both can cancel it', { timeout: 30_000 }, async () => {
    const [one, other] = [opened(), opened()]
    const id = crypto.randomUUID()
    await deliver(one.host, id, '1000000')
    const { task } = await other.host.cancel(id, { owner: 'racer' })
    expect(task.status.state).toBe('canceled')
    expect(await one.host.settled(id, { owner: 'racer' })).toEqual(task)
    one.state.store.close()
    other.state.store.close()
  })
})
