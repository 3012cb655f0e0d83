/** The contract of every run host. */
import { afterAll, beforeAll, describe } from 'vitest'
import type { HostSettings } from '../../src/runs/stored/host.ts'
import { answerCases, answerRaceCases } from './run-host/answering.ts'
import { amountCases, crowdCases, lengthCases } from './run-host/bounds.ts'
import { deleteCases, feedbackCases } from './run-host/deleting.ts'
import { continueCases, graceCases, leaveCases } from './run-host/disconnect.ts'
import { followCases } from './run-host/following.ts'
import { keyCases } from './run-host/idempotency.ts'
import type { Hosted, TestHost } from './run-host/kit.ts'
import { lifeCases } from './run-host/life.ts'
import { listCases } from './run-host/lists.ts'
import { ownerCases } from './run-host/owners.ts'
import { raceCases } from './run-host/races.ts'
import { recoveryCases } from './run-host/recovery.ts'
import { resumeCases } from './run-host/resuming.ts'
import { secretCases } from './run-host/secrets.ts'

/** Makes a host with these settings and defaults for the others. */
export type MakeHost = (settings: Partial<HostSettings>) => Promise<TestHost>

/** The ways in which hosts may differ. */
interface Differences {
  /** Number of concurrent requests for one run. */
  readonly atOnce?: number
  /** Whether `maxRunning` counts over all owners. It cannot if each owner has an index. */
  readonly countsAll?: boolean
  /** The factor by which agents must be slower, so that tests meet them while they are running. */
  readonly slowness?: number
  /** How many runs are cancelled as they end, and how many are answered by two. */
  readonly races?: number
  /** How often many ask for one run at the same instant. */
  readonly rounds?: number
}

/** The whole contract. */
export function runHostContract(
  make: MakeHost,
  { atOnce = 100, countsAll = true, slowness = 1, races = 1000, rounds = 100 }: Differences = {},
): void {
  describe('with its defaults', () => {
    const hosted = within(make, {})
    describe('a run', () => lifeCases(hosted))
    describe('owners', () => ownerCases(hosted))
    describe('an idempotency key', () => keyCases(hosted, { atOnce, rounds }))
    describe('followers', () => followCases(hosted))
    describe('a follower that leaves', () => leaveCases(hosted))
    describe('lists', () => listCases(hosted))
    describe('deleting', () => deleteCases(hosted))
    describe('feedback', () => feedbackCases(hosted))
    describe('secrets', () => secretCases(hosted))
    describe('recovery', () => recoveryCases(hosted))
    describe('work that goes on', () => resumeCases(hosted))
  })
  describe('cancelling against finishing', () => raceCases(within(make, {}), { count: races, slowness }))
  describe('requests', () => answerCases(within(make, {})))
  describe('two who answer', () => answerRaceCases(within(make, {}), races))
  describe('bounds on runs', () =>
    amountCases(within(make, { maxRunning: 4, maxRunningPerOwner: 2 }), countsAll))
  describe('bounds on followers', () => crowdCases(within(make, { maxFollowers: 2, disconnect: 'continue' })))
  describe('bounds on a run', () => {
    lengthCases(within(make, { maxBytes: 2000, maxEvents: 20, timeoutMs: 300 }))
  })
  describe('disconnect: continue', () => continueCases(within(make, { disconnect: 'continue' })))
  describe('disconnect: graceMs', () => graceCases(within(make, { disconnect: { graceMs: 1000 } })))
}

/** One host for all tests of a suite. */
function within(make: MakeHost, settings: Partial<HostSettings>): Hosted {
  let made: TestHost | undefined
  beforeAll(async () => {
    made = await make(settings)
  })
  afterAll(() => made?.close())
  return () => {
    if (made === undefined) throw new Error('there is no host yet')
    return made
  }
}
