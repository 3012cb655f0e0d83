/** Two processes over one store that answers late, and what happens between a commit and its answer. */
import { describe, expect, it, onTestFinished } from 'vitest'
import { toolServersIn } from '../../src/features/admin/object.ts'
import { Agent } from '../../src/index.ts'
import type { Message } from '../../src/protocols/a2a/model.ts'
import { createLocalTaskHost } from '../../src/protocols/a2a/tasks/local-task-host.ts'
import type { TaskHost } from '../../src/protocols/a2a/tasks/task-host.ts'
import { createLocalHost } from '../../src/runs/stored/local-host.ts'
import { RUNS } from '../../src/runs/stored/record.ts'
import type { Target } from '../../src/runs/target.ts'
import type { Store } from '../../src/stores/store.ts'
import { begin, ending, eventsIn, newKey, read, rest, unique, waitFor } from '../contracts/run-host/kit.ts'
import { SETTINGS } from '../contracts/run-host/local.ts'
import { countOf, wasStopped } from '../contracts/run-host/scripted.ts'
import { lateBase, lateStore } from '../contracts/store/late.ts'

const hostOn = (store: Store) => createLocalHost({ store, settings: SETTINGS, retention: {} })

/** Two openings of one database. */
function two(): [Store, Store] {
  const base = lateBase()
  const stores: [Store, Store] = [base.open(), base.open()]
  onTestFinished(() => {
    for (const store of stores) store.close()
  })
  return stores
}

describe('runs of two processes', () => {
  it('are followed, and cancelled, from the other one', async () => {
    const [here, there] = two().map(hostOn) as [ReturnType<typeof hostOn>, ReturnType<typeof hostOn>]
    const { id } = await begin(here, [{ say: 'a' }, { gate: unique('never') }])
    const following = rest((await there.follow(id, null, 0))!)
    await there.cancel(id, null)
    expect(eventsIn(await following).at(-1)).toMatchObject({ finishReason: 'cancelled' })
    await here.lookAfter?.()
    await waitFor(() => wasStopped(id))
    expect(eventsIn(await read(here, id)).filter(({ type }) => type === 'finish')).toHaveLength(1)
  })

  it('of one key are one', async () => {
    const hosts = two().map(hostOn)
    for (let round = 0; round < 20; round++) {
      const [key, count] = [newKey(), unique('count')]
      const asking = Array.from({ length: 8 }, (_, index) => begin(hosts[index % 2]!, [{ count }], { key }))
      const ids = new Set((await Promise.all(asking)).map(({ id }) => id))
      expect(ids.size).toBe(1)
      await ending(hosts[0]!, [...ids][0]!)
      expect(countOf(count)).toBe(1)
    }
  })

  it('are ended for all where one of the two is gone', async () => {
    const [here, there] = two()
    const { id } = await begin(hostOn(here), [{ say: 'a' }, { gate: unique('never') }])
    const following = rest(await hostOn(there).follow(id, null, 0))
    here.close()
    expect(eventsIn(await following).at(-1)).toMatchObject({ type: 'error', code: 'interrupted' })
  })
})

/** The same store, of whose first write that gives something nobody hears until it is let go. */
function holding(store: Store): { store: Store; letGo: () => void } {
  const { promise, resolve } = Promise.withResolvers<void>()
  let isHeld = false
  const write: Store['write'] = async (work, patienceMs) => {
    const given = await store.write(work, patienceMs)
    if (given === undefined || isHeld) return given
    isHeld = true
    await promise
    return given
  }
  return { store: { ...store, write }, letGo: resolve }
}

/** A run that is written down, and whose start is yet to be answered. */
async function written(acts: Parameters<typeof begin>[1], isBackground: boolean) {
  const store = lateStore()
  const { store: held, letGo } = holding(store)
  const host = hostOn(held)
  const id = crypto.randomUUID()
  const starting = begin(host, acts, { options: { runId: id }, isBackground })
  await waitFor(async () => (await store.read(tx => tx.get(RUNS, id))) !== undefined)
  return { host, id, starting, letGo }
}

/** A far store that can become slow, as a busy database is. */
function slowing(): { store: Store; slow: () => void } {
  const store = lateStore()
  let ms = 0
  const write: Store['write'] = async (work, patienceMs) => {
    await new Promise(resolve => setTimeout(resolve, ms))
    return store.write(work, patienceMs)
  }
  return {
    store: { ...store, isRemote: true, write },
    slow() {
      ms = 1500
    },
  }
}

describe.concurrent('a cancel waits for a far store that is busy', () => {
  it('of a run', async () => {
    const { store, slow } = slowing()
    const host = hostOn(store)
    const { id } = await begin(host, [{ say: 'a' }, { gate: unique('never') }])
    slow()
    expect(await host.cancel(id, null)).toMatchObject({ status: 'cancelled' })
  })

  it('of a task', async () => {
    const { store, slow } = slowing()
    const { host, target } = tasksOn(store, waits)
    const taskId = crypto.randomUUID()
    await host.deliver({ ...sent, taskId, message: message(), target })
    slow()
    expect(await host.cancel(taskId, { owner: null })).toMatchObject({
      task: { status: { state: 'canceled' } },
    })
  })
})

