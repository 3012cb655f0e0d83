/**
 * One connection to a tool server, over the official client. It ends once: by `close`, or when the server is lost.
 *
 * @module
 */

import {
  type AuthProvider,
  Client,
  type InputResponses,
  isInputRequiredResult,
  type JsonSchemaValidator,
  type jsonSchemaValidator,
  ProtocolError,
  SSEClientTransport,
  type StandardSchemaV1,
  type Transport,
} from '@modelcontextprotocol/client'
import { PAGE_TYPE } from '../../agents/app-page.ts'
import type { ServerQuery } from '../../agents/server-reads.ts'
import type { CallRound, ServerCallOptions, ToolAnswers } from '../../agents/tool-servers.ts'
import { messageOf, ServableError } from '../../base/errors.ts'
import { isObject } from '../../base/validation.ts'
import { unless, unrefed } from '../../base/wake.ts'
import { VERSION } from '../../http/version.ts'
import type { AddressPolicy } from '../../web/address.ts'
import { isNoMessage, isSessionLost, isTimeout, resultOf } from './answers.ts'
import type { ServerAccess } from './definition.ts'
import { questionsIn } from './elicitation.ts'
import { guardedFetch } from './fetch.ts'
import { BROKEN_OFF, HttpTransport } from './http-transport.ts'
import { METHOD_NOT_FOUND, pageOf, readFrom } from './reads.ts'
import { collectTools, type Listing, type RemoteTool } from './tool-list.ts'

/** Starts a program and connects to it (MCP, transport `stdio`). */
export type OpenStdio = (program: {
  readonly command: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  /** Most bytes of one message. */
  readonly maxBytes: number
}) => Transport

/** The limits of a connection. */
export interface ConnectionLimits {
  /** Most milliseconds for connecting, including the list of tools. */
  readonly connectTimeoutMs: number
  /** Most milliseconds for a call. */
  readonly callTimeoutMs: number
  /** Most bytes of an answer. */
  readonly maxBytes: number
  readonly maxTools: number
}

/** The options of a connection. */
export interface ConnectionOptions {
  readonly reach: ServerAccess
  readonly policy: AddressPolicy
  readonly limits: ConnectionLimits
  readonly openStdio: OpenStdio | undefined
  /** Gives the tokens of a server with `auth`. */
  readonly tokens?: AuthProvider | undefined
  /** Whether its tools may ask questions. */
  readonly mayAsk?: boolean | undefined
  /** Stops the attempt to connect. */
  readonly signal: AbortSignal
  /** Called if the server is gone or silent. Never called after `close`. */
  readonly onLost: (why: string) => void
}

/** Why the last request failed, if it did. The official client does not pass on everything that a server says. */
interface LastFailure {
  why: string | undefined
}

/** Most requests of a server in a minute. */
const MAX_REQUESTS = 100
const REQUEST_WINDOW_MS = 60_000

/** Milliseconds between two checks of a server that had an error. */
const VERIFY_EVERY_MS = 5000

/** Accepts every answer of a tool. The agent interprets the answer, and a server's schema is not compiled here. */
const TAKES_ALL: jsonSchemaValidator = {
  getValidator:
    <T>(): JsonSchemaValidator<T> =>
    input => ({ valid: true, data: input as T, errorMessage: undefined }),
}

/** Accepts a result as it is. Each of its parts is checked separately, so that an invalid one does not affect the others. */
const ANY_RESULT: StandardSchemaV1<unknown, Record<string, unknown>> = {
  '~standard': {
    version: 1,
    vendor: 'servable',
    validate: value =>
      isObject(value) ? { value } : { issues: [{ message: 'The result must be an object' }] },
  },
}

/** The server does not know the session any more, so it did not execute the call. */
export class SessionLostError extends ServableError {
  constructor() {
    super('tool_server_failed', 'The tool server no longer knows the session')
  }
}

/** An open connection. */
export class ServerConnection {
  readonly #client: Client
  readonly #options: ConnectionOptions
  readonly #last: LastFailure
  #listing: Listing = { tools: new Map(), warnings: [] }
  #state: 'opening' | 'open' | 'over' = 'opening'
  #confirmedAt = Number.NEGATIVE_INFINITY
  #refreshing: Promise<void> | undefined
  #isStale = false
  #requests = { count: 0, since: Number.NEGATIVE_INFINITY }
  #verifying: ReturnType<typeof setTimeout> | undefined

  private constructor(client: Client, options: ConnectionOptions, last: LastFailure) {
    this.#client = client
    this.#options = options
    this.#last = last
  }

