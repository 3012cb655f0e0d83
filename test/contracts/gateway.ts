/** The contract of the event socket, which holds on every runtime and with every state. The server is `gateway/service.ts`. */
import { describe } from 'vitest'
import { guardedCases, middlewareCases, scopedCases } from './gateway/admission.ts'
import { answerCases, answerRecoveryCases } from './gateway/answers.ts'
import { boundCases } from './gateway/bounds.ts'
import { canaryCases } from './gateway/canary.ts'
import { clientOf, connected, plain, type Server, stock, WAYS } from './gateway/client.ts'
import { narrowPlainCases, plainCases } from './gateway/plain.ts'
import { recoveryCases } from './gateway/recovery.ts'
import { runCases } from './gateway/runs.ts'
import type { SettingsName } from './gateway/service.ts'
import { tokenCases } from './gateway/tokens.ts'
import type { Deployment } from './runs/client.ts'
import { served } from './served.ts'

/** Starts the service with some settings. */
export type Deploy = (settings: SettingsName) => Promise<Deployment>

/** Opens stock clients that connect in one way. */
const opening = (server: Server, way: (typeof WAYS)[number][1]) => async (auth?: object) => {
  const socket = stock(server, { ...way, ...(auth && { auth }) })
  const client = clientOf(socket)
  await connected(socket)
  return client
}

/** The whole contract. */
export function gatewayContract(deploy: Deploy): void {
  describe('the gateway', () => {
    const server = served(() => deploy('usual'))
    describe.each(WAYS)('and a stock client %s', (_, way) => {
      const open = opening(server, way)
      runCases(server, open)
      answerCases(server, open)
    })
    describe('and a plain WebSocket', () => {
      runCases(server, auth => plain(server, auth && { connect: auth }))
      answerCases(server, () => plain(server))
      plainCases(server)
    })
    middlewareCases(server)
  })

  describe('with recovery', () => {
    const server = served(() => deploy('recovering'))
    recoveryCases(server)
    answerCases(server, () => plain(server))
    answerRecoveryCases(server)
    canaryCases(server)
  })
  describe('with an `authenticate` of its own', () => guardedCases(served(() => deploy('guarded'))))
  describe('with names of its own and ready-made authentication', () => {
    const server = served(() => deploy('scoped'))
    scopedCases(server)
    tokenCases(server)
  })
  describe('with narrow bounds', () => {
    const server = served(() => deploy('narrow'))
    narrowPlainCases(server)
    boundCases(server)
  })
}

/** What the contract says of a runtime: of its sockets, of those who come back, and of those who read slowly. */
export function gatewayConnectionContract(deploy: Deploy): void {
  describe('the gateway', () => {
    const server = served(() => deploy('usual'))
    describe.each(WAYS)('and a stock client %s', (_, way) => runCases(server, opening(server, way)))
    describe('and a plain WebSocket', () => {
      runCases(server, auth => plain(server, auth && { connect: auth }))
      answerCases(server, () => plain(server))
      plainCases(server)
    })
  })

  describe('with recovery', () => recoveryCases(served(() => deploy('recovering'))))
  describe('with narrow bounds', () => {
    const server = served(() => deploy('narrow'))
    narrowPlainCases(server)
    boundCases(server)
  })
}

/** What the contract says of the store. */
export function gatewayStateContract(deploy: Deploy): void {
  describe('the gateway', () => {
    const server = served(() => deploy('usual'))
    const open = opening(server, {})
    runCases(server, open)
    answerCases(server, open)
  })

  describe('with recovery', () => {
    const server = served(() => deploy('recovering'))
    recoveryCases(server)
    answerRecoveryCases(server)
  })
}
