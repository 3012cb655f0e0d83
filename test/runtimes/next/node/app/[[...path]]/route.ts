import process from 'node:process'
// @ts-expect-error: Next is installed where this is built.
import { after } from 'next/server'
import { Agent, createHandler, type Handler, memoryState, type State } from '../../../../../../src/index.ts'
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

/** The services of the contracts, whose names must be written out. */
const contracts: Readonly<
  Record<string, () => Promise<{ handlerOn(state: State, settings?: string): Handler }>>
> = {
  runs: () => import('../../../../../contracts/runs/service.ts'),
  a2a: () => import('../../../../../contracts/a2a/service.ts'),
  metrics: () => import('../../../../../contracts/metrics/service.ts'),
  'ag-ui': () => import('../../../../../contracts/ag-ui/service.ts'),
  ai: () => import('../../../../../contracts/ai/service.ts'),
  'ai-sdk-ui': () => import('../../../../../contracts/ai-sdk-ui/service.ts'),
  'mcp-clients': () => import('../../../../../contracts/mcp-clients/service.ts'),
  mcp: () => import('../../../../../contracts/mcp/service.ts'),
  keys: () => import('../../../../../contracts/keys/service.ts'),
  budgets: () => import('../../../../../contracts/budgets/service.ts'),
  guards: () => import('../../../../../contracts/guards/service.ts'),
  webhooks: () => import('../../../../../contracts/webhooks/service.ts'),
  queue: () => import('../../../../../contracts/queue/service.ts'),
  otel: () => import('../../../../../contracts/otel/service.ts'),
  sessions: () => import('../../../../../contracts/sessions/service.ts'),
  approvals: () => import('../../../../../contracts/approvals/service.ts'),
  files: () => import('../../../../../contracts/files/service.ts'),
  openai: () => import('../../../../../contracts/openai/service.ts'),
  'langgraph-api': () => import('../../../../../contracts/langgraph-api/service.ts'),
  anthropic: () => import('../../../../../contracts/anthropic/service.ts'),
  'a2a-client': () => import('../../../../../contracts/a2a-client/service.ts'),
  gateway: () => import('../../../../../contracts/gateway/service.ts'),
}

const others: Readonly<Record<string, () => Promise<Handler>>> = {
  http: async () => (await import('../../../../../contracts/fixture.ts')).handler,
  async admin() {
    const { handlerOn } = await import('../../../../../contracts/admin/service.ts')
    const { stdio } = await import('../../../../../../src/runtimes/stdio.ts')
    return handlerOn(memoryState(), undefined, {}, stdio)
  },
  async console() {
    return (await import('../../../../../contracts/console/service.ts')).handlerOn(memoryState(), 'known')
  },
  kept: async () => kept,
  functions: async () => functions,
  client: async () => (await import('../../../../../contracts/client/exercise.ts')).answerExercise,
}

/** The service in ENTRY, in memory, with the settings in SETTINGS. Only this one is loaded. */
async function load(): Promise<Handler> {
  const { ENTRY = 'http', SETTINGS } = process.env
  const contract = await contracts[ENTRY]?.()
  return contract?.handlerOn(memoryState(), SETTINGS) ?? others[ENTRY]!()
}

let handler: Promise<Handler> | undefined

/** Only functions need it: a server of the others stays alive. */
const options = process.env.ENTRY === 'functions' ? { waitUntil: after } : {}

const routes: Route = nextHandlers(async (request, platform) => {
  handler ??= load()
  return (await handler)(request, platform)
}, options)

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = routes
