/**
 * The parts of the contracts of plugins that Next may break: refusals with their fields, streams that are masked, stopped or left, files,
 * and what is done after the answer.
 */
import { describe } from 'vitest'
import { kindCases } from '../contracts/a2a-client/kinds.ts'
import { others } from '../contracts/a2a-client/others.ts'
import { FEW } from '../contracts/a2a-client/ways.ts'
import { decidingCases } from '../contracts/approvals/deciding.ts'
import { listingCases as inboxCases } from '../contracts/approvals/listing.ts'
import { TRANSPORTS } from '../contracts/approvals/ways.ts'
import { REFUSALS, refusingCases } from '../contracts/budgets/refusing.ts'
import { keepingCases as fileCases } from '../contracts/files/keeping.ts'
import { guardingCases } from '../contracts/guards/guarding.ts'
import { WAYS } from '../contracts/guards/ways.ts'
import { keepingCases as keyCases } from '../contracts/keys/keeping.ts'
import { requestRatingCases } from '../contracts/keys/rating.ts'
import { leavingCases } from '../contracts/openai/leaving.ts'
import { tellingCases } from '../contracts/openai/telling.ts'
import { otelContract } from '../contracts/otel.ts'
import { waitingCases } from '../contracts/queue/waiting.ts'
import { served } from '../contracts/served.ts'
import { listingCases as sessionCases } from '../contracts/sessions/listing.ts'
import { tellingCases as webhookCases } from '../contracts/webhooks/telling.ts'
import { webhooksCases } from '../contracts/webhooks.ts'
import type { Deploy } from './deployments.ts'

/** Those of them that need no WebSocket. */
function withoutUpgrades<T>(ways: Readonly<Record<string, T>>): Record<string, T> {
  return Object.fromEntries(Object.entries(ways).filter(([name]) => !name.includes('plain socket')))
}

/** What needs nothing that requests share. */
const ALONE = ['JSON', 'SSE', 'MCP', 'AG-UI', 'the AI SDK', 'Chat Completions']

/** In the Node runtime. `deploy` starts a service by its name. */
export function pluginCases(deploy: (name: string) => Deploy): void {
  const usual = (name: string) => served(() => deploy(name)('usual'))
  describe('keys', () => {
    const server = usual('keys')
    keyCases(server)
    requestRatingCases(server)
  })
  describe('budgets', () => refusingCases(usual('budgets'), withoutUpgrades(REFUSALS)))
  describe('guards', () => guardingCases(usual('guards'), withoutUpgrades(WAYS)))
  describe('webhooks', () => webhooksCases(deploy('webhooks'), webhookCases))
  describe('the queue', () => waitingCases(usual('queue')))
  describe('traces', () => otelContract(deploy('otel')))
  describe('sessions', () => sessionCases(usual('sessions')))
  describe('approvals', () => {
    const server = usual('approvals')
    decidingCases(server, withoutUpgrades(TRANSPORTS))
    inboxCases(server)
  })
  describe('files', () => fileCases(usual('files'), { tellsLength: false }))
  describe('OpenAI’s interface', () => {
    const server = usual('openai')
    tellingCases(server)
    leavingCases(server)
  })
  describe('remote agents', () => {
    const settings = others()
    const server = served(() => deploy('a2a-client')(settings()))
    for (const name of FEW) kindCases(name, server)
  })
}

/** In the Edge runtime. */
export function edgePluginCases(deploy: (name: string) => Deploy): void {
  describe('guards', () => {
    const ways = Object.fromEntries(Object.entries(WAYS).filter(([name]) => ALONE.includes(name)))
    guardingCases(
      served(() => deploy('guards')('')),
      ways,
    )
  })
  describe('traces', () => otelContract(deploy('otel'), { stores: false }))
}