  /** Connects and lists the tools. Rejects with `tool_server_failed`, `address_refused` or `invalid_body`. */
  static async open(options: ConnectionOptions): Promise<ServerConnection> {
    const { limits, signal } = options
    const last: LastFailure = { why: undefined }
    const late = AbortSignal.timeout(limits.connectTimeoutMs)
    const both = AbortSignal.any([signal, late])
    const client = new Client(
      { name: 'servable', version: VERSION },
      {
        capabilities: {
          ...(options.mayAsk && { elicitation: { form: {} } }),
          extensions: { 'io.modelcontextprotocol/ui': { mimeTypes: [PAGE_TYPE] } },
        },
        jsonSchemaValidator: TAKES_ALL,
        versionNegotiation: { mode: 'auto', probe: { timeoutMs: limits.connectTimeoutMs } },
        listChanged: { tools: { autoRefresh: false, onChanged: () => connection.#changed() } },
      },
    )
    const connection = new ServerConnection(client, options, last)
    // A run that waits cannot keep a call open, so what a server asks during a call is declined.
    if (options.mayAsk) {
      client.setRequestHandler('elicitation/create', () => {
        connection.#countRequest()
        return { action: 'decline' }
      })
    }
    client.fallbackRequestHandler = async () => {
      connection.#countRequest()
      throw new ProtocolError(METHOD_NOT_FOUND, 'Method not found')
    }
    let transport: Transport | undefined
    try {
      const opened = transportOf(options, last)
      transport = opened
      await unless(both, () => client.connect(opened, { signal: both, timeout: limits.connectTimeoutMs }))
      await unless(both, () => connection.#list(both))
    } catch (error) {
      // The official client has the transport only after it knows the server's protocol.
      if (client.transport === undefined) void transport?.close().then(undefined, () => {})
      connection.close()
      if (signal.aborted) throw failed('Connecting was cancelled')
      throw late.aborted
        ? failed(`The tool server did not answer within ${limits.connectTimeoutMs} ms`)
        : connection.#explain(error)
    }
    client.onclose = () => connection.#lose('The tool server closed the connection')
    client.onerror = () => connection.#verifySoon()
    connection.#state = 'open'
    // The server announced a change meanwhile.
    if (connection.#isStale) connection.#changed()
    return connection
  }

  get tools(): ReadonlyMap<string, RemoteTool> {
    return this.#listing.tools
  }

  get warnings(): readonly string[] {
    return this.#listing.warnings
  }

  /** Calls a tool. Rejects with `tool_failed` if the tool failed, and with `tool_server_failed` if the server failed. */
  async call(
    tool: RemoteTool,
    args: unknown,
    given: ToolAnswers | undefined,
    options: ServerCallOptions,
  ): Promise<CallRound> {
    const { answers, state } = given ?? {}
    const answer = await this.#within(options, (limits, meta) =>
      this.#client.callTool(
        {
          name: tool.name,
          arguments: args as Record<string, unknown>,
          ...meta,
          ...(answers && { inputResponses: answers as InputResponses }),
          ...(state !== undefined && { requestState: state }),
        },
        {
          ...limits,
          allowInputRequired: true,
          // With this definition, the official client does not search its own list.
          toolDefinition: { name: tool.name, inputSchema: tool.inputSchema },
        },
      ),
    )
    if (!isInputRequiredResult(answer)) return { result: resultOf(answer) }
    if (this.#options.mayAsk) return questionsIn(answer)
    throw new ServableError(
      'tool_failed',
      "The tool asks questions, and its server has no `elicitation: 'ask'`",
    )
  }

  /** Lists or reads resources or prompts. Rejects as `call` does. */
  read(query: ServerQuery, options: ServerCallOptions): Promise<unknown> {
    return this.#within(options, (limits, meta) =>
      readFrom(query, {
        capabilities: Object(this.#client.getServerCapabilities()),
        maxItems: this.#options.limits.maxTools,
        ask: (method, params) =>
          this.#client.request({ method, params: { ...params, ...meta } }, ANY_RESULT, limits),
      }),
    )
  }

  /** Does work within the time of a call. */
  async #within<T>(
    { signal, traceparent }: ServerCallOptions,
    work: (
      limits: { signal: AbortSignal; timeout: number },
      meta: { _meta?: Record<string, unknown> },
    ) => Promise<T>,
  ): Promise<T> {
    const { callTimeoutMs: timeout } = this.#options.limits
    const late = AbortSignal.timeout(timeout)
    const both = signal === undefined ? late : AbortSignal.any([signal, late])
    try {
      const meta = traceparent === undefined ? {} : { _meta: { traceparent } }
      const answer = await unless(both, () => work({ signal: both, timeout }, meta))
      this.#confirmedAt = Date.now()
      return answer
    } catch (error) {
      if (signal?.aborted) throw failed('The call was cancelled')
      if (late.aborted || isTimeout(error)) throw failed(`The tool did not answer within ${timeout} ms`)
      throw this.#failureOf(error)
    }
  }

  /** Resolves if the server answered within the last `maxAgeMs`, or after it has answered a check or is lost. */
  async confirm(maxAgeMs: number): Promise<void> {
    if (this.#state !== 'open' || Math.abs(Date.now() - this.#confirmedAt) < maxAgeMs) return
    this.#changed()
    await this.#refreshing
  }

  /** Ends the connection. It ends the server's session in the background. */
  close(): void {
    this.#state = 'over'
    if (this.#verifying !== undefined) clearTimeout(this.#verifying)
    void endOf(this.#client).then(undefined, () => {})
  }

  /** The error of a call that failed. If the error concerns the server, this checks the server. */
  #failureOf(error: unknown): ServableError {
    if (isSessionLost(error)) {
      const lost = new SessionLostError()
      this.#lose(lost.message)
      return lost
    }
    const code = error instanceof ProtocolError ? error.code : undefined
    if (code !== undefined && code !== BROKEN_OFF) return new ServableError('tool_failed', messageOf(error))
    const failure = code === BROKEN_OFF ? failed(messageOf(error)) : this.#explain(error)
    this.#verifySoon()
    return failure
  }

  async #list(signal: AbortSignal): Promise<void> {
    const { maxTools, connectTimeoutMs: timeout } = this.#options.limits
    if (this.#client.getServerCapabilities()?.tools === undefined) return
    const page = async (cursor: string | undefined) => {
      const params = cursor === undefined ? {} : { cursor }
      const limits = { signal, timeout }
      const result = await this.#client.request({ method: 'tools/list', params }, ANY_RESULT, limits)
      const [tools, nextCursor] = pageOf(result, 'tools')
      return { tools, nextCursor }
    }
    this.#listing = await collectTools(page, maxTools)
    this.#confirmedAt = Date.now()
  }

  /** Lists the tools again, and once more if they change meanwhile. */
  #changed(): void {
    this.#isStale = true
    if (this.#state !== 'open') return
    this.#refreshing ??= this.#refresh().finally(() => {
      this.#refreshing = undefined
    })
  }

  async #refresh(): Promise<void> {
    while (this.#isStale && this.#state === 'open') {
      this.#isStale = false
      const late = AbortSignal.timeout(this.#options.limits.connectTimeoutMs)
      try {
        await unless(late, () => this.#list(late))
      } catch (error) {
        return this.#lose(this.#explain(error).message)
      }
    }
  }

  /**
   * Checks after an error whether the server is still there, by listing its tools. The first check is immediate, further ones
   * are spaced.
   */
  #verifySoon(): void {
    if (this.#state !== 'open' || this.#verifying !== undefined) return
    this.#changed()
    this.#verifying = unrefed(
      setTimeout(() => {
        this.#verifying = undefined
        void this.confirm(VERIFY_EVERY_MS)
      }, VERIFY_EVERY_MS),
    )
  }

  /** Ends a connection whose server sends requests endlessly. Each costs an answer. */
  #countRequest(): void {
    const now = performance.now()
    if (now - this.#requests.since > REQUEST_WINDOW_MS) this.#requests = { count: 0, since: now }
    if (++this.#requests.count > MAX_REQUESTS) this.#lose('The tool server sends too many requests')
  }

  #lose(why: string): void {
    if (this.#state === 'over') return
    this.close()
    this.#options.onLost(why)
  }

  #explain(error: unknown): ServableError {
    for (let cause = error, depth = 0; cause instanceof Error && depth < 8; cause = cause.cause, depth++) {
      if (cause instanceof ServableError) return cause
    }
    if (isNoMessage(error))
      return failed('The tool server answered with something that is not an MCP message')
    return failed(this.#last.why ?? `The tool server cannot be used: ${messageOf(error)}`)
  }
}

/** Ends a session on the server, if it has one (MCP, Streamable HTTP, session management). */
async function endOf(client: Client): Promise<void> {
  const { transport } = client
  if (transport instanceof HttpTransport) await transport.terminateSession().catch(() => {})
  await client.close()
}

function transportOf(
  { reach, policy, limits, openStdio, tokens }: ConnectionOptions,
  last: LastFailure,
): Transport {
  const { maxBytes } = limits
  if (reach.transport === 'stdio') {
    if (openStdio === undefined) throw failed('Programs cannot be started here')
    return openStdio({ ...reach, maxBytes })
  }
  const fetch = guardedFetch({
    ...policy,
    maxBytes,
    onAnswer: failure => {
      last.why = failure
    },
  })
  const requestInit = { headers: reach.headers }
  const options = { fetch, requestInit, ...(tokens && { authProvider: tokens }) }
  const url = new URL(reach.url)
  return reach.transport === 'sse'
    ? new SSEClientTransport(url, options)
    : new HttpTransport(url, { ...options, onInsufficientScope: 'throw' })
}

function failed(why: string): ServableError {
  return new ServableError('tool_server_failed', why)
}
