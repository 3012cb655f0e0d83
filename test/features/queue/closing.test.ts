/** What waits while a server closes. */
import { expect, it } from 'vitest'
import { localState } from '../../../src/core/local-state.ts'
import { createHandler as createCoreHandler } from '../../../src/core-entry.ts'
import { queue } from '../../../src/features/queue/plugin.ts'
import { Agent, createHandler, textOf } from '../../../src/index.ts'
import { serve } from '../../../src/runtimes/node.ts'
import { memoryStore } from '../../../src/stores/memory.ts'
import { eventually } from '../../eventually.ts'

it('is not started any more, and starts with the next server', async () => {
  const begun: string[] = []
  const gates = new Map<string, () => void>()
  const gated = new Agent({
    name: 'gated',
    register: false,
    async *run(input) {
      begun.push(textOf(input))
      await new Promise<void>(resolve => gates.set(textOf(input), resolve))
      yield 'done'
    },
  })
  const store = memoryStore()
  const handler = () =>
    createHandler({
      agents: { gated },
      state: localState({ store, retention: {}, isVolatile: false }),
      runs: { maxRunning: 1 },
      plugins: [queue()],
      logger: false,
    })
  const start = async (url: string, input: string) => {
    const headers = { 'content-type': 'application/json', prefer: 'respond-async' }
    const init = { method: 'POST', headers, body: JSON.stringify({ input }) }
    const response = await fetch(`${url}/api/agents/gated/run`, init)
    return (await response.json()) as { id: string; status: string }
  }
  const one = await serve(handler(), { port: 0 })
  await start(one.url, 'first')
  const { id, status } = await start(one.url, 'second')
  expect(status).toBe('queued')
  await eventually(() => expect(begun).toEqual(['first']))
  const closed = one.close({ graceMs: 20_000 })
  gates.get('first')?.()
  await closed
  const two = await serve(handler(), { port: 0 })
  try {
    await eventually(() => expect(begun).toEqual(['first', 'second']))
    gates.get('second')?.()
    await eventually(async () => {
      const record = await (await fetch(`${two.url}/api/runs/${id}`)).json()
      expect(record).toMatchObject({ status: 'completed' })
    })
  } finally {
    await two.close()
  }
})

it('needs a state', () => {
  const make = () => createCoreHandler({ plugins: [queue()] })
  expect(make).toThrow(
    expect.objectContaining({ code: 'invalid_options', message: expect.stringContaining('queue') }),
  )
})
