/** The parts of the contracts of plugins that Next may break. */
import { describe } from 'vitest'
import { kindCases } from '../contracts/a2a-client/kinds.ts'
import { others } from '../contracts/a2a-client/others.ts'
import { FEW } from '../contracts/a2a-client/ways.ts'
import { anthropicCases } from '../contracts/anthropic.ts'
import { CONNECTIONS } from '../contracts/connections.ts'
import { keepingCases as fileCases } from '../contracts/files/keeping.ts'
import { guardingCases } from '../contracts/guards/guarding.ts'
import { WAYS } from '../contracts/guards/ways.ts'
import { langGraphCases } from '../contracts/langgraph-api.ts'
import { leavingCases } from '../contracts/openai/leaving.ts'
import { tellingCases } from '../contracts/openai/telling.ts'
import { otelContract } from '../contracts/otel.ts'
import { waitingCases } from '../contracts/queue/waiting.ts'
import { served } from '../contracts/served.ts'
import type { Deploy } from './deployments.ts'

/** What needs nothing that requests share. */
const ALONE = ['JSON', 'SSE', 'MCP', 'AG-UI', 'the AI SDK', 'Chat Completions']

/** In the Node runtime. `deploy` starts a service by its name. */
export function pluginCases(deploy: (name: string) => Deploy): void {
  const usual = (name: string) => served(() => deploy(name)('usual'))
  const lacks = { upgrades: false }
  for (const name of ['keys', 'budgets', 'guards', 'webhooks', 'sessions', 'approvals'] as const)
    CONNECTIONS[name](deploy(name), lacks)
  describe('the queue', () => waitingCases(usual('queue')))
  describe('traces', () => otelContract(deploy('otel')))
  describe('files', () => fileCases(usual('files'), { tellsLength: false }))
  describe('OpenAI’s interface', () => {
    const server = usual('openai')
    tellingCases(server)
    leavingCases(server)
  })
  describe('Anthropic’s interface', () => anthropicCases(usual('anthropic')))
  describe('LangGraph’s interface', () => langGraphCases(usual('langgraph-api')))
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