describe('a run whose start is yet to be answered', () => {
  it('does not work on once it is cancelled', async () => {
    const { host, id, starting, letGo } = await written([{ gate: unique('never') }], true)
    const cancelling = host.cancel(id, null)
    // Whoever does not wait for the start has ended the run by then.
    await Promise.race([cancelling, new Promise(resolve => setTimeout(resolve, 50))])
    letGo()
    await starting
    expect((await cancelling).status).toBe('cancelled')
    await waitFor(() => wasStopped(id))
  })

  it('ends with its last follower, though that one came before', async () => {
    const { host, id, starting, letGo } = await written([{ gate: unique('never') }], false)
    const following = host.follow(id, null, 0)
    await Promise.race([following, new Promise(resolve => setTimeout(resolve, 50))])
    letGo()
    await starting
    const follower = await following
    follower.leave()
    expect((await ending(host, id)).status).toBe('cancelled')
  })
})

const waits = new Agent({
  name: 'waits',
  register: false,
  async *run(_input, { signal }) {
    yield 'a'
    await new Promise<void>(resolve => signal.addEventListener('abort', () => resolve()))
  },
})
const asks = new Agent({
  name: 'asks',
  register: false,
  async *run() {
    yield 'what?'
    return { finishReason: 'input_required' as const }
  },
})

function tasksOn(store: Store, agent: Agent): { host: TaskHost; target: Target } {
  const target = { kind: 'agent', name: agent.name, servable: agent } as const
  const settings = { ...SETTINGS, maxTasksPerOwner: 10, maxHistory: 100, push: undefined, onGivenUp() {} }
  return { host: createLocalTaskHost({ store, settings, retention: {}, targetOf: () => target }), target }
}

const message = (): Message => ({ messageId: crypto.randomUUID(), role: 'user', parts: [{ text: 'x' }] })
const sent = { owner: null, options: {}, mayWait: false }

describe('a task', () => {
  it('that waits for its client tells who follows it that it is cancelled', async () => {
    const { host, target } = tasksOn(lateStore(), asks)
    const taskId = crypto.randomUUID()
    await host.deliver({ ...sent, taskId, message: message(), target })
    await host.settled(taskId, { owner: null })
    const following = rest((await host.follow(taskId, { owner: null }, 0))!)
    await host.cancel(taskId, { owner: null })
    expect(JSON.parse((await following).at(-1)!.data)).toMatchObject({ status: { state: 'canceled' } })
  })

  it('of the dead tells who follows it that it has failed', async () => {
    const [here, there] = two()
    const { host, target } = tasksOn(here, waits)
    const taskId = crypto.randomUUID()
    await host.deliver({ ...sent, taskId, message: message(), target })
    const following = rest((await tasksOn(there, waits).host.follow(taskId, { owner: null }, 0))!)
    here.close()
    expect(JSON.parse((await following).at(-1)!.data)).toMatchObject({ status: { state: 'failed' } })
  })

  it('never looks further than it is, whoever reads at the same moment', async () => {
    const { host, target } = tasksOn(lateStore({ seed: 3 }), talks)
    const taskId = crypto.randomUUID()
    await host.deliver({ ...sent, taskId, message: message(), target })
    let isOver = false
    const looking = async () => {
      while (!isOver) {
        const { task, seq } = await host.get(taskId, { owner: null })
        const [artifact] = task.artifacts ?? []
        const said = artifact?.parts[0]?.text?.length ?? 0
        // Each word is one entry after the message and the status; the end of the artifact and the last status end the log.
        const isEnded = task.status.state === 'completed'
        expect(seq - said).toBe(isEnded ? 4 : 2)
      }
    }
    const lookers = Array.from({ length: 6 }, looking)
    await host.settled(taskId, { owner: null })
    isOver = true
    await Promise.all(lookers)
  })
})

const talks = new Agent({
  name: 'talks',
  register: false,
  async *run() {
    for (let word = 0; word < 150; word++) {
      yield 'x'
      await new Promise(resolve => setTimeout(resolve, 0))
    }
  },
})

it('tool servers of one name are one, whoever adds them at the same moment', async () => {
  const [here, there] = two().map(toolServersIn) as [
    ReturnType<typeof toolServersIn>,
    ReturnType<typeof toolServersIn>,
  ]
  for (let round = 0; round < 20; round++) {
    const name = `server-${round}`
    const adding = [here, there].map(async servers =>
      servers.put({ id: crypto.randomUUID(), name, createdAt: 1 } as never, all => {
        if (all.some(each => each.name === name)) throw new Error('there is one')
      }),
    )
    const settled = await Promise.allSettled(adding)
    expect(settled.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
  }
  expect(await here.all()).toHaveLength(20)
})
