import process from 'node:process'
import { Agent, createHandler, type Handler, memoryState } from '../../../../../../src/index.ts'
import { nextHandlers, type Route } from '../../../../../../src/runtimes/next.ts'
import { postgresState } from '../../../../../../src/runtimes/postgres.ts'
import { sqliteState } from '../../../../../../src/runtimes/sqlite.ts'

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

const { DATABASE = 'postgres://nobody@127.0.0.1:1/none' } = process.env

/** In PostgreSQL, made at import as well. */
const shared: Handler = createHandler({
  registry: false,
  agents: {
    waits: new Agent({
      name: 'waits',
      register: false,
      async *run(_input, { signal }) {
        yield 'begun'
        await new Promise(resolve => signal.addEventListener('abort', resolve))
      },
    }),
  },
  state: postgresState({ url: DATABASE, listenUrl: DATABASE, max: 4 }),
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
  kept: async () => kept,
  shared: async () => shared,
  client: async () => (await import('../../../../../contracts/client/exercise.ts')).answerExercise,
  async gateway() {
    const { gatewayHandler, gatewayOptions } = await import('../../../../../contracts/gateway/service.ts')
    return gatewayHandler(gatewayOptions(memoryState(), process.env.SETTINGS))
  },
}

let handler: Promise<Handler> | undefined

const routes: Route = nextHandlers(async (request, platform) => {
  handler ??= services[process.env.ENTRY ?? 'http']!()
  return (await handler)(request, platform)
})

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = routes
