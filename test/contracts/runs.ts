/** What holds for followed runs over HTTP, on every runtime and with every state alike. The server is `runs/service.ts`. */
import { afterAll, beforeAll, describe } from 'vitest'
import { boundCases, shortCases, unstoredCases } from './runs/bounds.ts'
import { canaryCases, runLogCases } from './runs/canary.ts'
import type { Deployment, Server } from './runs/client.ts'
import { cuttingCases } from './runs/cutting.ts'
import { followingCases } from './runs/following.ts'
import { cancelOnLeaveCases, continueCases, graceCases } from './runs/leaving.ts'
import { ownerCases } from './runs/owners.ts'
import { repeatingCases } from './runs/repeating.ts'
import type { SettingsName } from './runs/service.ts'
import { sizeCases } from './runs/sizes.ts'

/** Starts the service with some settings. */
export type Deploy = (settings: SettingsName) => Promise<Deployment>

/** Starts the server before the tests of a suite, and stops it after them. */
function served(deploy: () => Promise<Deployment>): Server {
  let deployment: Deployment | undefined
  beforeAll(async () => {
    deployment = await deploy()
  })
  afterAll(() => deployment?.stop())
  return () => {
    if (deployment === undefined) throw new Error('the server has not started')
    return deployment
  }
}

/** The whole contract. */
export function runsContract(deploy: Deploy): void {
  describe('followed runs', () => {
    const server = served(() => deploy('usual'))
    describe.concurrent('over HTTP', () => {
      followingCases(server)
      ownerCases(server)
      repeatingCases(server)
      canaryCases(server)
      describe('a run whose clients leave', () => cancelOnLeaveCases(server))
      describe('with `runs.store` none', () => unstoredCases(server))
    })
    cuttingCases(server)
    sizeCases(server)
    describe('the log', () => runLogCases(server))
  })

  describe('with `runs.disconnect` continue', () => {
    const server = served(() => deploy('continue'))
    describe.concurrent('a client that leaves', () => continueCases(server))
  })

  describe('with `runs.disconnect` and a time of grace', () => {
    const server = served(() => deploy('grace'))
    describe.concurrent('a client that leaves', () => graceCases(server))
  })

  describe('with narrow bounds', () => boundCases(served(() => deploy('tight'))))
  describe('with little time and room', () => shortCases(served(() => deploy('short'))))
}
