import { expect, it, vi } from 'vitest'
import { createWake, later } from '../../../../src/base/wake.ts'
import { PUSH_DEFAULTS } from '../../../../src/protocols/a2a/options.ts'
import { PushDeliverer } from '../../../../src/protocols/a2a/push/deliverer.ts'
import { addPush } from '../../../../src/protocols/a2a/push/kept.ts'
import { logOf } from '../../../../src/protocols/a2a/tasks/task-body.ts'
import { type StoredTask, TASKS, toDocument } from '../../../../src/protocols/a2a/tasks/task-record.ts'
import { memoryStore } from '../../../../src/stores/memory.ts'
import type { Store, Transaction } from '../../../../src/stores/store.ts'
import { eventually } from '../../../eventually.ts'

/** As many notifications as one receiver may get at the same time. */
const PLACES = 24

const status = { state: 'working', timestamp: '2026-01-01T00:00:00.000Z' } as const

function addTask(tx: Transaction, id: string): void {
  const task: StoredTask = {
    ...{ id, contextId: 'context', status, agent: 'clerk', owner: null, isAtWork: true },
    ...{ instance: 'this', turns: 1 },
  }
  tx.put(TASKS, toDocument(task))
  const config = { id: 'c', url: 'https://receiver.example', version: '1.0' } as const
  addPush(tx, id, config, { seq: 0, max: 1, client: undefined })
}

/** A store whose writes answer when they are let. */
function held(inner: Store) {
  const waiting: (() => void)[] = []
  let isHeld = false
  const store: Store = {
    ...inner,
    write(work) {
      const value = inner.write(work)
      if (!isHeld) return value
      return new Promise<void>(resolve => waiting.push(resolve)).then(() => value)
    },
  }
  const hold = () => {
    isHeld = true
  }
  const release = () => {
    isHeld = false
    for (const resolve of waiting.splice(0)) resolve()
  }
  return { store, hold, release, waiting }
}

it('goes on with configs that it claims once more while they wait for a place', async () => {
  const { store, hold, release, waiting } = held(memoryStore() as unknown as Store)
  const ids = Array.from({ length: PLACES }, (_, index) => `task-${index}`)
  const changed = createWake()
  let sent = 0
  let now = Date.now()
  vi.spyOn(Date, 'now').mockImplementation(() => now)
  const deliverer = new PushDeliverer({
    store,
    settings: PUSH_DEFAULTS,
    sender: {
      check: async () => {},
      send: async () => {
        sent++
        return { how: 'taken' }
      },
    },
    growing: () => ({ changed, isTask: true }),
    keepAlive: () => {},
    schedule: () => {},
    onGivenUp: () => {},
  })
  const say = () =>
    store.write(tx => {
      for (const id of ids) tx.append(logOf(id), JSON.stringify({ type: 'status', status }))
    })
  await store.write(tx => {
    for (const id of ids) addTask(tx, id)
  })
  await say()
  deliverer.sweep()
  await eventually(() => expect(sent).toBe(PLACES))

  // Their claims end while they wait for their agents, and the next claim takes every place.
  now += PUSH_DEFAULTS.timeoutMs * 3
  await say()
  hold()
  deliverer.sweep()
  expect(waiting.length).toBe(1)
  changed.fire()
  await later(0)
  release()
  await eventually(() => expect(sent).toBe(2 * PLACES))
})
