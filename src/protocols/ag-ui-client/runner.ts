/**
 * The runner of CopilotKit's runtime whose threads are in the service.
 *
 * @module
 */

import type { AbstractAgent, BaseEvent, HttpAgent, RunAgentInput } from '@ag-ui/client'
import { ServableAgent } from './agent.ts'
import { type Events, type EventsObserver, eventsOf } from './observable.ts'
import type { AgUiError } from './reading.ts'
import { cancelRun, runsAtWork, type Service, serviceOf } from './service.ts'

/** Options of {@link servableRunner}. */
export interface ServableRunnerOptions {
  /** The agents of the runtime, by their ids. Pages attach to each `ServableAgent`. Other agents run, and their threads are gone after a reload. */
  readonly agents: Readonly<Record<string, AbstractAgent>>
  /**
   * For `hooks`: the headers by which the service knows who sent a request to stop. Default: its `authorization`. What the agent itself has in
   * `headers` counts more.
   */
  readonly credentials?: ((request: Request) => HeaderRecord | Promise<HeaderRecord>) | undefined
  /** Most threads for which it keeps in whose name they are stopped. Those that were used least recently are dropped. Default: 1000. */
  readonly maxThreads?: number | undefined
}

type HeaderRecord = Record<string, string>

/** A runner for `new CopilotRuntime({ agents, runner })`: an `AgentRunner` of `@copilotkit/runtime` 1.75. */
export interface ServableRunner {
  /** Runs the agent. If the thread is busy, the service decides: the run waits, or steers the one at work. A page that leaves leaves its run. */
  run(asked: {
    readonly threadId: string
    readonly agent: AbstractAgent
    readonly input: RunAgentInput
  }): Events
  /** The thread until now, and the run at work, with the headers of the page. Completes at once for an unknown thread. */
  connect(asked: {
    readonly threadId: string
    readonly agentId?: string | undefined
    readonly headers?: HeaderRecord | undefined
  }): Events
  /** Whether a run of the thread is at work, wherever it was begun. False for a thread that nobody ran or attached to through this runner. */
  isRunning(asked: { readonly threadId: string }): Promise<boolean>
  /**
   * Stops what is at work in the thread, wherever it was begun, or the run of the page with that id. It asks in the name of whoever ran the
   * thread or attached to it last through this runner. Returns whether there was something to stop. Rejects with an `AgUiError`.
   */
  stop(asked: { readonly threadId: string; readonly runId?: string | undefined }): Promise<boolean>
  /**
   * For `createCopilotRuntimeHandler({ runtime, hooks })`. With them a request to stop is answered in the name of whoever sent it, by any process of the
   * runtime. The runtime itself does not tell a runner who sent it.
   */
  readonly hooks: {
    onBeforeHandler(asked: CopilotRequest): Promise<void>
  }
}

/** A request to the runtime, and where it leads. */
export interface CopilotRequest {
  readonly request: Request
  readonly route: { readonly method: string; readonly agentId?: string; readonly threadId?: string }
}

/** A run that a page asked for. */
interface KnownRun {
  /** In whose name it is stopped, while it is read. */
  service?: Service | undefined
  /** Its id in the service, once that has answered. */
  id?: string
  /** Ends the reading of it, while it is read. */
  leave?: (() => void) | undefined
}

interface KnownThread {
  /** In whose name it is stopped. */
  service?: Service | undefined
  /** The newest runs, by the ids that their pages gave them. */
  readonly runs: Map<string, KnownRun>
}

/** More than may wait for one session. */
const MAX_RUNS = 16
/** Most characters of an id. The service refuses longer ones. */
const MAX_ID = 500

/**
 * Makes a runner. What was said, the runs, and what waits for a person are in the service alone. So a page may reload, and the runtime may restart or be
 * several processes.
 *
 * @example
 * const runner = servableRunner({ agents })
 * const runtime = new CopilotRuntime({ agents, runner })
 * const handler = createCopilotRuntimeHandler({ runtime, hooks: runner.hooks, basePath: '/api/copilotkit' })
 */
