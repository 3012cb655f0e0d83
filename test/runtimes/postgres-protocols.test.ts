/**
 * What protocols and model-backed agents keep, in PostgreSQL.
 *
 * @module-tag long
 */
import { afterAll, beforeAll } from 'vitest'
import { kindCases } from '../contracts/a2a-client/kinds.ts'
import { others } from '../contracts/a2a-client/others.ts'
import { interruptCases } from '../contracts/ag-ui.ts'
import { CLIENTS } from '../contracts/ai-sdk-ui/clients.ts'
import { resumingCases } from '../contracts/ai-sdk-ui/leaving.ts'
import { anthropicCases } from '../contracts/anthropic.ts'
import { langGraphCases } from '../contracts/langgraph-api.ts'
import { workingCases } from '../contracts/mcp/working.ts'
import { aiContract } from '../contracts/model-agent.ts'
import { keepingCases } from '../contracts/openai/keeping.ts'
import { owningCases } from '../contracts/openai/owning.ts'
import { otelContract } from '../contracts/otel.ts'
import { served } from '../contracts/served.ts'
import { needing } from '../needing.ts'
import { ELSEWHERE } from '../tags.ts'
import { inPostgres } from './deployments.ts'
import { type PostgresServer, startPostgres } from './postgres/server.ts'

const { describe } = needing('postgresql')

let database: PostgresServer
beforeAll(async () => {
  database = await startPostgres()
})
afterAll(() => database?.stop())

const deploy = (name: string) => inPostgres(name, () => database)
const usual = (name: string) => served(() => deploy(name)('usual'))

describe('Node, in PostgreSQL', ELSEWHERE, () => {
  describe('model-backed agents', () => aiContract(deploy('ai')))
  describe('Anthropic’s interface', () => anthropicCases(usual('anthropic')))
  describe('LangGraph’s interface', () => langGraphCases(usual('langgraph-api')))
  describe('OpenAI’s interface', () => {
    const server = usual('openai')
    keepingCases(server, 5)
    owningCases(server)
  })
  describe('AG-UI', () => interruptCases(usual('ag-ui')))
  describe('chats', () => {
    const server = served(() => deploy('ai-sdk-ui')('resume'))
    resumingCases(CLIENTS.at(-1)!, server)
  })
  describe('MCP', () => workingCases(usual('mcp')))
  describe('remote agents', () => {
    const settings = others()
    kindCases(
      'servable-10',
      served(() => deploy('a2a-client')(settings())),
    )
  })
  describe('traces', () => otelContract(deploy('otel')))
})
