/** A service whose runs have titles and can be searched, for users with roles. */
import { expect, onTestFinished } from 'vitest'
import { queue } from '../../../src/features/queue/plugin.ts'
import { sessions } from '../../../src/features/sessions/plugin.ts'
import {
  Agent,
  createHandler,
  type HandlerOptions,
  memoryState,
  type State,
  textOf,
} from '../../../src/index.ts'
import type { RunSummary } from '../../../src/runs/stored/record.ts'
import { sqliteState } from '../../../src/runtimes/sqlite.ts'
import { jsonRequest } from '../../contracts/http/client.ts'

export const STATES: readonly (readonly [name: string, make: () => State])[] = [
  ['memory', memoryState],
  ['SQLite', () => sqliteState({ path: ':memory:' })],
]

/** A run in a list. */
export type Listed = RunSummary & { readonly owner?: string }

/** A page of a list. */
export interface ListedPage {
  readonly runs: readonly Listed[]
  readonly nextCursor: string | null
  readonly count?: number
  readonly countIsCut?: true
}

export function listing(state: State, options: HandlerOptions = {}) {
  const gate = Promise.withResolvers<void>()
  const handler = createHandler({
    registry: false,
    production: true,
    logger: false,
    state,
    agents: {
      says: new Agent({ name: 'says', register: false, run: input => `You said: ${textOf(input)}` }),
      fails: new Agent({
        name: 'fails',
        register: false,
        run() {
          throw new Error('The password is hunter2')
        },
      }),
      waits: new Agent({ name: 'waits', register: false, run: () => gate.promise.then(() => 'at last') }),
    },
    runs: { keepInput: true, maxRunning: 1000, maxRunningPerOwner: 1000 },
    plugins: [sessions(), queue()],
    middleware: [
      (request, context, next) => {
        const [id = '', ...roles] = (request.headers.get('x-test-user') ?? '').split(' ')
        if (id !== '') context.identity = { id, roles }
        return next()
      },
    ],
    ...options,
  })
  onTestFinished(() => gate.resolve())
  const ask = (user: string, path: string, init: RequestInit = {}) =>
    handler(
      new Request(`http://127.0.0.1/api${path}`, {
        ...init,
        headers: { ...init.headers, 'x-test-user': user },
      }),
    )
  const list = async (user: string, query: string): Promise<ListedPage> =>
    (await ask(user, `/runs?${query}`)).json()
  const start = async (user: string, agent: string, input: unknown, more = {}): Promise<Listed> =>
    (
      await ask(user, `/agents/${agent}/run`, jsonRequest({ input, ...more }, { prefer: 'respond-async' }))
    ).json()
  /** Runs to the end. */
  const run = async (user: string, agent: string, input: unknown, more = {}): Promise<Listed> => {
    const { id } = await start(user, agent, input, more)
    let record: Listed | undefined
    await expect
      .poll(async () => {
        record = await (await ask(user, `/runs/${id}`)).json()
        return record?.status
      })
      .toMatch(/completed|failed/)
    return record!
  }
  return { ask, list, start, run, open: gate.resolve, handler }
}
