/** A worker that was thought dead, and finds that another one goes on with its run. */
import { expect, it } from 'vitest'
import { deferred } from '../../src/base/wake.ts'
import { localState } from '../../src/core/local-state.ts'
import { sessions } from '../../src/features/sessions/plugin.ts'
import { bearerAuth, createHandler, memoryState, Workflow } from '../../src/index.ts'
import { RUNS, type StoredRun } from '../../src/runs/stored/record.ts'
import { NOBODY } from '../../src/runs/stored/worker-name.ts'
import { memoryStore } from '../../src/stores/memory.ts'
import type { Store } from '../../src/stores/store.ts'
import { waitFor } from '../contracts/run-host/kit.ts'
import { reopened } from '../contracts/run-host/local.ts'

/** A service over a store. Its workflow waits in a step. `left` tells whether its run has ended or was lost. */
function serviceOver(store: Store) {
  const gate = deferred<void>()
  const seen = { begun: false, left: false }
  const flow = new Workflow({
    name: 'flow',
    register: false,
    async *run(_, { step, signal }) {
      signal.addEventListener('abort', () => {
        seen.left = true
      })
      yield* step('one', async () => {
        seen.begun = true
        await gate.promise
      })
      yield 'done'
      seen.left = true
    },
  })
  const handler = createHandler({
    workflows: { flow },
    state: localState({ store, retention: memoryState().retention, isVolatile: false }),
    middleware: [bearerAuth({ tokens: { 'let-me-in': 'ada' } })],
    plugins: [sessions()],
    logger: false,
  })
  const ask = async (path: string, body?: object) => {
    const headers = {
      authorization: 'Bearer let-me-in',
      'content-type': 'application/json',
      prefer: 'respond-async',
    }
    const init = body && { method: 'POST', body: JSON.stringify(body) }
    const response = await handler(new Request(`http://x/api/${path}`, { headers, ...init }))
    return response.json()
  }
  return { ask, seen, gate }
}

it('leaves the place and the turn in the session to the other one', async () => {
  const store = memoryStore()
  const here = serviceOver(store)
  const { id } = await here.ask('workflows/flow/run', { input: 'x', sessionId: 's' })
  await waitFor(() => here.seen.begun)
  const there = serviceOver(reopened(store))
  await there.ask(`runs/${id}`)
  await waitFor(() => there.seen.begun)
  here.gate.resolve()
  await waitFor(() => here.seen.left)
  const turns = () => there.ask('workflows/flow/sessions/s/messages')
  const session = () => there.ask('workflows/flow/sessions/s')
  expect(await turns()).toMatchObject({ turns: [{ runId: id, status: 'running' }] })
  expect(await session()).toMatchObject({ isRunning: true })
  there.gate.resolve()
  await waitFor(async () => (await there.ask(`runs/${id}`)).status === 'completed')
  expect(await turns()).toMatchObject({ turns: [{ runId: id, status: 'completed', text: 'done' }] })
})

it('leaves its run to others when it is late, though it has another name by the time that it can write', async () => {
  const base = memoryStore()
  const late: (() => void)[] = []
  let instance = 'first'
  const store: Store = {
    ...base,
    get instance() {
      return instance
    },
    isShared: true,
    isAlive: other => other === instance,
    onLate: wake => void late.push(wake),
  }
  const { ask, seen } = serviceOver(store)
  const { id } = await ask('workflows/flow/run', { input: 'x' })
  await waitFor(() => seen.begun)
  instance = 'second'
  for (const wake of late) wake()
  await waitFor(() => seen.left)
  // Nobody cancelled it: it waits for whoever takes it.
  await waitFor(() => base.read(tx => tx.get<StoredRun>(RUNS, id)?.value.instance) === NOBODY)
  expect(base.read(tx => tx.get<StoredRun>(RUNS, id)?.value.record.status)).toBe('running')
})
