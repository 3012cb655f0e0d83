/** A run that is added while a search for the next one ends. */
import { expect, it } from 'vitest'
import type { Calls } from '../../src/core/kept.ts'
import type { Claimed, LineTransactions } from '../../src/queue/line.ts'
import { createStarter, type StarterParts } from '../../src/queue/starter.ts'
import type { RunHost, StartRequest } from '../../src/runs/host.ts'
import { createWake } from '../../src/wake.ts'

function claimed(id: string): Claimed {
  return {
    queued: { record: { id }, owner: null, client: 'c' },
    asked: { options: {} },
  } as unknown as Claimed
}

// Each of these lets that many steps of the search pass before the run comes.
it.each(Array.from({ length: 12 }, (_, steps) => steps))('starts it, %i steps later', async steps => {
  const waiting: Claimed[] = []
  const started: unknown[] = []
  const line = {
    count: async () => 1,
    claim: async () => waiting.shift(),
    done: async () => {},
  } as unknown as Calls<LineTransactions>
  const start = async ({ options }: StartRequest) => void started.push(options.runId)
  const host = { start } as unknown as RunHost
  const parts = { runs: { targetOf: () => ({}) }, log() {}, changed: createWake() } as unknown as StarterParts
  const { onFree } = createStarter(host, line, parts)
  void onFree()
  for (let step = 0; step < steps; step++) await undefined
  waiting.push(claimed('late'))
  await onFree()
  expect(started).toEqual(['late'])
})
