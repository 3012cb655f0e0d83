/** Runs that can go on, over a shared store whose answers are lost on their way, or that cannot be written for a while. */
import { expect, it } from 'vitest'
import { createLocalHost } from '../../src/runs/stored/local-host.ts'
import { memoryStore } from '../../src/stores/memory.ts'
import { unavailable } from '../../src/stores/remote/retrying.ts'
import type { Store } from '../../src/stores/store.ts'
import { journalled } from '../contracts/run-host/journalled.ts'
import { eventsIn, read, unique, waitFor } from '../contracts/run-host/kit.ts'
import { reopened, SETTINGS } from '../contracts/run-host/local.ts'
import { countOf, openGate } from '../contracts/run-host/scripted.ts'

/** What becomes of a write that fails: its answer is lost, or nothing is written. */
type Failing = 'answer' | 'write'

/** A host over a store that others share. `fail` lets one write fail, after so many more. */
function sharing(inner: Store) {
  let left = -1
  let failing: Failing = 'write'
  const store: Store = {
    ...inner,
    isShared: true,
    read: async work => inner.read(work),
    async write(work) {
      const fails = left === 0
      if (left >= 0) left--
      const value = fails && failing === 'write' ? undefined : await inner.write(work)
      if (fails) throw unavailable(new Error('the store is away'))
      return value as never
    },
  }
  const target = { kind: 'workflow', name: 'journalled', servable: journalled } as const
  const host = createLocalHost({
    store,
    settings: { ...SETTINGS, targetOf: () => target },
    retention: {},
  })
  const start = (acts: object) =>
    host.start({ target, input: JSON.stringify(acts), options: {}, owner: null, isBackground: true })
  const fail = (after: number, how: Failing) => {
    left = after
    failing = how
  }
  return { host, start, fail, hasFailed: () => left < 0 }
}

/** Two steps. The second waits for a gate. */
function twoSteps() {
  const [one, two, gate] = [unique('one'), unique('two'), unique('gate')]
  const acts = [
    { step: 'one', count: one, say: 'a' },
    { step: 'two', count: two, gate },
  ]
  return { acts, one, two, gate }
}

it('go on in the process that took them over, though it never heard that it did', async () => {
  const store = memoryStore()
  const { acts, one, two, gate } = twoSteps()
  const { id } = await sharing(store).start(acts)
  await waitFor(() => countOf(two) === 1)
  const there = sharing(reopened(store))
  there.fail(0, 'answer')
  await there.host.get(id, null)
  expect(there.hasFailed()).toBe(true)
  await waitFor(async () => {
    await there.host.get(id, null)
    return countOf(two) === 2
  })
  openGate(gate)
  await waitFor(async () => (await there.host.get(id, null)).status === 'completed')
  expect(countOf(one)).toBe(1)
  expect(eventsIn(await read(there.host, id)).filter(({ type }) => type === 'finish')).toHaveLength(1)
})

it.each<Failing>(['answer', 'write'])('go on after a record is not written: its %s fails', async how => {
  const { host, start, fail, hasFailed } = sharing(memoryStore())
  const { acts, one, two, gate } = twoSteps()
  const more = [...acts, { step: 'three', say: 'c' }]
  const { id } = await start(more)
  await waitFor(() => countOf(two) === 1)
  // Its start is written, so the next write has the record of the step, and says that it is complete.
  await waitFor(async () => {
    const { entries } = await host.events(id, null, { after: 0, limit: 100 })
    return entries.some(({ data }) => data.includes('"two"'))
  })
  fail(0, how)
  openGate(gate)
  await waitFor(hasFailed)
  await waitFor(async () => (await host.get(id, null)).status !== 'running')
  expect(await host.get(id, null)).toMatchObject({ status: 'completed', result: { text: 'ac' } })
  expect([countOf(one), countOf(two)]).toEqual([1, 1])
  const events = eventsIn(await read(host, id))
  expect(events.filter(({ type }) => type === 'resumed')).toHaveLength(1)
  const completed = events.flatMap(each =>
    each.type === 'step' && each.status === 'completed' ? each.name : [],
  )
  expect(completed).toEqual(['one', 'two', 'three'])
})

it('go on over a store that is far away, which takes longer for a write than one beside it', async () => {
  const inner = memoryStore()
  const { acts, two, gate } = twoSteps()
  const { id } = await sharing(inner).start(acts)
  await waitFor(() => countOf(two) === 1)
  const there = reopened(inner)
  const far = sharing({
    ...there,
    isRemote: true,
    write: (work, patienceMs = 5000) =>
      patienceMs < 1000 ? Promise.reject(unavailable(new Error('too late'))) : there.write(work),
  })
  openGate(gate)
  await waitFor(async () => (await far.host.get(id, null)).status === 'completed')
})