export function servableRunner(options: ServableRunnerOptions): ServableRunner {
  return new Runner(options)
}

class Runner implements ServableRunner {
  readonly #options: ServableRunnerOptions
  readonly #threads = new Map<string, KnownThread>()
  readonly hooks: ServableRunner['hooks'] = { onBeforeHandler: asked => this.#intercept(asked) }

  constructor(options: ServableRunnerOptions) {
    this.#options = options
  }

  run({ threadId, agent, input }: Parameters<ServableRunner['run']>[0]): Events {
    return eventsOf(observer => {
      const leave = () => agent.abortRun()
      const run: KnownRun = { service: serviceOf(agent), leave }
      const thread = this.#thread(threadId)
      keepNewest(thread.runs, MAX_RUNS, input.runId, run)
      if (run.service !== undefined) this.#hear(agent as HttpAgent, thread, run)
      const { tell, end } = telling(observer)
      const onEvent = ({ event }: { readonly event: BaseEvent }) => {
        tell(event)
        // Nobody reads what the agent itself would make of it.
        return { stopPropagation: true }
      }
      // With the middleware of the runtime, which `agent.run` leaves out.
      agent
        .runAgent(input, { onEvent })
        .then(() => end(), end)
        .finally(() => {
          run.leave = undefined
          run.service = undefined
        })
      return leave
    })
  }

  connect({ threadId, agentId = '', headers = {} }: Parameters<ServableRunner['connect']>[0]): Events {
    return eventsOf(observer => {
      const own = Object.hasOwn(this.#options.agents, agentId) ? this.#options.agents[agentId] : undefined
      const { tell, end } = telling(observer)
      if (!(own instanceof ServableAgent)) {
        end()
        return () => {}
      }
      const agent = own.clone()
      agent.headers = { ...headers }
      const service = serviceOf(agent)
      const input = {
        threadId,
        runId: '',
        messages: [],
        tools: [],
        context: [],
        state: {},
        forwardedProps: {},
      }
      let isKnown = false
      agent.connect(input).subscribe({
        next: event => {
          // Of a thread that is not the caller's there are none.
          if (!isKnown) this.#thread(threadId).service = service
          isKnown = true
          tell(event)
        },
        error: end,
        complete: () => end(),
      })
      return () => agent.abortRun()
    })
  }

  async isRunning({ threadId }: { readonly threadId: string }): Promise<boolean> {
    const thread = this.#threads.get(threadId)
    if (thread === undefined) return false
    if ([...thread.runs.values()].some(({ leave }) => leave !== undefined)) return true
    const ids = thread.service && (await runsAtWork(thread.service, threadId))
    return ids !== undefined && ids.length > 0
  }

  async stop({ threadId, runId }: Parameters<ServableRunner['stop']>[0]): Promise<boolean> {
    const thread = this.#threads.get(threadId)
    if (thread === undefined) return false
    const run = runId === undefined ? [...thread.runs.values()].at(-1) : thread.runs.get(runId)
    const service = runId === undefined ? thread.service : (run ?? thread).service
    return end(service, threadId, run, runId !== undefined)
  }

  /** Answers a request to stop. Throws the answer: that is how the runtime takes it. */
  async #intercept({ request, route }: CopilotRequest): Promise<void> {
    const { method, agentId = '', threadId = '' } = route
    const { agents, credentials = authorizationOf } = this.#options
    const agent = Object.hasOwn(agents, agentId) ? agents[agentId] : undefined
    if (method !== 'agent/stop' || agent === undefined) return
    const own = serviceOf(agent)
    const runId = await runIdIn(request)
    if (own === undefined || runId === null) return
    const given = await credentials(request)
    const headers = new Headers(given)
    for (const [name, value] of Object.entries(own.headers)) headers.set(name, value)
    const service = { ...own, headers: Object.fromEntries(headers) }
    const known = runId === undefined ? undefined : this.#threads.get(threadId)?.runs.get(runId)
    const runOf = new Request(request.url, { headers: known?.service?.headers ?? {} })
    const isOwn = JSON.stringify(await credentials(runOf)) === JSON.stringify(given)
    // The service decides who ends what it keeps. The reading of a run belongs to whoever began it.
    const run = known && { ...known, leave: isOwn ? known.leave : undefined }
    const stopped = await end(service, threadId, run, runId !== undefined).catch(error => {
      const { status = 502 } = error as AgUiError
      throw Response.json({ error: 'Failed to stop agent', message: (error as Error).message }, { status })
    })
    throw Response.json({ stopped, ...(!stopped && { message: `No active run for thread '${threadId}'.` }) })
  }

  /** Learns the id of the run from the answer of the service, and that the caller may run the thread. */
  #hear(agent: HttpAgent, thread: KnownThread, run: KnownRun): void {
    const { fetch } = agent
    agent.fetch = async (...asked) => {
      const response = await fetch(...asked)
      const id = response.headers.get('x-run-id')
      if (response.ok && id !== null) {
        run.id = id
        thread.service = run.service
      }
      return response
    }
  }

