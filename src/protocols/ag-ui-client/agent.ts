/**
 * `HttpAgent` that attaches to a thread, and goes on after a cut.
 *
 * @module
 */

import { type BaseEvent, HttpAgent, type HttpAgentConfig, type RunAgentInput } from '@ag-ui/client'
import { type Events, eventsOf } from './observable.ts'
import { readOverCuts } from './reading.ts'

/** Options of {@link ServableAgent}: those of `HttpAgent`, and the following. */
export interface ServableAgentConfig extends HttpAgentConfig {
  /** Most cuts of the connection in a row without a new event. Default: 10. */
  readonly maxRetries?: number | undefined
  /** Milliseconds before the first retry. It doubles, up to 5 seconds. Default: 250. */
  readonly retryMs?: number | undefined
}

/**
 * A client of `agUi()`. `connectAgent()` gives it the thread: its messages, its state, what waits for the user, and the run at work. If the
 * connection is cut, it reads on from where it was. It rejects with `connection_lost`, `refused` or `position_lost`.
 *
 * @example
 * const agent = new ServableAgent({ url, threadId })
 * await agent.connectAgent()
 */
export class ServableAgent extends HttpAgent {
  // `clone()` of the client calls no constructor, so no member can be a `#` one.
  private retries: { readonly maxRetries: number; readonly retryMs: number }

  constructor({ maxRetries = 10, retryMs = 250, ...stock }: ServableAgentConfig) {
    super(stock)
    this.retries = { maxRetries, retryMs }
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
    return this.events(input, version, false, () => this.fetch(this.url, init))
  }

  /** The thread until now, and the run at work. Completes at once for an unknown thread. */
  override connect(input: RunAgentInput): Events {
    const version = (input as { readonly protocolVersion?: string }).protocolVersion
    return this.events(input, version, true)
  }

  override clone(): ServableAgent {
    const copy = super.clone() as ServableAgent
    copy.retries = this.retries
    return copy
  }

  /** What a stock client would read, as one stream without cuts. */
  private events(
    input: RunAgentInput,
    version: string | undefined,
    isAttached: boolean,
    first?: () => Promise<Response>,
  ): Events {
    const { signal } = this.abortController
    const query = new URLSearchParams({ threadId: input.threadId })
    // A runtime that attaches for a page has none.
    if (input.runId !== '') query.set('runId', input.runId)
    if (version !== undefined) query.set('protocolVersion', version)
    const url = `${this.url}${this.url.includes('?') ? '&' : '?'}${query}`
    const ask = (position: string | undefined) => {
      if (position === undefined && first !== undefined) return first()
      const at: Record<string, string> = position === undefined ? {} : { 'last-event-id': position }
      return this.fetch(url, { headers: { ...this.headers, accept: 'text/event-stream', ...at }, signal })
    }
    return eventsOf(observer => {
      let hasLeft = false
      const tell = (event: object) => {
        if (!hasLeft) observer.next(event as BaseEvent)
      }
      readOverCuts({ ask, tell, signal, isAttached, ...this.retries }).then(
        () => observer.complete(),
        error => observer.error(error),
      )
      return () => {
        hasLeft = true
      }
    })
  }
}
