/** What holds of sessions wherever they are kept. */
import { describe } from 'vitest'
import type { Deploy } from '../runtimes/deployments.ts'
import { served } from './served.ts'
import { branchingCases } from './sessions/branching.ts'
import { feedbackCases, forgettingCases } from './sessions/forgetting.ts'
import { forkingCases } from './sessions/forking.ts'
import { briefCases, fewCases } from './sessions/leaving.ts'
import { listingCases } from './sessions/listing.ts'
import { replacingCases } from './sessions/replacing.ts'
import { largeStatesCases, statesCases } from './sessions/states.ts'
import { steeringCases } from './sessions/steering.ts'

export function sessionsContract(deploy: Deploy, { counts = true } = {}): void {
  describe.concurrent('with much room', () => {
    const server = served(() => deploy('usual'))
    listingCases(server)
    forkingCases(server)
    replacingCases(server)
    branchingCases(server)
    steeringCases(server)
    statesCases(server)
    forgettingCases(server)
    feedbackCases(server)
  })
  describe('with large states', () => largeStatesCases(served(() => deploy('usual'))))
  describe('with a short life', () => briefCases(served(() => deploy('brief'))))
  // With Durable Objects nobody counts the sessions of an owner.
  if (counts) describe('with little room', () => fewCases(served(() => deploy('few'))))
}
