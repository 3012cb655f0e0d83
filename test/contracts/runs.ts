/** The contract of stored runs over HTTP, which holds on every runtime and with every state. The server is `runs/service.ts`. */
import { describe } from 'vitest'
import type { Host } from './http/host.ts'
import { answerCases, unkeptCases } from './runs/answering.ts'
import { boundCases, shortCases, unstoredCases } from './runs/bounds.ts'
import { canaryCases, runLogCases } from './runs/canary.ts'
import type { Deployment } from './runs/client.ts'
import { storedConversationCases } from './runs/conversations.ts'
import { correctionCases } from './runs/corrections.ts'
import { cuttingCases } from './runs/cutting.ts'
import { followingCases } from './runs/following.ts'
import { cancelOnLeaveCases, continueCases, graceCases } from './runs/leaving.ts'
import { liveCases } from './runs/live.ts'
import { numberCases } from './runs/numbers.ts'
import { ownerCases } from './runs/owners.ts'
import { repeatingCases } from './runs/repeating.ts'
import { retryCases } from './runs/retrying.ts'
import type { SettingsName } from './runs/service.ts'
import { sessionCases } from './runs/sessions.ts'
import { sizeCases } from './runs/sizes.ts'
import { turnCases } from './runs/turns.ts'
import { served } from './served.ts'

/** Starts the service with some settings. */
export type Deploy = (settings: SettingsName) => Promise<Deployment>

/** Where it runs. */
interface RunsHost extends Host {
  /** Events of the streams that are cut after each of them. Default: 50. */
  readonly cutEvents?: number
  /** Whether its state ends with its process, so that it keeps no work of runs. */
  readonly isVolatile?: boolean
}

/** The whole contract, except what the host itself decides. */
export function runsContract(
  deploy: Deploy,
  { cutEvents = 50, isVolatile = false, ...host }: RunsHost = {},
): void {
  describe('stored runs', () => {
    const server = served(() => deploy('usual'))
    describe.concurrent('over HTTP', () => {
      followingCases(server, host)
      answerCases(server)
      ownerCases(server)
      describe('GET /runs as it changes', () => liveCases(server))
      repeatingCases(server)
      canaryCases(server)
      correctionCases(server)
      sessionCases(server)
      storedConversationCases(server)
      turnCases(server)
      describe('a run whose clients leave', () => cancelOnLeaveCases(server, host))
      describe('with `runs.store` none', () => {
        unstoredCases(server)
        unkeptCases(server)
      })
    })
    cuttingCases(server, cutEvents)
    sizeCases(server)
    describe('the log', () => runLogCases(server))
  })

  describe('with `runs.disconnect` continue', () => {
    const server = served(() => deploy('continue'))
    describe.concurrent('a client that leaves', () => continueCases(server))
    describe.concurrent('a run that is measured', () => numberCases(server))
    describe.concurrent('a run that runs again', () => retryCases(server, isVolatile))
  })

  describe('with `runs.disconnect` and a time of grace', () => {
    const server = served(() => deploy('grace'))
    describe.concurrent('a client that leaves', () => graceCases(server))
  })

  describe('with narrow bounds', () => boundCases(served(() => deploy('tight'))))
  describe('with little time and room', () => shortCases(served(() => deploy('short'))))
}

/** What the contract says of a runtime: of its requests and streams, of large rows, and of clients that leave. */
export function runsConnectionContract(deploy: Deploy, host: Host = {}): void {
  describe('stored runs', () => {
    const server = served(() => deploy('usual'))
    describe.concurrent('over HTTP', () => {
      followingCases(server, host)
      repeatingCases(server)
      describe('a run whose clients leave', () => cancelOnLeaveCases(server, host))
    })
    cuttingCases(server, 50)
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
}