  /** What is known of a thread, which is used now. */
  #thread(threadId: string): KnownThread {
    const thread = this.#threads.get(threadId) ?? { runs: new Map() }
    keepNewest(this.#threads, this.#options.maxThreads ?? 1000, threadId, thread)
    return thread
  }
}

/** Ends a run, or all that is at work in the thread. Returns whether there was something to end. */
async function end(
  service: Service | undefined,
  threadId: string,
  run: KnownRun | undefined,
  isExact: boolean,
): Promise<boolean> {
  const known = run?.id === undefined ? [] : [run.id]
  if (service !== undefined) {
    const ids = isExact && run !== undefined ? known : ((await runsAtWork(service, threadId)) ?? known)
    const ended = await Promise.all(ids.map(id => cancelRun(service, id)))
    if (ended.includes(true)) return true
  }
  // A run that is not stored ends with its reader.
  run?.leave?.()
  return run?.leave !== undefined
}

/** Puts an entry last. Those before it that are too many are dropped. */
function keepNewest<T>(map: Map<string, T>, most: number, key: string, value: T): void {
  if (key.length > MAX_ID) return
  map.delete(key)
  map.set(key, value)
  for (const old of map.keys()) {
    if (map.size <= most) return
    map.delete(old)
  }
}

/** Tells a subscriber the events, and a failure as the last one of them. */
function telling(observer: EventsObserver) {
  let isOver = false
  const tell = (event: BaseEvent) => {
    isOver = event.type === 'RUN_FINISHED' || event.type === 'RUN_ERROR'
    observer.next(event)
  }
  return {
    tell,
    end(error?: unknown) {
      if (error !== undefined && !isOver) {
        tell({ type: 'RUN_ERROR', ...reasonOf(error) } as unknown as BaseEvent)
      }
      observer.complete()
    },
  }
}

/** What a page is told of a failure: what the service said, if it refused. */
function reasonOf(error: unknown): { message: string; code: string } {
  const { message = 'The run failed', code = 'agent_failed' } = Object(error)
  try {
    const told = JSON.parse(message)
    return { message: String(told.error ?? message), code: String(told.code ?? code) }
  } catch {
    return { message, code }
  }
}

function authorizationOf({ headers }: Request): HeaderRecord {
  const authorization = headers.get('authorization')
  return authorization === null ? {} : { authorization }
}

/** The id of the run in a request to stop; undefined if it names none, and null if the runtime has to refuse it. */
async function runIdIn(request: Request): Promise<string | null | undefined> {
  try {
    const text = await request.clone().text()
    const body = text.trim() === '' ? {} : JSON.parse(text)
    // Of a runtime with a single route the request is in the body.
    const { runId } = body.method === 'agent/stop' ? (body.body ?? {}) : body
    return runId === undefined || (typeof runId === 'string' && runId !== '') ? runId : null
  } catch {
    return null
  }
}
