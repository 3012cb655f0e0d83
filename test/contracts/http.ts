/** What holds over HTTP, on every runtime alike. The server serves `fixture.ts`. */
import { afterAll, beforeAll, describe } from 'vitest'
import type { Runtime } from '../runtimes/harness.ts'
import { canaryCases, logCases } from './http/canary.ts'
import type { Server } from './http/client.ts'
import { connectionCases, smokeCases } from './http/connections.ts'
import { failureCases, hostileCases } from './http/failures.ts'
import { keyCases } from './http/keys.ts'
import { listCases } from './http/lists.ts'
import { refusalCases } from './http/refusals.ts'
import { runCases } from './http/runs.ts'
import { surroundingCases } from './http/surroundings.ts'

/** Starts the server before the tests of a suite, and stops it after them. */
function served(start: () => Promise<Runtime>): Server {
  let runtime: Runtime | undefined
  beforeAll(async () => {
    runtime = await start()
  })
  afterAll(() => runtime?.stop())
  return () => {
    if (runtime === undefined) throw new Error('the server has not started')
    return runtime
  }
}

/** The whole contract. */
export function httpContract(start: () => Promise<Runtime>): void {
  const server = served(start)
  describe.concurrent('over HTTP', () => {
    connectionCases(server)
    canaryCases(server)
    runCases(server)
    listCases(server)
    refusalCases(server)
    failureCases(server)
    surroundingCases(server)
    keyCases(server)
  })
  describe('the log', () => logCases(server))
  describe('an agent that is hostile', () => hostileCases(server))
}

/** The part of the contract that shows that a handler is served at all. */
export function smokeContract(start: () => Promise<Runtime>): void {
  smokeCases(served(start))
}
