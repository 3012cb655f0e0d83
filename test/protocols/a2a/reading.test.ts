import { describe, expect, it } from 'vitest'
import { deferred } from '../../../src/base/wake.ts'
import { Agent } from '../../../src/index.ts'
import { createLocalTaskHost } from '../../../src/protocols/a2a/tasks/local-task-host.ts'
import type { TaskHost } from '../../../src/protocols/a2a/tasks/task-host.ts'
import { memoryStore } from '../../../src/stores/memory.ts'
import type { Store, Transaction } from '../../../src/stores/store.ts'
import { SETTINGS } from '../../contracts/run-host/local.ts'

const CHUNKS = 300

/** A store that counts the entries that are read of logs. */
function counting(store: Store): { readonly store: Store; count(): number } {
  let count = 0
  const counted = (tx: Transaction): Transaction =>
    new Proxy(tx, {
      get(target, name: keyof Transaction) {
        const value = target[name] as ((...values: unknown[]) => unknown) | undefined
        if (value === undefined) return undefined
        if (typeof value !== 'function') return value
        return (...values: unknown[]) => {
          const answer = value.apply(target, values)
          if (name === 'read') count += (answer as unknown[]).length
          return answer
        }
      },
    })
  return {
    store: {
      ...store,
      read: work => store.read(tx => work(counted(tx as Transaction))),
      write: work => store.write(tx => work(counted(tx))),
    },
    count: () => {
      const counted = count
      count = 0
      return counted
    },
  }
}

/** A task whose agent has said so many words, waits, and then says one more. */
async function talking(
  chunks: number = CHUNKS,
): Promise<{ host: TaskHost; id: string; count: () => number; end: () => void }> {
  const { store, count } = counting(memoryStore())
  const { promise, resolve } = deferred<void>()
  const said = deferred<void>()
  const servable = new Agent({
    name: 'talking',
    register: false,
    async *run() {
      for (let i = 0; i < chunks; i++) yield 'x'
      said.resolve()
      await promise
      yield 'y'
    },
  })
  const target = { kind: 'agent', name: 'talking', servable } as const
  const settings = {
    ...SETTINGS,
    maxTasksPerOwner: 100,
    maxHistory: 100,
    onGivenUp() {},
    push: undefined,
  }
  const host = createLocalTaskHost({ store, settings, retention: {}, targetOf: () => target })
  const id = crypto.randomUUID()
  const message = { messageId: 'm', role: 'user', parts: [{ text: 'talk' }] } as const
  await host.deliver({ taskId: id, message, target, owner: null, options: {}, mayWait: false })
  await said.promise
  const follower = (await host.follow(id, { owner: null }, 0))!
  // The message and the status before them.
  for (let entries = 0; entries < chunks + 2; ) entries += (await follower.next())?.length ?? chunks
  follower.leave()
  count()
  return { host, id, count, end: resolve }
}

describe('a task at work', () => {
  it('has most of its log gathered before anyone asks', async () => {
    const { host, id, count } = await talking(5000)
    const { task, seq } = await host.get(id, { owner: null })
    expect(task.artifacts).toEqual([
      { artifactId: 'response', name: 'response', parts: [{ text: 'x'.repeat(5000) }] },
    ])
    expect(seq).toBe(5002)
    expect(count()).toBeLessThanOrEqual(2048)
  })

  it('is asked for again and again without its log being read again', async () => {
    const { host, id, count, end } = await talking()
    const first = await host.get(id, { owner: null })
    const text = 'x'.repeat(CHUNKS)
    expect(first.task.artifacts).toEqual([{ artifactId: 'response', name: 'response', parts: [{ text }] }])
    expect(count()).toBe(first.seq)
    for (let times = 0; times < 3; times++) expect(await host.get(id, { owner: null })).toEqual(first)
    const listed = await host.list({ owner: null }, { pageSize: 10, includeArtifacts: true })
    expect(listed.tasks).toEqual([first.task])
    expect(count()).toBe(0)
    const settled = host.settled(id, { owner: null })
    end()
    const task = await settled
    expect(task.artifacts?.[0]?.parts).toEqual([{ text: `${text}y` }])
    expect(task.status.state).toBe('completed')
    // The last word, and the end: as it is kept, and as it is told.
    expect(count()).toBeLessThanOrEqual(6)
  })

  it('is cancelled without its log being read', async () => {
    const { host, id, count } = await talking()
    await host.get(id, { owner: null })
    count()
    const { task } = await host.cancel(id, { owner: null })
    expect(task.status.state).toBe('canceled')
    expect(count()).toBeLessThanOrEqual(6)
  })
})
