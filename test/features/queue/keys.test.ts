/** What is left of the idempotency keys of runs that are refused. */
import { expect, it } from 'vitest'
import { localState } from '../../../src/core/local-state.ts'
import { queue } from '../../../src/features/queue/plugin.ts'
import { Agent, createHandler } from '../../../src/index.ts'
import { memoryStore } from '../../../src/stores/memory.ts'
import { jsonRequest } from '../../contracts/http/client.ts'

it('leaves nothing of a key whose run is refused, and takes the key again once there is a place', async () => {
  let open = () => {}
  const gate = new Promise<void>(resolve => {
    open = resolve
  })
  const gated = new Agent({
    name: 'gated',
    register: false,
    async *run() {
      await gate
      yield 'done'
    },
  })
  const store = memoryStore()
  const handler = createHandler({
    agents: { gated },
    state: localState({ store, retention: {}, isVolatile: true }),
    runs: { maxRunning: 1 },
    plugins: [queue({ maxQueued: 1 })],
    logger: false,
  })
  const start = (headers: Record<string, string>) =>
    handler(new Request('http://a.example/api/agents/gated/run', jsonRequest({ input: 'hi' }, headers)))
  const keys = () => store.write(tx => tx.count('queued-key'))
  const background = { prefer: 'respond-async' }
  expect((await start(background)).status).toBe(202)
  expect((await start(background)).status).toBe(202)
  for (let at = 0; at < 20; at++) {
    expect((await start({ ...background, 'idempotency-key': `key-${at}` })).status).toBe(429)
    expect((await start({ 'idempotency-key': `other-${at}` })).status).toBe(429)
  }
  expect(keys()).toBe(0)
  open()
  const again = { ...background, 'idempotency-key': 'key-0' }
  await expect.poll(async () => (await start(again)).status).toBe(202)
  expect(keys()).toBe(1)
})
