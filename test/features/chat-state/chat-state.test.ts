/** The state of bots in this process: beside a model of what it must keep, and without a handler. */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { localState } from '../../../src/core/local-state.ts'
import { createHandler } from '../../../src/core-entry.ts'
import { type ChatLock, type ChatState, chatState } from '../../../src/features/chat-state/plugin.ts'
import { memoryState } from '../../../src/index.ts'
import { memoryStore } from '../../../src/stores/memory.ts'
import type { Store } from '../../../src/stores/store.ts'

function stateOver(store: Store = memoryStore()): ChatState {
  const chat = chatState()
  const state = localState({ store, retention: {}, isVolatile: false })
  createHandler({ registry: false, logger: false, state, plugins: [chat] })
  return chat
}

/** What a bot does, on a state and on a model of it. Nothing of the model expires. */
type Step = (state: ChatState, model: Model) => Promise<void>
interface Model {
  readonly values: Map<string, unknown>
  readonly lists: Map<string, unknown[]>
  readonly queues: Map<string, unknown[]>
  readonly locks: Map<string, string>
  readonly given: ChatLock[]
}

const key = fc.constantFrom('a', 'lock:a', '__proto__', '\0', 'ä')
const value = fc.jsonValue({ maxDepth: 3 }).map(given => JSON.parse(JSON.stringify(given)) as unknown)
const most = fc.integer({ min: 1, max: 4 })
const FOREVER = 600_000

const listOf = (lists: Map<string, unknown[]>, name: string) => lists.get(name) ?? []

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.tuple(key, value).map(
    ([name, given]): Step =>
      async (state, { values }) => {
        await state.set(name, given)
        values.set(name, given)
      },
  ),
  fc.tuple(key, value).map(
    ([name, given]): Step =>
      async (state, { values }) => {
        expect(await state.setIfNotExists(name, given, FOREVER)).toBe(!values.has(name))
        if (!values.has(name)) values.set(name, given)
      },
  ),
  key.map(
    (name): Step =>
      async (state, { values, lists }) => {
        expect(await state.get(name)).toEqual(values.get(name) ?? null)
        expect(await state.getList(name)).toEqual(listOf(lists, name))
        await state.delete(name)
        values.delete(name)
        lists.delete(name)
      },
  ),
  fc.tuple(key, value, most).map(
    ([name, given, maxLength]): Step =>
      async (state, { lists }) => {
        await state.appendToList(name, given, { maxLength })
        lists.set(name, [...listOf(lists, name), given].slice(-maxLength))
      },
  ),
  fc.tuple(key, value, most).map(
    ([name, message, size]): Step =>
      async (state, { queues }) => {
        const queue = [...listOf(queues, name), message].slice(-size)
        const entry = { message, enqueuedAt: 0, expiresAt: Date.now() + FOREVER }
        expect(await state.enqueue(name, entry, size)).toBe(queue.length)
        queues.set(name, queue)
      },
  ),
  key.map(
    (name): Step =>
      async (state, { queues }) => {
        const [first, ...rest] = listOf(queues, name)
        expect((await state.dequeue(name))?.message).toEqual(first)
        expect(await state.queueDepth(name)).toBe(rest.length)
        queues.set(name, rest)
      },
  ),
  key.map(
    (name): Step =>
      async (state, { locks, given }) => {
        const lock = await state.acquireLock(name, FOREVER)
        expect(lock !== null).toBe(!locks.has(name))
        if (lock === null) return
        locks.set(name, lock.token)
        given.push(lock)
      },
  ),
  // Any lock that was ever given, held or not.
  fc.tuple(fc.nat(), fc.boolean()).map(
    ([n, extends_]): Step =>
      async (state, { locks, given }) => {
        const lock = given[n % (given.length || 1)]
        if (lock === undefined) return
        const isHeld = locks.get(lock.threadId) === lock.token
        if (extends_) return expect(await state.extendLock(lock, FOREVER)).toBe(isHeld)
        await state.releaseLock(lock)
        if (isHeld) locks.delete(lock.threadId)
      },
  ),
)

it('keeps what it is told, and gives no lock twice', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), async steps => {
      const state = stateOver()
      const [values, lists, queues, locks] = [new Map(), new Map(), new Map(), new Map()]
      const model: Model = { values, lists, queues, locks, given: [] }
      for (const act of steps) await act(state, model)
    }),
    { numRuns: 200 },
  )
})

it('needs a handler, and a handler with a state', async () => {
  const chat = chatState()
  for (const early of [chat.connect(), chat.get('key'), chat.subscribe('thread')])
    await expect(early).rejects.toMatchObject({ code: 'invalid_options' })
  const without = () => createHandler({ registry: false, runs: { store: 'none' }, plugins: [chatState()] })
  expect(without).toThrow(/`chat-state` stores data/)
  createHandler({ registry: false, state: memoryState(), plugins: [chat] })
  await chat.connect()
  expect(await chat.get('key')).toBeNull()
  await chat.disconnect()
})

it('takes no value that is no JSON', async () => {
  const state = stateOver()
  const circle: { inside?: object } = {}
  circle.inside = circle
  let deep: unknown = 1
  for (let n = 0; n < 6000; n++) deep = [deep]
  for (const wrong of [undefined, circle, 1n, () => 1])
    await expect(state.set('key', wrong)).rejects.toMatchObject({ code: 'invalid_input' })
  // Either way it says so, and nothing is left half.
  await state.set('deep', deep).catch(error => expect(error.code).toBe('invalid_input'))
  expect([await state.get('key'), await state.getList('deep')]).toEqual([null, []])
})

it('says that the store is away', async () => {
  const inner = memoryStore()
  let isAway = false
  const throwing = <T>(work: () => T): T => {
    if (isAway) throw Object.assign(new Error('away'), { code: 'SQLITE_IOERR' })
    return work()
  }
  const state = stateOver({
    ...inner,
    read: work => throwing(() => inner.read(work)),
    write: work => throwing(() => inner.write(work)),
  })
  const lock = await state.acquireLock('thread', FOREVER)
  isAway = true
  await expect(state.get('key')).rejects.toThrow('away')
  await expect(state.acquireLock('thread', FOREVER)).rejects.toThrow('away')
  isAway = false
  expect(await state.acquireLock('thread', FOREVER)).toBeNull()
  expect(await state.extendLock(lock as ChatLock, FOREVER)).toBe(true)
})
