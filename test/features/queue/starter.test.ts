/** A run that is added while a search for the next one ends, and one whose starts end one process after the other. */
import { expect, it } from 'vitest'
import { createWake } from '../../../src/base/wake.ts'
import type { Calls } from '../../../src/core/transaction-calls.ts'
import type { ClaimedRun, LineTransactions } from '../../../src/features/queue/line.ts'
import { createStarter } from '../../../src/features/queue/starter.ts'
import type { EndedRun, RunHost, StartRequest } from '../../../src/runs/stored/host.ts'
import { MAX_DEATHS } from '../../../src/stores/deaths.ts'

function claimed(id: string, more: object = {}): ClaimedRun {
  return {
    queued: { record: { id, createdAt: '2026-01-01' }, owner: null, client: 'c', ...more },
    asked: { options: {} },
  } as unknown as ClaimedRun
}

// Each of these lets that many steps of the search pass before the run comes.
it.each(Array.from({ length: 12 }, (_, steps) => steps))('starts it, %i steps later', async steps => {
  const waiting: ClaimedRun[] = []
  const started: unknown[] = []
  const line = {
    count: async () => 1,
    claim: async () => waiting.shift(),
    done: async () => {},
  } as unknown as Calls<LineTransactions>
  const start = async ({ options }: StartRequest) => void started.push(options.runId)
  const host = { start } as unknown as RunHost
  const parts = { runs: { targetOf: () => ({}) }, log() {}, changed: createWake() } as unknown as Parameters<
    typeof createStarter
  >[2]
  const { onFree } = createStarter(host, line, parts)
  void onFree()
  for (let step = 0; step < steps; step++) await undefined
  waiting.push(claimed('late'))
  await onFree()
  expect(started).toEqual(['late'])
})

it('fails it without a start once a few have died as they started it', async () => {
  const waiting = [claimed('deadly', { begun: MAX_DEATHS + 1 }), claimed('late', { begun: MAX_DEATHS })]
  const [done, started, recorded]: unknown[][] = [[], [], []]
  const line = {
    count: async () => 1,
    claim: async () => waiting.shift(),
    done: async (_: string, id: string) => void done!.push(id),
  } as unknown as Calls<LineTransactions>
  const host = {
    start: async ({ options }: StartRequest) => void started!.push(options.runId),
    record: async ({ id, event }: EndedRun) => void recorded!.push({ id, event }),
  } as unknown as RunHost
  const parts = { runs: { targetOf: () => ({}) }, log() {}, changed: createWake() } as unknown as Parameters<
    typeof createStarter
  >[2]
  await createStarter(host, line, parts).onFree()
  expect(started).toEqual(['late'])
  expect(recorded).toMatchObject([{ id: 'deadly', event: { type: 'error', code: 'interrupted' } }])
  expect(done).toEqual(['deadly', 'late'])
})
