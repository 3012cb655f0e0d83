/** The HTTP contract, which holds on every runtime. The server serves `fixture.ts`. */
import { describe } from 'vitest'
import type { Runtime } from '../runtimes/harness.ts'
import { canaryCases, logCases } from './http/canary.ts'
import { connectionCases, smokeCases } from './http/connections.ts'
import { conversationCases } from './http/conversations.ts'
import { failureCases, hostileCases } from './http/failures.ts'
import type { Host } from './http/host.ts'
import { hostCases } from './http/hosts.ts'
import { keyCases } from './http/keys.ts'
import { listCases } from './http/lists.ts'
import { refusalCases } from './http/refusals.ts'
import { runCases } from './http/runs.ts'
import { surroundingCases } from './http/surroundings.ts'
import { toolCases } from './http/tools.ts'
import { unreadCases } from './http/unread.ts'
import { uploadCases } from './http/uploads.ts'
import { served } from './served.ts'

/** The whole contract, except what the host itself decides. */
export function httpContract(start: () => Promise<Runtime>, host: Host = {}): void {
  const server = served(start)
  describe.concurrent('over HTTP', () => {
    connectionCases(server)
    canaryCases(server)
    runCases(server)
    conversationCases(server)
    listCases(server)
    refusalCases(server, host)
    hostCases(server, host)
    failureCases(server)
    surroundingCases(server, host)
    keyCases(server)
    toolCases(server)
    uploadCases(server)
    if (!host.readsBodies) unreadCases(server)
  })
  describe('the log', () => logCases(server, host))
  describe('an agent that is hostile', () => hostileCases(server))
}

/** What of the contract a framework before the handler may change: requests, bodies, answers, and clients that leave. Gives the server. */
export function httpConnectionContract(start: () => Promise<Runtime>, host: Host = {}): () => Runtime {
  const server = served(start)
  describe.concurrent('over HTTP', () => {
    connectionCases(server, host)
    runCases(server)
    conversationCases(server)
    refusalCases(server, host)
    hostCases(server, host)
    surroundingCases(server, host)
    keyCases(server)
    toolCases(server)
    uploadCases(server)
    if (!host.readsBodies) unreadCases(server)
  })
  describe('the log', () => logCases(server, host))
  return server
}

/** A short check that a handler is served. */
export function smokeContract(start: () => Promise<Runtime>): void {
  smokeCases(served(start))
}
