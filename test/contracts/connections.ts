/**
 * The parts of the contracts of plugins that a runtime may break: refusals with their fields, streams that are masked, stopped or
 * left, files, and what is done after the answer. The contracts run in full elsewhere.
 */
import { describe } from 'vitest'
import type { Deploy } from '../runtimes/deployments.ts'
import { aiSdkUiConnectionContract } from './ai-sdk-ui.ts'
import { decidingCases } from './approvals/deciding.ts'
import { listingCases as inboxCases } from './approvals/listing.ts'
import { TRANSPORTS } from './approvals/ways.ts'
import { REFUSALS, refusingCases } from './budgets/refusing.ts'
import { guardingCases } from './guards/guarding.ts'
import { WAYS } from './guards/ways.ts'
import { keepingCases as keyCases } from './keys/keeping.ts'
import { requestRatingCases } from './keys/rating.ts'
import { mcpConnectionContract } from './mcp.ts'
import { served } from './served.ts'
import { listingCases as sessionCases } from './sessions/listing.ts'
import { tellingCases as webhookCases } from './webhooks/telling.ts'
import { webhooksCases } from './webhooks.ts'

/** What a host lacks. */
export interface Lacks {
  /** A host that cannot take a WebSocket over leaves out what needs one. */
  readonly upgrades?: boolean
}

/** Those of them that the host can do. */
function doable<T>(ways: Readonly<Record<string, T>>, { upgrades = true }: Lacks): Record<string, T> {
  return Object.fromEntries(
    Object.entries(ways).filter(([name]) => upgrades || !name.includes('plain socket')),
  )
}

type Cases = (deploy: Deploy, lacks?: Lacks) => void

const usual = (deploy: Deploy) => served(() => deploy('usual'))

/** By the name of the plugin's contract. */
export const CONNECTIONS = {
  keys: deploy =>
    describe('keys', () => {
      const server = usual(deploy)
      keyCases(server)
      requestRatingCases(server)
    }),
  budgets: (deploy, lacks = {}) =>
    describe('budgets', () => refusingCases(usual(deploy), doable(REFUSALS, lacks))),
  guards: (deploy, lacks = {}) => describe('guards', () => guardingCases(usual(deploy), doable(WAYS, lacks))),
  webhooks: deploy => describe('webhooks', () => webhooksCases(deploy, webhookCases)),
  sessions: deploy => describe('sessions', () => sessionCases(usual(deploy))),
  approvals: (deploy, lacks = {}) =>
    describe('approvals', () => {
      const server = usual(deploy)
      decidingCases(server, doable(TRANSPORTS, lacks))
      inboxCases(server)
    }),
  'ai-sdk-ui': deploy => aiSdkUiConnectionContract(deploy),
  mcp: deploy => mcpConnectionContract(deploy),
} as const satisfies Readonly<Record<string, Cases>>
