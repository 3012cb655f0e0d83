/** A service whose sessions are each in a store of their own, as with Durable Objects, in this process. */
import type { BuiltIn } from '../../../src/core/built-in.ts'
import type { HostedState } from '../../../src/core/hosted.ts'
import { noState } from '../../../src/core/no-state.ts'
import { STORED_RUNS } from '../../../src/core/stored-runs.ts'
import { localCalls, type Transactions } from '../../../src/core/transaction-calls.ts'
import { createHandler, type LogEntry, memoryState } from '../../../src/index.ts'
import { SESSIONS_IN_STATE } from '../../../src/runs/sessions/session-storage.ts'
import type { Store } from '../../../src/stores/store.ts'
import { sessionsOptions } from '../../contracts/sessions/service.ts'
import { untyped } from '../../support.ts'

/** The service, the calls of its objects, and what it logs. `fails` says which calls fail, perhaps later. */
export function inObjects(fails: (method: string) => boolean | Promise<boolean> = () => false) {
  const stores = new Map<string, Store>()
  const calls: string[] = []
  const logged: LogEntry[] = []
  const { plugins = [], ...options } = sessionsOptions(memoryState())
  const own = plugins.filter(({ name }) => name === 'sessions')
  const keepers: Readonly<Record<string, Transactions>> = {
    [SESSIONS_IN_STATE.name]: SESSIONS_IN_STATE.transactions as Transactions,
    ...(own[0] as unknown as BuiltIn).transactions,
  }
  const state: HostedState = {
    kind: 'hosted',
    storedRuns: STORED_RUNS,
    listsAll: false,
    createHost: noState().createHost,
    countOf: () => 1,
    sessions: SESSIONS_IN_STATE,
    waitUntil: () => {},
    forward: () => untyped(undefined),
    reach: (_, place, keeper) => {
      const name = JSON.stringify(place)
      const store = stores.get(name) ?? memoryState().store
      stores.set(name, store)
      const works = localCalls(store, keepers[keeper] ?? {}) as Record<
        string,
        (...args: unknown[]) => Promise<unknown>
      >
      return async (method, ...args) => {
        calls.push(method)
        if (await fails(method)) throw new Error('the object is gone')
        return structuredClone(await works[method]?.(place, ...structuredClone(args)))
      }
    },
  }
  const handler = createHandler({
    ...options,
    state: untyped(state),
    plugins: own,
    logger: entry => void logged.push(entry),
  })
  /** All sessions are gone, but not their lists. */
  const lose = () => {
    for (const name of stores.keys()) if (name.includes('"name":"session"')) stores.delete(name)
  }
  return { calls, logged, lose, ...asking(handler) }
}

/** Asks a handler, as ada unless somebody else is named. */
export function asking(handler: (request: Request) => Promise<Response>) {
  const ask = async (
    method: string,
    path: string,
    body?: object,
    user: object = { 'x-test-user': 'ada' },
  ) => {
    const headers = { ...user, 'content-type': 'application/json' }
    const init = { method, headers, body: body === undefined ? null : JSON.stringify(body) }
    const response = await handler(new Request(`http://127.0.0.1/api${path}`, init))
    return { status: response.status, body: await response.json().catch(() => undefined) }
  }
  return {
    ask,
    say: (input: string, sessionId: string) => ask('POST', '/agents/talks/run', { input, sessionId }),
    titles: async () =>
      (await ask('GET', '/sessions')).body.sessions.map(({ title }: { title: string }) => title) as string[],
  }
}
