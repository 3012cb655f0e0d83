/** The contract of the socket layer, which holds on every runtime. The server is `socket/service.ts`. */
import { describe } from 'vitest'
import type { Runtime } from '../runtimes/harness.ts'
import { served } from './served.ts'
import { handshakeCases } from './socket/handshake.ts'
import { heartbeatCases } from './socket/heartbeat.ts'
import { pollingCases, socketCases } from './socket/messages.ts'
import { packetCases } from './socket/packets.ts'
import { stockCases } from './socket/stock.ts'
import { upgradeCases } from './socket/upgrades.ts'

/** The whole contract. */
export function socketContract(start: () => Promise<Runtime>): void {
  const server = served(start)
  describe('Engine.IO', () => {
    describe('the handshake', () => handshakeCases(server))
    describe('polling', () => pollingCases(server))
    describe('WebSocket', () => socketCases(server))
    describe('the heartbeat', () => heartbeatCases(server))
    describe('the upgrade', () => upgradeCases(server))
  })
  describe('Socket.IO', () => packetCases(server))
  describe('the stock client', () => stockCases(server))
}
