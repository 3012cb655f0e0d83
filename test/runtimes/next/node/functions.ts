/** The service of functions that share a database and nothing else. It is made at import, as in apps. `next build` imports it too. */
import process from 'node:process'
import { budgets } from '../../../../src/features/budgets/plugin.ts'
import { callerKeys, keysAuth } from '../../../../src/features/keys/plugin.ts'
import { queue } from '../../../../src/features/queue/plugin.ts'
import { sessions } from '../../../../src/features/sessions/plugin.ts'
import { webhooks } from '../../../../src/features/webhooks/plugin.ts'
import {
  Agent,
  bearerIdentity,
  createHandler,
  type Handler,
  type Middleware,
  textOf,
  Workflow,
} from '../../../../src/index.ts'
import { postgresState } from '../../../../src/runtimes/postgres.ts'
import { sleep } from '../../../contracts/fixture/record.ts'
import { identify } from '../../../contracts/identify.ts'
import { ADMIN } from '../../../contracts/keys/service.ts'
import { MAX_CONNECTIONS, MAX_RUNNING, MAX_TOKENS } from './limits.ts'

const { DATABASE = 'postgres://nobody@127.0.0.1:1/none' } = process.env

const aborted = (signal: AbortSignal) =>
  new Promise<void>(resolve => signal.addEventListener('abort', () => resolve()))

const says = new Agent({
  name: 'says',
  register: false,
  run: (input, { identity }) => `${textOf(input)} by ${identity}`,
})

/** Gives as many texts as its input says, with time between them. */
const counts = new Agent({
  name: 'counts',
  register: false,
  async *run(input) {
    for (let index = 1; index <= Number(textOf(input)); index++) {
      yield `${index} `
      await sleep(5)
    }
  },
})

const waits = new Agent({
  name: 'waits',
  register: false,
  async *run(_, { signal }) {
    yield 'begun'
    await aborted(signal)
  },
})

/** Ends a while after its process has been told to end. */
const outlives = new Agent({
  name: 'outlives',
  register: false,
  async *run() {
    const told = new Promise<void>(resolve => process.once('SIGTERM', () => resolve()))
    yield 'begun '
    await told
    await sleep(50)
    yield 'done'
  },
})

const asks = new Agent({
  name: 'asks',
  register: false,
  async *run(_, { ask }) {
    yield `it is ${yield* ask('size', { message: 'Which size?' })}`
  },
})

/** Repeats what was said before. */
const remembers = new Agent({
  name: 'remembers',
  register: false,
  async run(input, { memory }) {
    const session = memory?.session()
    const before = await session?.read()
    await session?.append([textOf(input)])
    return String(before)
  },
})

/** Uses half of its owner's budget. */
const spends = new Agent({
  name: 'spends',
  register: false,
  run: () => ({
    text: 'spent',
    usage: { promptTokens: MAX_TOKENS / 2, completionTokens: 0, totalTokens: MAX_TOKENS / 2 },
  }),
})

/** Waits in the process in which it begins, and ends in another one. */
const moves = new Workflow({
  name: 'moves',
  register: false,
  async *run(_, { step, signal }) {
    const first = yield* step('begin', () => process.pid)
    yield 'begun '
    if (first === process.pid) await aborted(signal)
    yield 'moved'
  },
})

const keys = callerKeys({ authenticate: bearerIdentity({ tokens: { [ADMIN]: 'root' } }), cacheMs: 100 })
const withKey = keysAuth(keys)

/** By a key where there is one, else by the header of tests. */
const authenticate: Middleware = (request, context, next) =>
  (request.headers.has('authorization') ? withKey : identify)(request, context, next)

export const handler: Handler = createHandler({
  production: true,
  registry: false,
  agents: { says, counts, waits, outlives, asks, remembers, spends },
  workflows: { moves },
  state: postgresState({ url: DATABASE, max: MAX_CONNECTIONS }),
  runs: { maxRunningPerOwner: MAX_RUNNING },
  middleware: [authenticate],
  plugins: [
    keys,
    budgets({ key: 'owner', maxTokens: MAX_TOKENS, windowMs: 365 * 86_400_000 }),
    sessions(),
    queue(),
    webhooks({
      clients: { maxPerOwner: 3 },
      allow: ['127.0.0.1'],
      retryMs: 100,
      maxRetryMs: 500,
      timeoutMs: 2000,
    }),
  ],
})
