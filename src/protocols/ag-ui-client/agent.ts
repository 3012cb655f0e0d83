/**
 * `HttpAgent` that attaches to a thread, and goes on after a cut.
 *
 * @module
 */

import {
  type BaseEvent,
  HttpAgent,
  type HttpAgentConfig,
  type RunAgentInput,
  runHttpRequest,
} from '@ag-ui/client'
import { AgUiError, readOverCuts } from './reading.ts'

/** Options of {@link ServableAgent}: those of `HttpAgent`, and the following. */
export interface ServableAgentConfig extends HttpAgentConfig {
  /** Most cuts of the connection in a row without a new event. Default: 10. */
  readonly maxRetries?: number | undefined
  /** Milliseconds before the first retry. It doubles, up to 5 seconds. Default: 250. */
  readonly retryMs?: number | undefined
}

type Events = ReturnType<HttpAgent['run']>

/**
 * A client of `agUi()`. `connectAgent()` gives it the thread: its messages, its state, what waits for the user, and the run at work. If the
 * connection is cut, it reads on from where it was. It rejects with `connection_lost`, `refused` or `position_lost`.
 *
 * @example
 * const agent = new ServableAgent({ url, threadId })
 * await agent.connectAgent()
 */
export class ServableAgent extends HttpAgent {
  readonly #config: ServableAgentConfig

  constructor(config: ServableAgentConfig) {
    const { maxRetries: _, retryMs: __, ...stock } = config
    super(stock)
    this.#config = config
  }

  override connectAgent(
    ...asked: Parameters<HttpAgent['connectAgent']>
  ): ReturnType<HttpAgent['connectAgent']> {
    this.abortController = new AbortController()
    // Else the client refuses to begin. The stream tells those that are still open.
    const { pendingInterrupts } = this
    this.pendingInterrupts = []
    return super.connectAgent(...asked).catch(error => {
      this.pendingInterrupts = pendingInterrupts
      throw error
    })
  }

  override run(input: RunAgentInput): Events {
    const init = this.requestInit(input)
    const version = (input as { readonly protocolVersion?: string }).protocolVersion
    return this.#events(input, version, false, () => this.fetch(this.url, init))
  }

  /** The thread until now, and the run at work. Completes at once for an unknown thread. */
  override connect(input: RunAgentInput): Events {
    const version = (input as { readonly protocolVersion?: string }).protocolVersion
    return this.#events(input, version, true)
  }

  override clone(): ServableAgent {
    const copy = super.clone() as HttpAgent
    const { maxRetries, retryMs } = this.#config
    const agent = new ServableAgent({
      ...this.#config,
      url: this.url,
      headers: { ...this.headers },
      maxRetries,
      retryMs,
    })
    return Object.assign(agent, {
      agentId: copy.agentId,
      threadId: copy.threadId,
      messages: copy.messages,
      state: copy.state,
      pendingInterrupts: copy.pendingInterrupts,
      subscribers: copy.subscribers,
      fetch: this.fetch,
    })
  }

  /** What a stock client would read, as one stream without cuts. */
  #events(
    input: RunAgentInput,
    version: string | undefined,
    isAttached: boolean,
    first?: () => Promise<Response>,
  ): Events {
    const { signal } = this.abortController
    const { maxRetries = 10, retryMs = 250 } = this.#config
    const query = new URLSearchParams({ threadId: input.threadId, runId: input.runId })
    if (version !== undefined) query.set('protocolVersion', version)
    const url = `${this.url}${this.url.includes('?') ? '&' : '?'}${query}`
    const ask = (position: string | undefined) => {
      if (position === undefined && first !== undefined) return first()
      const at: Record<string, string> = position === undefined ? {} : { 'last-event-id': position }
      return this.fetch(url, { headers: { ...this.headers, accept: 'text/event-stream', ...at }, signal })
    }
    // The user's own copy of the observables is reached through the user's own copy of the client.
    const source = runHttpRequest(() => Promise.reject(new AgUiError('connection_lost', 'Not begun')))
    const Observable = source.constructor as new (begin: (to: EventsObserver) => () => void) => unknown
    return new Observable(observer => {
      let hasLeft = false
      const tell = (event: object) => {
        if (!hasLeft) observer.next(event as BaseEvent)
      }
      readOverCuts({ ask, tell, signal, isAttached, maxRetries, retryMs }).then(
        () => observer.complete(),
        error => observer.error(error),
      )
      return () => {
        hasLeft = true
      }
    }) as Events
  }
}

interface EventsObserver {
  next(event: BaseEvent): void
  error(error: unknown): void
  complete(): void
}
