import type { RequestState } from '../context.ts'
import type { Identity } from '../platform.ts'
import { acceptsEvents } from '../runs/run-request.ts'
import type { Asker } from '../runs/start-run.ts'
import type { KeyReader } from './key-headers.ts'

/** The caller of a request. */
export class RequestAsker implements Asker {
  readonly #request: Request
  readonly #state: RequestState
  readonly #readKeys: KeyReader

  constructor(request: Request, state: RequestState, readKeys: KeyReader) {
    this.#request = request
    this.#state = state
    this.#readKeys = readKeys
  }

  get owner(): string | null {
    return this.#state.owner
  }

  get identity(): Identity | undefined {
    return this.#state.identity
  }

  get ip(): string | undefined {
    return this.#state.ip
  }

  get requestId(): string {
    return this.#state.requestId
  }

  get traceparent(): string | undefined {
    return this.#state.traceparent
  }

  get transport(): string {
    const { part } = this.#state
    if (part !== 'router' && part !== 'runs') return part
    const { url, headers } = this.#request
    // The routes that start a run have a path per form of the answer. For the routes that continue one, the `accept` header
    // decides.
    const isStream = part === 'router' ? /\/stream(\?|$)/.test(url) : acceptsEvents(headers)
    return isStream ? 'sse' : 'http'
  }

  get isIsolated(): boolean {
    return this.#state.isIsolated
  }

  get signal(): AbortSignal {
    return this.#request.signal
  }

  apiKeys(apiKey: string | undefined): Record<string, string> | undefined {
    return this.#readKeys(this.#request.headers, apiKey)
  }

  credentials(): readonly string[] {
    return ['authorization', 'cookie'].map(name => this.#request.headers.get(name) ?? '')
  }

  readonly secrets = (): readonly string[] => this.#state.secretsOf(this.#request)
}
