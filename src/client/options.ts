/** The options of a client and of its calls. */
import type { ClientTool, HistoryMessage } from '../agents/contract.ts'

/** Headers by name. Undefined ones are not sent. */
export type HeaderFields = Readonly<Record<string, string | undefined>>

/** Headers as `fetch` accepts them. */
export type HeaderSource = HeaderFields | Iterable<readonly [string, string]>

/** Options of a client. */
export interface ClientOptions {
  /**
   * The address of the service with its prefix: `http://127.0.0.1:8787/api`. In a browser it may be relative: `/api`. It must
   * have no query and no password. Redirects are not followed, so that no key reaches another server.
   */
  readonly baseUrl: string
  /**
   * Headers of every request. A function is called for each request, so that it can renew a token. A request that is sent again
   * because its answer was lost keeps its first headers.
   */
  readonly headers?: HeaderSource | (() => HeaderSource | Promise<HeaderSource>)
  /** The key for the agent's model provider, whichever provider that is. Sent as `x-api-key`. */
  readonly apiKey?: string
  /** Keys of model providers, by the header that the service reads: `{ 'x-openai-api-key': '…' }`. */
  readonly keys?: HeaderFields
  /**
   * Sends requests. A handler in the same process works too: `fetch: handler`. To send cookies to another origin use `request
   * => fetch(request, { credentials: 'include' })`. Default: the global `fetch`.
   */
  readonly fetch?: (request: Request) => Promise<Response>
  /** Most tries in a row without progress. 1 means no retry. Default: 6. */
  readonly maxTries?: number
  /**
   * Milliseconds before the second try, reduced at random by up to a half. Each further try waits twice as long, at most 10
   * s, and at least as long as the service's `Retry-After`. Default: 250.
   */
  readonly retryDelayMs?: number
  /** Milliseconds of silence after which a stream counts as lost. The service sends something every 5 s. Default: 30,000. */
  readonly silenceMs?: number
  /** Most characters of an answer, and of one event of a stream. Longer ones are `invalid_response`. Default: 64 Mi. */
  readonly maxLength?: number
}

/** Options of every call. */
export interface CallOptions {
  /** Aborts the call, which then rejects with the signal's reason. If the call waits for a run, the service cancels the run. */
  readonly signal?: AbortSignal | undefined
  /**
   * Milliseconds for the whole call with all its tries. After that the call ends as if aborted, with `timeout`. For a stream
   * the time starts at the first read, and starts again for its `result()`. A value over 2,147,483,647 means no limit.
   * Default: no limit.
   */
  readonly timeoutMs?: number | undefined
  /** Headers in addition to the client's. They replace headers of the same name. */
  readonly headers?: HeaderSource | undefined
  /** Replaces the client's `apiKey`. */
  readonly apiKey?: string | undefined
  /** Keys of model providers by header, in addition to the client's. */
  readonly keys?: HeaderFields | undefined
}

/** Options of calls that start a run. */
export interface RunCallOptions extends CallOptions {
  /** The conversation that the run belongs to. */
  readonly sessionId?: string | undefined
  /**
   * Earlier turns, oldest first. With a `sessionId` it needs `memory: 'client'`. At most 1,000 messages and 1,048,576 characters
   * as JSON.
   */
  readonly history?: readonly HistoryMessage[] | undefined
  /** Tools that the caller runs. At most 128, with 262,144 characters as JSON. */
  readonly clientTools?: readonly ClientTool[] | undefined
  /** `client` gives a run with a `sessionId` only the messages of `history`, and none that the service remembers. */
  readonly memory?: 'client' | undefined
  /**
   * What happens to the message while a run of the session is at work: it waits, or it reaches that run. Then a stream is that run's. Ask
   * for it with `follow: false` to read nothing. Default: as the service says.
   */
  readonly concurrency?: 'queue' | 'steer' | undefined
  /** Your own id of the message. The turn of the session has it. */
  readonly messageId?: string | undefined
  /**
   * Your id of an earlier message of the session. This one takes its place on a branch of its own, which counts from then on. If
   * there is no such message, the run fails with `session_changed`.
   */
  readonly replaces?: string | undefined
  /**
   * The id of a run of the session: the message comes after its turn, on a branch of its own if others do. Default: after the last
   * turn. If there is no such turn, the run fails with `session_changed`.
   */
  readonly branchFrom?: string | undefined
  /** The id of the run whose turn must be the last one. If the session has gone on, the run fails with `session_changed`. */
  readonly ifHead?: string | undefined
  /** The user of the run. If the service knows an identity, that one counts instead. */
  readonly userId?: string | undefined
  /**
   * A key of 1 to 255 characters that identifies the run, so that the same call again finds the same run. Not for plain runs.
   * Default: a new key for each call.
   */
  readonly idempotencyKey?: string | undefined
}

/** Options of a stored run, which survives a lost connection. This is the default. */
export interface FollowedOptions extends RunCallOptions {
  /** `false` makes it a plain run. Default: true. */
  readonly follow?: true | undefined
  /** The address that gets the end of the run, if the service allows that. */
  readonly webhook?: { readonly url: string } | undefined
}

/** Options of a plain run. It ends with its request, and nothing is retried. Every service has plain runs. */
export interface PlainOptions extends Omit<RunCallOptions, 'idempotencyKey'> {
  /** The service stores no record and no log. */
  readonly follow: false
}
