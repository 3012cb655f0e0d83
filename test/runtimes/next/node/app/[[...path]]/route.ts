import process from 'node:process'
// @ts-expect-error: Next is installed where this is built.
import { after } from 'next/server'
import { Agent, createHandler, type Handler, memoryState } from '../../../../../../src/index.ts'
import { nextHandlers, type Route } from '../../../../../../src/runtimes/next.ts'
import { sqliteState } from '../../../../../../src/runtimes/sqlite.ts'
import { handler as functions } from '../../functions.ts'

/** Made at import, as in apps. `next build` imports it too. */
const kept: Handler = createHandler({
  registry: false,
  agents: {
    echo: new Agent({
      name: 'echo',
      register: false,
      async *run(input) {
        yield String(input)
      },
    }),
  },
  a2a: { push: true },
  state: sqliteState({ path: 'kept.db' }),
})

/** The contracts' services, in memory. Only the one in ENTRY is loaded, with the settings in SETTINGS. */
const services: Readonly<Record<string, () => Promise<Handler>>> = {
  http: async () => (await import('../../../../../contracts/fixture.ts')).handler,
  async runs() {
    const { runsHandler, runsOptions } = await import('../../../../../contracts/runs/service.ts')
    return runsHandler(runsOptions(memoryState(), process.env.SETTINGS))
  },
  async a2a() {
    const { a2aHandler, a2aOptions } = await import('../../../../../contracts/a2a/service.ts')
    return a2aHandler(a2aOptions(memoryState(), process.env.SETTINGS))
  },
  async admin() {
    const { adminHandler, adminOptions } = await import('../../../../../contracts/admin/service.ts')
    const { stdio } = await import('../../../../../../src/runtimes/stdio.ts')
    return adminHandler(adminOptions(memoryState(), stdio))
  },
  async console() {
    return (await import('../../../../../contracts/console/service.ts')).consoleHandler(
      'known',
      memoryState(),
    )
  },
  async metrics() {
    const { metricsHandler, metricsOptions } = await import('../../../../../contracts/metrics/service.ts')
    return metricsHandler(metricsOptions(memoryState()))
  },
  async 'ag-ui'() {
    const { agUiHandler, agUiOptions } = await import('../../../../../contracts/ag-ui/service.ts')
    return agUiHandler(agUiOptions(memoryState()))
  },
  async ai() {
    const { aiHandler, aiOptions } = await import('../../../../../contracts/ai/service.ts')
    return aiHandler(aiOptions(memoryState(), process.env.SETTINGS ?? ''))
  },
  async 'ai-sdk-ui'() {
    const { aiSdkUiHandler, aiSdkUiOptions } = await import('../../../../../contracts/ai-sdk-ui/service.ts')
    return aiSdkUiHandler(aiSdkUiOptions(memoryState(), process.env.SETTINGS))
  },
  async 'mcp-clients'() {
    const { mcpClientsHandler } = await import('../../../../../contracts/mcp-clients/service.ts')
    return mcpClientsHandler(memoryState())
  },
  async mcp() {
    const { mcpHandler, mcpOptions } = await import('../../../../../contracts/mcp/service.ts')
    return mcpHandler(mcpOptions(memoryState(), process.env.SETTINGS))
  },
  async keys() {
    const { keysHandler, keysOptions } = await import('../../../../../contracts/keys/service.ts')
    return keysHandler(keysOptions(memoryState(), process.env.SETTINGS))
  },
  async budgets() {
    const { budgetsHandler, budgetsOptions } = await import('../../../../../contracts/budgets/service.ts')
    return budgetsHandler(budgetsOptions(memoryState(), process.env.SETTINGS))
  },
  async guards() {
    const { guardsHandler, guardsOptions } = await import('../../../../../contracts/guards/service.ts')
    return guardsHandler(guardsOptions(memoryState()))
  },
  async webhooks() {
    const { webhooksHandler, webhooksOptions } = await import('../../../../../contracts/webhooks/service.ts')
    return webhooksHandler(webhooksOptions(memoryState(), process.env.SETTINGS))
  },
  async queue() {
    const { queueHandler, queueOptions } = await import('../../../../../contracts/queue/service.ts')
    return queueHandler(queueOptions(memoryState(), process.env.SETTINGS))
  },
  async otel() {
    const { otelHandler } = await import('../../../../../contracts/otel/service.ts')
    return otelHandler(memoryState(), process.env.SETTINGS ?? '')
  },
  async sessions() {
    const { sessionsHandler, sessionsOptions } = await import('../../../../../contracts/sessions/service.ts')
    return sessionsHandler(sessionsOptions(memoryState(), process.env.SETTINGS))
  },
  async approvals() {
    const { approvalsHandler, approvalsOptions } = await import(
      '../../../../../contracts/approvals/service.ts'
    )
    return approvalsHandler(approvalsOptions(memoryState(), process.env.SETTINGS))
  },
  async files() {
    const { filesHandler, filesOptions } = await import('../../../../../contracts/files/service.ts')
    return filesHandler(filesOptions(memoryState(), process.env.SETTINGS))
  },
  async openai() {
    const { openaiHandler, openaiOptions } = await import('../../../../../contracts/openai/service.ts')
    return openaiHandler(openaiOptions(memoryState()))
  },
  async 'a2a-client'() {
    const { clientHandler } = await import('../../../../../contracts/a2a-client/service.ts')
    return clientHandler(memoryState(), process.env.SETTINGS)
  },
  kept: async () => kept,
  functions: async () => functions,
  client: async () => (await import('../../../../../contracts/client/exercise.ts')).answerExercise,
  async gateway() {
    const { gatewayHandler, gatewayOptions } = await import('../../../../../contracts/gateway/service.ts')
    return gatewayHandler(gatewayOptions(memoryState(), process.env.SETTINGS))
  },
}

let handler: Promise<Handler> | undefined

/** Only functions need it: a server of the others stays alive. */
const options = process.env.ENTRY === 'functions' ? { waitUntil: after } : {}

const routes: Route = nextHandlers(async (request, platform) => {
  handler ??= services[process.env.ENTRY ?? 'http']!()
  return (await handler)(request, platform)
}, options)

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = routes
