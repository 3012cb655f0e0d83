/** The A2A contract, which holds on every runtime and with every state. The server is `a2a/service.ts`. */
import { describe } from 'vitest'
import { answerBoundCases, answerCases } from './a2a/answers.ts'
import { extensionCases, rootTenantCases, skillCases, streamlessCases, tenantCases } from './a2a/apart.ts'
import { boundCases, failureCases, requestBoundCases, timeoutCases } from './a2a/bounds.ts'
import { cardCases } from './a2a/cards.ts'
import { choosingCases } from './a2a/choosing.ts'
import { twoTongues } from './a2a/client.ts'
import { clientCases } from './a2a/clients.ts'
import { capabilityCases, envelopeCases, inputCases } from './a2a/envelope.ts'
import { extendedCases } from './a2a/extended.ts'
import { canaryCases, keyCases } from './a2a/keys.ts'
import { listCases } from './a2a/lists.ts'
import { ownerCases } from './a2a/owners.ts'
import { pushCases } from './a2a/push.ts'
import { racingCases } from './a2a/racing.ts'
import type { SettingsName } from './a2a/service.ts'
import { streamCases } from './a2a/streams.ts'
import { taskCases } from './a2a/tasks.ts'
import { knowledgeCases, wordCases } from './a2a/words.ts'
import type { Deployment } from './runs/client.ts'
import { served } from './served.ts'

/** Starts the service with some settings. */
export type Deploy = (settings: SettingsName) => Promise<Deployment>

/** The whole contract. */
export function a2aContract(deploy: Deploy): void {
  describe('A2A', () => {
    const server = served(() => deploy('usual'))
    describe.concurrent('over loopback', () => {
      clientCases(server)
      taskCases(server)
      answerCases(server)
      streamCases(server)
      listCases(server)
      ownerCases(server)
      inputCases(server)
      capabilityCases(server)
      envelopeCases(server)
      cardCases(server)
      choosingCases(server)
      keyCases(server)
      requestBoundCases(server)
      failureCases(server)
      wordCases(server)
      knowledgeCases(server)
      describe('extensions', () => extensionCases(server))
      tenantCases(server)
      skillCases(server)
      describe('streams that are off', () => streamlessCases(server))
    })
    racingCases(server, 200)
    canaryCases(server)
  })

  describe('A2A with narrow bounds', () => {
    const server = served(() => deploy('tight'))
    boundCases(server)
    answerBoundCases(server)
  })
  describe('A2A with all that is optional', () => {
    const server = served(() => deploy('full'))
    describe('push notifications', () => pushCases(server))
    describe.concurrent('the extended card', () => extendedCases(server))
    describe.concurrent('a tenant at the root', () => rootTenantCases(server))
  })
  describe('A2A with little time', () => timeoutCases(served(() => deploy('short'))))
}

/** What the contract says of where tasks are kept. Each way to say it is asked of other deployments, so here are two. */
export function a2aStateContract(deploy: Deploy): void {
  describe('tasks', () => {
    const server = served(() => deploy('usual'))
    describe.concurrent('over loopback', () => {
      taskCases(server, twoTongues)
      answerCases(server, twoTongues)
      streamCases(server, twoTongues)
      listCases(server, twoTongues)
      ownerCases(server, twoTongues)
      failureCases(server, twoTongues)
      wordCases(server, twoTongues)
      tenantCases(server, twoTongues)
      skillCases(server, twoTongues)
    })
    racingCases(server, 100)
    canaryCases(server)
  })

  describe('with narrow bounds', () =>
    boundCases(
      served(() => deploy('tight')),
      twoTongues,
    ))
  describe('push notifications', () => pushCases(served(() => deploy('full'))))
  describe('with little time', () =>
    timeoutCases(
      served(() => deploy('short')),
      twoTongues,
    ))
}

/** A short check that a runtime serves A2A: the stock clients, and the streams of each generation and binding. */
export function a2aSmoke(deploy: Deploy): void {
  describe('A2A', () => {
    const server = served(() => deploy('usual'))
    describe.concurrent('over loopback', () => {
      clientCases(server)
      streamCases(server, twoTongues)
      knowledgeCases(server, twoTongues)
    })
  })
}
