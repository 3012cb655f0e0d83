/** A service in this process whose agent calls a model as often as its input says, for a cent and 1,000 tokens each. */

import { localState } from '../../../src/core/local-state.ts'
import {
  type BudgetOptions,
  type BudgetState,
  type BudgetsOptions,
  budgets,
} from '../../../src/features/budgets/plugin.ts'
import { Agent, createHandler, type HandlerOptions, type LogEntry, textOf } from '../../../src/index.ts'
import { memoryStore } from '../../../src/stores/memory.ts'
import type { Store } from '../../../src/stores/store.ts'
import { jsonRequest } from '../../contracts/http/client.ts'
import { identify } from '../../contracts/identify.ts'

export const MODEL = { provider: 'acme', id: 'large' }

/** A cent for 1,000 tokens. */
export const PRICING = { 'acme/large': { prompt: 10, completion: 10 } }

export const USAGE = { promptTokens: 600, completionTokens: 400, totalTokens: 1000 }

/** Milliseconds of a window that does not end while its tests run. */
export const LONG_MS = 365 * 86_400_000

/** What the agent has done so far. */
export interface Seen {
  calls: number
  signals: AbortSignal[]
}

/** Calls a model so many times, and tells of each call. */
export function callerOf(seen: Seen, config: { readonly maxOutputTokens?: number } = {}): Agent {
  return new Agent({
    name: 'calls',
    register: false,
    model: MODEL,
    ...config,
    async *run(input, { signal }) {
      if (signal) seen.signals.push(signal)
      const [count, how] = textOf(input).split(' ')
      const times = Number(count) || 1
      if (how === 'hang') await new Promise(resolve => signal?.addEventListener('abort', resolve))
      for (let call = 1; call <= times; call++) {
        seen.calls++
        const finishReason = call === times ? 'stop' : 'tool_calls'
        yield { type: 'model_call', model: 'acme/large', usage: USAGE, finishReason } as const
        yield `call ${call} `
      }
      const usage = { promptTokens: 600 * times, completionTokens: 400 * times, totalTokens: 1000 * times }
      return { usage }
    },
  })
}

interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly body: Record<string, unknown> & { readonly code?: string; readonly budgets?: BudgetState[] }
}

/** Makes the service, over a store that several may have. */
export function service(
  given: BudgetOptions | readonly BudgetOptions[],
  {
    store = memoryStore(),
    access,
    seen = { calls: 0, signals: [] },
    ...options
  }: HandlerOptions & {
    readonly store?: Store
    readonly access?: BudgetsOptions
    readonly seen?: Seen
  } = {},
) {
  const logged: LogEntry[] = []
  const handler = createHandler({
    agents: { calls: callerOf(seen) },
    registry: false,
    pricing: PRICING,
    state: localState({ store, retention: {}, isVolatile: false }),
    runs: { store: 'asked' },
    middleware: [identify],
    logger: entry => void logged.push(entry),
    ...options,
    plugins: [budgets(given, access), ...(options.plugins ?? [])],
  })
  const send = (path: string, who?: string, body?: object, more: Record<string, string> = {}) => {
    const headers: Record<string, string> = { ...(who !== undefined && { 'x-test-user': who }), ...more }
    const init = body === undefined ? { headers } : jsonRequest(body, headers)
    return handler(new Request(`http://127.0.0.1/api/${path}`, init))
  }
  const ask = async (...asked: Parameters<typeof send>): Promise<Answer> => {
    const response = await send(...asked)
    const text = await response.text()
    const isJson = response.headers.get('content-type')?.includes('json')
    return {
      status: response.status,
      headers: response.headers,
      body: isJson ? (JSON.parse(text) as Answer['body']) : { text },
    }
  }
  return {
    ...{ handler, store, logged, seen, send, ask },
    run: (times: number, who?: string, more: object = {}, headers?: Record<string, string>) =>
      ask('agents/calls/run', who, { input: String(times), ...more }, headers),
    /** Where the only budget of the caller stands. */
    async standing(who?: string, query = ''): Promise<BudgetState> {
      const { body } = await ask(`budgets${query}`, who)
      const [state] = body.budgets ?? []
      if (state === undefined) throw new Error(`There is no budget: ${JSON.stringify(body)}`)
      return state
    },
  }
}
