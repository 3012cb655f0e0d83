/** Counts whose write is not known to have happened. */
import { expect, it } from 'vitest'
import { Agent, createHandler, MetricsExporter, type MetricsJson, memoryState } from '../../src/index.ts'
import { localState } from '../../src/runs/local-state.ts'
import { losingStore } from '../state/losing.ts'

it('are added once, and read once while nobody knows', async () => {
  const { store, lose, hasLost } = losingStore(true)
  const handler = createHandler({
    agents: { echo: new Agent({ name: 'echo', register: false, run: () => 'x' }) },
    state: localState({ store, retention: memoryState().retention, isVolatile: false }),
    metricsExporter: new MetricsExporter(),
    logger: false,
  })
  const run = () =>
    handler(
      new Request('http://x/api/agents/echo/run', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: '{"input":"x"}',
      }),
    )
  const counted = async () => {
    const response = await handler(new Request('http://x/api/metrics/json'))
    return ((await response.json()) as MetricsJson).global.runs
  }
  await run()
  expect(await counted()).toBe(1)
  lose(2)
  await run()
  expect(await counted()).toBe(2)
  expect(await counted()).toBe(2)
  expect(hasLost()).toBe(true)
  await run()
  expect(await counted()).toBe(3)
})
