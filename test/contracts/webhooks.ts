/** What holds of webhooks on every store and runtime. */
import { describe } from 'vitest'
import type { Deploy } from '../runtimes/deployments.ts'
import { served } from './served.ts'
import type { Told } from './webhooks/client.ts'
import { forgettingCases } from './webhooks/forgetting.ts'
import { managingCases } from './webhooks/managing.ts'
import { startReceiver } from './webhooks/receiver.ts'
import { tellingCases } from './webhooks/telling.ts'
import { tryingCases } from './webhooks/trying.ts'

export function webhooksContract(deploy: Deploy): void {
  describe('webhooks', () =>
    webhooksCases(deploy, told => {
      describe('tell', () => tellingCases(told))
      describe('are tried', () => tryingCases(told))
      describe('are managed', () => managingCases(told))
      describe('are deleted', () => forgettingCases(told))
    }))
}

/** Some of the cases, against a server with a receiver. */
export function webhooksCases(deploy: Deploy, cases: (told: Told) => void): void {
  const both = served(async () => {
    const receiver = await startReceiver()
    const server = await deploy(receiver.url)
    const stop = async () => {
      await server.stop()
      await receiver.stop()
    }
    return { server, receiver, stop }
  })
  cases({ server: () => both().server, receiver: () => both().receiver })
}
