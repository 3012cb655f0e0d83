import type { Kind, RunInput } from '../agents/contract.ts'
import { discard } from './body.ts'
import { ServableClientError } from './error.ts'
import type { FollowedOptions, HeaderFields, PlainOptions } from './options.ts'
import { linkSignal, orAbort } from './signal.ts'
import type { Transport } from './transport.ts'
import { createTries, repeat } from './tries.ts'

/** What runs. */
export interface RunTarget {
  readonly kind: Kind
  readonly name: string
}

/** How a run is started. */
export type RunStart = FollowedOptions | PlainOptions

/** Asks for the run's record at once (RFC 7240). */
export const RESPOND_ASYNC: HeaderFields = { prefer: 'respond-async' }

/** Milliseconds for which the service is told of a cancel, if it cannot be reached at once. */
const CANCEL_MS = 10_000

/**
 * One run as its client sees it. However often a followed run is asked for, it is one: each request has the same key and the
 * same body, and the headers of the first one.
 */
export class RunCall {
  /** Once the service has answered. */
  runId: string | undefined
  readonly isFollowed: boolean
  readonly #transport: Transport
  readonly #options: RunStart
  readonly #path: string
  readonly #body: object
  readonly #key: HeaderFields
  #fields: Promise<Headers> | undefined
  #isSent = false
  #cancelling: Promise<void> | undefined

  constructor(transport: Transport, { kind, name }: RunTarget, input: RunInput, options: RunStart) {
    const { sessionId, userId } = options
    this.isFollowed = options.follow !== false
    this.#transport = transport
    this.#options = options
    this.#path = `/${kind}s/${encodeURIComponent(name)}`
    this.#body = { input, sessionId, userId, ...(this.isFollowed && { background: true }) }
    this.#key = options.follow === false ? {} : { 'idempotency-key': options.idempotencyKey ?? newKey() }
  }

  /** Asks for the run, or for the one that there is. */
  async post(verb: 'run' | 'stream', signal: AbortSignal, headers: HeaderFields = {}): Promise<Response> {
    this.#fields ??= this.#transport.fields(this.#options)
    const fields = await orAbort(this.#fields, signal)
    signal.throwIfAborted()
    this.#isSent = true
    const path = `${this.#path}/${verb}`
    const outgoing = {
      method: 'POST',
      path,
      body: this.#body,
      headers: { ...this.#key, ...headers },
      fields,
    } as const
    const response = await this.#transport.send(outgoing, signal)
    this.runId = response.headers.get('x-run-id') ?? undefined
    if (this.runId !== undefined) return response
    discard(response)
    throw new ServableClientError(
      'invalid_response',
      'The answer has no `x-run-id` header: is `baseUrl` right, and does a proxy or CORS let the header through?',
      { status: response.status },
    )
  }

  /** Cancels the run on the service, once. A plain run ends with its connection. Never rejects. */
  cancel(): Promise<void> {
    this.#cancelling ??= this.isFollowed && this.#isSent ? this.#cancel().catch(() => {}) : Promise.resolve()
    return this.#cancelling
  }

  async #cancel(): Promise<void> {
    const transport = this.#transport
    const { signal, unlink } = linkSignal({ timeoutMs: CANCEL_MS })
    try {
      await repeat(createTries(transport.settings, signal), async () => {
        // Where the first answer was lost, asking once more tells which run it is.
        if (this.runId === undefined) discard(await this.post('run', signal, RESPOND_ASYNC))
        const { signal: _, timeoutMs: __, ...options } = this.#options
        const path = `/runs/${this.runId}/cancel`
        discard(await transport.send({ method: 'POST', path, options }, signal))
      })
    } finally {
      unlink()
    }
  }
}

/** 122 random bits or more; `crypto.randomUUID` is not there on pages without HTTPS. */
function newKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), byte =>
    byte.toString(16).padStart(2, '0'),
  ).join('')
}
