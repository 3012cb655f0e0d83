/** A handler in this process whose agent asks for an approval. */

import { localState } from '../../../src/core/local-state.ts'
import { type ApprovalsOptions, approvals } from '../../../src/features/approvals/plugin.ts'
import {
  Agent,
  createHandler,
  type HandlerOptions,
  type LogEntry,
  type RunRecord,
} from '../../../src/index.ts'
import { memoryStore } from '../../../src/stores/memory.ts'
import type { Store } from '../../../src/stores/store.ts'
import { jsonRequest } from '../../contracts/http/client.ts'
import { identify } from '../../contracts/identify.ts'

const pay = { name: 'pay', needsApproval: true, execute: () => 'paid' }

const pays = new Agent({
  name: 'pays',
  register: false,
  tools: [pay],
  async *run(_, { callTool }) {
    try {
      yield String(yield* callTool('pay', { amount: 5 }))
    } catch (error) {
      yield (error as Error).message
    }
  },
})

interface Answer {
  readonly status: number
  readonly body: RunRecord & { readonly runId: string; readonly code: string; readonly goesOn?: boolean }
}

/** A service, over a store that several may have. */
export function service(
  plugin: ApprovalsOptions | undefined,
  { store = memoryStore(), ...options }: HandlerOptions & { readonly store?: Store } = {},
) {
  const logged: LogEntry[] = []
  const handler = createHandler({
    agents: { pays },
    state: localState({ store, retention: {}, isVolatile: false }),
    middleware: [identify],
    logger: entry => void logged.push(entry),
    plugins: plugin === undefined ? [] : [approvals(plugin)],
    ...options,
  })
  const ask = async (path: string, who?: string, body?: object): Promise<Answer> => {
    const headers: Record<string, string> = who === undefined ? {} : { 'x-test-user': who }
    const init = body === undefined ? { headers } : jsonRequest(body, headers)
    const response = await handler(new Request(`http://127.0.0.1/api/${path}`, init))
    return { status: response.status, body: (await response.json()) as Answer['body'] }
  }
  return {
    handler,
    store,
    logged,
    ask,
    async waiting(who?: string) {
      const { body } = await ask('agents/pays/run', who, { input: 'x' })
      return { id: body.runId, request: body.requests?.[0]?.id ?? '' }
    },
    decide: ({ id, request }: { id: string; request: string }, who?: string, decision = 'approve') =>
      ask(`runs/${id}/answers`, who, { answers: [{ id: request, decision }] }),
  }
}
