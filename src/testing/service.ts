/// <reference lib="esnext.disposable" preserve="true" />
/**
 * A service in a test: its handler, its clients, its clock and its crashes, without a server.
 *
 * @module
 */

import type { Kind, RunInput, Servable } from '../agents/contract.ts'
import { Registry } from '../agents/registry.ts'
import type { Nothing, Served, StructuredOf } from '../agents/served.ts'
import { ServableError } from '../base/errors.ts'
import {
  type Client,
  type ClientOptions,
  createClient,
  type FollowedOptions,
  type ResultOf,
  type ServableClient,
} from '../client/index.ts'
import type { NamedOptions, ServedBy } from '../core/handler.ts'
import { type LocalState, localState } from '../core/local-state.ts'
import { createHandler } from '../handler.ts'
import type { LogEntry } from '../http/log.ts'
import type { HandlerOptions } from '../options.ts'
import { memoryStore } from '../stores/memory.ts'
import { type TestClock, takeClock } from './clock.ts'
import { TestProcess } from './crash.ts'
import { type RunParts, startTestRun, type TestRun, testRun } from './run.ts'

/** An agent, a team or a workflow in a test. */
export interface TestServable<Result> extends Pick<ServableClient<Result>, 'run' | 'stream'> {
  /** Starts a stored run in the background, which outlives `restart`. */
  start(input: RunInput, options?: FollowedOptions): Promise<TestRun>
}

/** How a caller calls: the headers and keys of a client. */
export type CallerOptions = Pick<ClientOptions, 'headers' | 'apiKey' | 'keys'>

/** What one caller can call. */
export interface TestCaller<Names extends Served = Served> {
  /** The client of `servable/client`, without a server. */
  readonly client: Client<Names>
  /** An agent by name. */
  agent<Name extends keyof Names['agents'] & string>(
    name: Name,
  ): TestServable<ResultOf<StructuredOf<Names['agents'][Name]>>>
  /** A team by name. */
  team<Name extends keyof Names['teams'] & string>(
    name: Name,
  ): TestServable<ResultOf<StructuredOf<Names['teams'][Name]>>>
  /** A workflow by name. */
  workflow<Name extends keyof Names['workflows'] & string>(
    name: Name,
  ): TestServable<ResultOf<StructuredOf<Names['workflows'][Name]>>>
  /** A stored run by its id, such as one that a schedule has started. */
  runOf(id: string): TestRun
}

/** A service in a test. */
export interface TestService<Names extends Served = Served> extends TestCaller<Names>, AsyncDisposable {
  /** The log of all its processes: the newest 1,000 entries, oldest first. */
  readonly log: readonly LogEntry[]
  /** Another caller of the same service: `service.as({ headers: { authorization: 'Bearer bob' } })`. */
  as(caller: CallerOptions): TestCaller<Names>
  /** Answers any request, such as one of a protocol. A path such as `/api/health` will do. Rejects while it is killed. */
  fetch(request: Request | string, init?: RequestInit): Promise<Response>
  /**
   * Sets the clock of this process forward: of `Date`, `performance.now`, `setTimeout` and `setInterval`. Timers fire at their
   * time, one after another. Then schedules have started their runs, and approvals, keys and runs have expired. Rejects with
   * `invalid_options` for anything but a number of 0 or more.
   */
  advance(ms: number): Promise<void>
  /** Kills the process as a crash does. Requests are refused until `restart`. */
  kill(): void
  /** Kills the process if it lives, and starts another one on the same state, which goes on with the runs that can go on. */
  restart(): Promise<void>
  /** Ends the service as a server that is told to end, and gives the clock back. `await using` does it. */
  stop(): Promise<void>
}

/** How a test calls and waits. */
export interface TestSettings extends CallerOptions {
  /** Most milliseconds of real time that a test run waits for a request or an end. Default: 10,000. */
  readonly timeoutMs?: number
}

/** The options of the handler, or a function that makes them for each process: its plugins are new, too. */
export type TestOptions<Options> = Options | (() => Options)

/** Where the client believes the service to be. */
const ORIGIN = 'http://localhost'

/** Most entries of the log that a test keeps. */
const MAX_LOG = 1000

/** Milliseconds before the client tries again: nobody else is on the way. */
const RETRY_MS = 5

/**
 * Serves agents in a test, without a server and without a port. The options are those of `createHandler`, with other defaults:
 * the registry is empty, the state is in memory and outlives `restart`, errors are not masked, and the log is `service.log`. A
 * `state` must be one of a store: `memoryState`, `sqliteState` or `postgresState`. Throws `invalid_options`.
 *
 * @example
 * await using service = await testService({ serve: [cashier] })
 * const { text } = await service.agent('cashier').run('Refund order 7')
 */
