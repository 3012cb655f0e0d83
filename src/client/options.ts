/** What a client is made of, and what each call of it may say. */

/** Headers by name. What is undefined is not sent. */
export type HeaderFields = Readonly<Record<string, string | undefined>>

/** Headers as `fetch` takes them. */
export type HeaderSource = HeaderFields | Iterable<readonly [string, string]>

/** How a client is made. */
export interface ClientOptions {
  /**
   * Where the service is, with its prefix: `http://127.0.0.1:8787/api`. In a browser it may be relative: `/api`. It has no
   * query and no password; redirects are not followed, so that no key goes where it was not meant to.
   */
  readonly baseUrl: string
  /**
   * Headers of every request; a function is asked for each request, so that a token can be renewed. A request that is sent
   * again because its answer was lost has the headers of the first time.
   */
  readonly headers?: HeaderSource | (() => HeaderSource | Promise<HeaderSource>)
  /** The key that goes to whatever model provider is used, as `x-api-key`. */
  readonly apiKey?: string
  /** Keys of model providers by the header that the service reads them from: `{ 'x-openai-api-key': '…' }`. */
  readonly keys?: HeaderFields
  /**
   * Sends requests. Default: the global `fetch`. A handler in the same process does as well: `fetch: handler`; and
   * `fetch: request => fetch(request, { credentials: 'include' })` sends cookies to another origin.
   */
  readonly fetch?: (request: Request) => Promise<Response>
  /** How often something is tried, in a row and without getting on. Default 6; 1 is never again. */
  readonly maxTries?: number
  /**
   * Milliseconds before the second try, less up to a half by chance. Each further one waits twice as long, 10 s at the most,
   * and at least as long as the service's `Retry-After`. Default 250.
   */
  readonly retryDelayMs?: number
  /**
   * Milliseconds of silence after which a stream counts as broken off: the service says something every 5 s. Default 30,000.
   */
  readonly silenceMs?: number
  /** Most characters of an answer, and of one event of a stream; longer ones are `invalid_response`. Default 64 Mi. */
  readonly maxLength?: number
}

/** What every call may say. */
export interface CallOptions {
  /** Ends the call, which rejects with the signal's reason. A run that it waits for is cancelled on the service. */
  readonly signal?: AbortSignal | undefined
  /**
   * Milliseconds for the whole call, all its tries together; then it ends as if aborted, with `timeout`. Of a stream they
   * count from the first read, and for its `result()` anew. Default: none; neither is there one over 2,147,483,647.
   */
  readonly timeoutMs?: number | undefined
  /** Headers beside the client's; they win over those of the same name. */
  readonly headers?: HeaderSource | undefined
  /** Instead of the client's `apiKey`. */
  readonly apiKey?: string | undefined
  /** Keys of model providers beside the client's, by header. */
  readonly keys?: HeaderFields | undefined
}

/** What starting a run may say. */
export interface RunCallOptions extends CallOptions {
  /** The conversation that the run belongs to. */
  readonly sessionId?: string | undefined
  /** Who asks; an identity that the service knows stands for it. */
  readonly userId?: string | undefined
  /**
   * Names the run, so that saying the same again finds the same run: 1 to 255 characters. Default: one is made for each
   * call. Not for plain runs.
   */
  readonly idempotencyKey?: string | undefined
}

/** A run that the service keeps, so that a lost connection loses nothing: the default. */
export interface FollowedOptions extends RunCallOptions {
  /** `false` is a plain run. Default true. */
  readonly follow?: true | undefined
}

/** A run that lives and dies with its one request: nothing is tried again. Every service has these. */
export interface PlainOptions extends Omit<RunCallOptions, 'idempotencyKey'> {
  /** No record and no log are kept. */
  readonly follow: false
}
