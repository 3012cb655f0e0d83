/** Counts in a store that is far away: a write may be made though its answer is lost. */
import { expect, it } from 'vitest'
import { localState } from '../../../src/core/local-state.ts'
import { Agent, createHandler, MetricsExporter, ServableError } from '../../../src/index.ts'
import { memoryStore } from '../../../src/stores/memory.ts'
import type { Store } from '../../../src/stores/store.ts'

/** A process on the store. Its writes of counts fail as it is told: before they are made, or after. */
function processOn(store: Store) {
  let fails: 'never' | 'before' | 'after' = 'never'
  const unavailable = new ServableError('state_unavailable', 'The state cannot be reached')
  const far: Store = {
    ...store,
    isRemote: true,
    write: async (work, patienceMs) => {
      if (fails === 'before') throw unavailable
      const value = await store.write(work, patienceMs)
      if (fails === 'after') throw unavailable
      return value
    },
  }
  const handler = createHandler({
    agents: { echo: new Agent({ name: 'echo', register: false, run: () => 'x' }) },
    registry: false,
    logger: false,
    state: localState({ store: far, retention: {}, isVolatile: false }),
    metricsExporter: new MetricsExporter(),
  })
  return {
    fail(when: typeof fails): void {
      fails = when
    },
    async run() {
      const url = 'http://127.0.0.1/api/agents/echo/run'
      const headers = { 'content-type': 'application/json' }
      const asked = new Request(url, { method: 'POST', body: JSON.stringify({ input: 'x' }), headers })
      expect((await handler(asked)).status).toBe(200)
    },
    async counted() {
      const response = await handler(new Request('http://127.0.0.1/api/metrics'))
      const text = await response.text()
      return Number(/^service_agent_runs_total\{agent="echo"\} (\d+)$/m.exec(text)?.[1] ?? 0)
    },
  }
}

it('counts a run once whose count was written, though the answer was lost', async () => {
  const one = processOn(memoryStore())
  await one.run()
  one.fail('after')
  await one.counted()
  one.fail('never')
  expect(await one.counted()).toBe(1)
})

it('shows no more in one process than in the others', async () => {
  const store = memoryStore()
  const [one, two] = [processOn(store), processOn(store)]
  await one.run()
  one.fail('before')
  expect(await one.counted()).toBe(0)
  expect(await two.counted()).toBe(0)
  one.fail('never')
  expect(await one.counted()).toBe(1)
  expect(await two.counted()).toBe(1)
})