export async function testService<
  const Agents extends HandlerOptions['agents'] = Nothing,
  const Teams extends HandlerOptions['teams'] = Nothing,
  const Workflows extends HandlerOptions['workflows'] = Nothing,
  const List extends readonly Servable[] = readonly [],
>(
  options: TestOptions<HandlerOptions & NamedOptions<Agents, Teams, Workflows, List>>,
  settings: TestSettings = {},
): Promise<TestService<ServedBy<Agents, Teams, Workflows, List>>> {
  const clock = takeClock()
  try {
    const service = new Service(options, settings, clock)
    await service.restart()
    return service as unknown as TestService<ServedBy<Agents, Teams, Workflows, List>>
  } catch (error) {
    clock.release()
    throw error
  }
}

class Service implements TestService {
  readonly client: Client
  readonly agent: TestCaller['agent']
  readonly team: TestCaller['team']
  readonly workflow: TestCaller['workflow']
  readonly runOf: TestCaller['runOf']
  readonly log: LogEntry[] = []
  readonly #options: TestOptions<HandlerOptions>
  readonly #timeoutMs: number
  readonly #clock: TestClock
  readonly #state: LocalState
  readonly #prefix: string
  /** All processes, oldest first. */
  readonly #processes: TestProcess[] = []
  readonly #registry = new Registry()

  constructor(
    options: TestOptions<HandlerOptions>,
    { timeoutMs = 10_000, ...caller }: TestSettings,
    clock: TestClock,
  ) {
    this.#options = options
    this.#timeoutMs = timeoutMs
    this.#clock = clock
    const { prefix = '/api', state } = this.#made()
    this.#prefix = prefix
    this.#state = stateOf(state)
    const { client, agent, team, workflow, runOf } = this.as(caller)
    this.client = client
    this.agent = agent
    this.team = team
    this.workflow = workflow
    this.runOf = runOf
  }

  as(caller: CallerOptions): TestCaller {
    const client = createClient({
      retryDelayMs: RETRY_MS,
      ...caller,
      baseUrl: new URL(this.#prefix, ORIGIN).href,
      fetch: request => this.fetch(request),
    })
    const parts: RunParts = { client, timeoutMs: this.#timeoutMs, after: this.#clock.after }
    const servable = (kind: Kind) => (name: string) => ({
      ...client[kind](name),
      start: (input: RunInput, options?: FollowedOptions) =>
        startTestRun(parts, { kind, name }, input, options),
    })
    return {
      client,
      agent: servable('agent'),
      team: servable('team'),
      workflow: servable('workflow'),
      runOf: id => testRun(parts, id),
    }
  }

  async fetch(request: Request | string, init?: RequestInit): Promise<Response> {
    const asked = typeof request === 'string' ? new Request(new URL(request, ORIGIN), init) : request
    return this.#living.fetch(asked)
  }

  async advance(ms: number): Promise<void> {
    await this.#clock.advance(ms)
    await this.#living.lookAfter()
  }

  kill(): void {
    this.#processes.at(-1)?.kill()
  }

  async restart(): Promise<void> {
    this.kill()
    const living = new TestProcess(this.#state, (state, plugin) => {
      const { plugins = [], logger, ...options } = this.#made()
      return createHandler({
        registry: this.#registry,
        production: false,
        ...options,
        state,
        plugins: [plugin, ...plugins],
        logger: entry => {
          this.log.push(entry)
          if (this.log.length > MAX_LOG) this.log.shift()
          if (logger !== false) logger?.(entry)
        },
      })
    })
    this.#processes.push(living)
    await living.begin()
    // What begins with a process has begun.
    await this.#clock.advance(0)
  }

  async stop(): Promise<void> {
    try {
      for (const dead of this.#processes.splice(0, this.#processes.length - 1)) await dead.stop()
      await this.#living.stop()
    } finally {
      this.#state.store.close()
      this.#clock.release()
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop()
  }

  get #living(): TestProcess {
    return this.#processes.at(-1)!
  }

  #made(): HandlerOptions {
    return typeof this.#options === 'function' ? this.#options() : this.#options
  }
}

/** The state that outlives processes. */
function stateOf(state: HandlerOptions['state']): LocalState {
  if (state === undefined) return localState({ store: memoryStore(), retention: {}, isVolatile: false })
  if (state.kind === 'local') return { ...state, isVolatile: false }
  throw new ServableError(
    'invalid_options',
    '`testService` needs a `state` of a store: leave it out, or use `memoryState`, `sqliteState` or `postgresState`',
  )
}
