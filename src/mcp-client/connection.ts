/**
 * One connection to a tool server, on the official client. It ends once: by `close`, or because the server is lost.
 *
 * @module
 */

import {
  Client,
  type JsonSchemaValidator,
  type jsonSchemaValidator,
  ProtocolError,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
  SSEClientTransport,
  type StandardSchemaV1,
  type Transport,
} from '@modelcontextprotocol/client'
import { messageOf, ServableError } from '../errors.ts'
import { VERSION } from '../http/version.ts'
import type { AddressPolicy } from '../web/address.ts'
import type { Reach } from './definition.ts'
import { guardedFetch } from './fetch.ts'
import { BROKEN_OFF, HttpTransport } from './http-transport.ts'
import { resultOf } from './result.ts'
import { collectTools, type Listing, type RemoteTool, type ToolPage } from './tool-list.ts'

/** Starts a program and speaks with it (MCP, transport `stdio`). */
export type OpenStdio = (program: {
  readonly command: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  /** Most bytes of one message. */
  readonly maxBytes: number
}) => Transport

/** What bounds a connection. */
export interface ConnectionLimits {
  /** Milliseconds that connecting may take, the list of tools included. */
  readonly connectTimeoutMs: number
  /** Milliseconds that a call may take. */
  readonly callTimeoutMs: number
  /** Most bytes of an answer. */
  readonly maxBytes: number
  readonly maxTools: number
}

/** What a connection needs. */
export interface ConnectionOptions {
  readonly reach: Reach
  readonly policy: AddressPolicy
  readonly limits: ConnectionLimits
  readonly openStdio: OpenStdio | undefined
  /** Gives up while it connects. */
  readonly signal: AbortSignal
  /** The server is gone, or has gone silent; never after `close`. */
  readonly onLost: (why: string) => void
}

/** Why the last request failed, if it did: the client does not pass on all that a server says. */
interface LastFailure {
  why: string | undefined
}

/** Milliseconds between two looks at whether a server that had an error is still there. */
const VERIFY_EVERY_MS = 5000

/** Takes whatever a tool answers: the agent asked for it, and a server's schema is not to be compiled here. */
const TAKES_ALL: jsonSchemaValidator = {
  getValidator:
    <T>(): JsonSchemaValidator<T> =>
    input => ({ valid: true, data: input as T, errorMessage: undefined }),
}

/** Takes a page as it is: each of its tools is looked at by itself, and one that is odd spoils no other. */
const ANY_PAGE: StandardSchemaV1<unknown, ToolPage> = {
  '~standard': {
    version: 1,
    vendor: 'servable',
    validate: value => {
      const { tools, nextCursor } = Object(value) as Record<string, unknown>
      if (!Array.isArray(tools)) return { issues: [{ message: '`tools` must be an array' }] }
      return { value: { tools, nextCursor: typeof nextCursor === 'string' ? nextCursor : undefined } }
    },
  },
}

/** The server does not know the session any more, so the call was not executed. */
export class SessionLostError extends ServableError {
  constructor() {
    super('tool_server_failed', 'The tool server no longer knows the session')
  }
}

/** A connection that is open. */
export class Connection {
  readonly #client: Client
  readonly #options: ConnectionOptions
  readonly #last: LastFailure
  #listing: Listing = { tools: new Map(), warnings: [] }
  #state: 'opening' | 'open' | 'over' = 'opening'
  #confirmedAt = Number.NEGATIVE_INFINITY
  #refreshing: Promise<void> | undefined
  #isStale = false
  #verifying: ReturnType<typeof setTimeout> | undefined

  private constructor(client: Client, options: ConnectionOptions, last: LastFailure) {
    this.#client = client
    this.#options = options
    this.#last = last
  }

  /** Connects and lists the tools. Rejects with `tool_server_failed`, `address_refused` or `invalid_body`. */
  static async open(options: ConnectionOptions): Promise<Connection> {
    const { limits, signal } = options
    const last: LastFailure = { why: undefined }
    const late = AbortSignal.timeout(limits.connectTimeoutMs)
    const both = AbortSignal.any([signal, late])
    const client = new Client(
      { name: 'servable', version: VERSION },
      {
        capabilities: {},
        jsonSchemaValidator: TAKES_ALL,
        versionNegotiation: { mode: 'auto', probe: { timeoutMs: limits.connectTimeoutMs } },
        listChanged: { tools: { autoRefresh: false, onChanged: () => connection.#changed() } },
      },
    )
    const connection = new Connection(client, options, last)
    let transport: Transport | undefined
    try {
      transport = transportOf(options, last)
      await untilAborted(client.connect(transport, { signal: both, timeout: limits.connectTimeoutMs }), both)
      await untilAborted(connection.#list(both), both)
    } catch (error) {
      // The client does not have it before it knows what the server speaks.
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
    // What was told meanwhile.
    if (connection.#isStale) connection.#changed()
    return connection
  }

  get tools(): ReadonlyMap<string, RemoteTool> {
    return this.#listing.tools
  }

  get warnings(): readonly string[] {
    return this.#listing.warnings
  }

  /** Calls a tool. Rejects with `tool_failed` where the tool failed, with `tool_server_failed` where the server did. */
  async call(tool: RemoteTool, args: unknown, signal: AbortSignal | undefined): Promise<unknown> {
    const { callTimeoutMs } = this.#options.limits
    const late = AbortSignal.timeout(callTimeoutMs)
    const both = signal === undefined ? late : AbortSignal.any([signal, late])
    let answer: unknown
    try {
      const asked = this.#client.callTool(
        { name: tool.name, arguments: args as Record<string, unknown> },
        // With the definition at hand the client does not look for it in a list of its own.
        {
          signal: both,
          timeout: callTimeoutMs,
          toolDefinition: { name: tool.name, inputSchema: tool.inputSchema },
        },
      )
      answer = await untilAborted(asked, both)
    } catch (error) {
      if (signal?.aborted) throw failed('The call was cancelled')
      if (late.aborted || isTimeout(error)) throw failed(`The tool did not answer within ${callTimeoutMs} ms`)
      throw this.#failureOf(error)
    }
    this.#confirmedAt = Date.now()
    return resultOf(answer)
  }

  /** Resolves once the server was heard of within `maxAgeMs`, or is lost. */
  async confirm(maxAgeMs: number): Promise<void> {
    if (this.#state !== 'open' || Math.abs(Date.now() - this.#confirmedAt) < maxAgeMs) return
    this.#changed()
    await this.#refreshing
  }

  /** Ends it. The server is told in the background. */
  close(): void {
    this.#state = 'over'
    if (this.#verifying !== undefined) clearTimeout(this.#verifying)
    void endOf(this.#client).then(undefined, () => {})
  }

  /** What is thrown for a call that failed; what it says of the server is found out. */
  #failureOf(error: unknown): ServableError {
    if (isSessionLost(error)) {
      const lost = new SessionLostError()
      this.#lose(lost.message)
      return lost
    }
    const code = error instanceof ProtocolError ? error.code : undefined
    if (code !== undefined && code !== BROKEN_OFF) return new ServableError('tool_failed', messageOf(error))
    const told = code === BROKEN_OFF ? failed(messageOf(error)) : this.#explain(error)
    this.#verifySoon()
    return told
  }

  async #list(signal: AbortSignal): Promise<void> {
    const { maxTools, connectTimeoutMs: timeout } = this.#options.limits
    if (this.#client.getServerCapabilities()?.tools === undefined) return
    const page = (cursor: string | undefined) =>
      this.#client.request(
        { method: 'tools/list', params: cursor === undefined ? {} : { cursor } },
        ANY_PAGE,
        { signal, timeout },
      )
    this.#listing = await collectTools(page, maxTools)
    this.#confirmedAt = Date.now()
  }

  /** Lists the tools again; once more where they change meanwhile. */
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
        await untilAborted(this.#list(late), late)
      } catch (error) {
        return this.#lose(this.#explain(error).message)
      }
    }
  }

  /** After an error: is the server still there? Listing its tools tells; at once, but not all the time. */
  #verifySoon(): void {
    if (this.#state !== 'open' || this.#verifying !== undefined) return
    this.#changed()
    this.#verifying = setTimeout(() => {
      this.#verifying = undefined
      void this.confirm(VERIFY_EVERY_MS)
    }, VERIFY_EVERY_MS)
    ;(this.#verifying as { unref?(): void }).unref?.()
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

/** Ends a session on the server's side as well, where it has one (MCP, Streamable HTTP, session management). */
async function endOf(client: Client): Promise<void> {
  const { transport } = client
  if (transport instanceof HttpTransport) await transport.terminateSession().catch(() => {})
  await client.close()
}

function transportOf({ reach, policy, limits, openStdio }: ConnectionOptions, last: LastFailure): Transport {
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
  const options = { fetch, requestInit: { headers: reach.headers } }
  const url = new URL(reach.url)
  return reach.transport === 'sse'
    ? new SSEClientTransport(url, options)
    : new HttpTransport(url, { ...options, onInsufficientScope: 'throw' })
}

/** A session that has gone is a 404 (MCP, Streamable HTTP, session management); some servers say it in an error. */
function isSessionLost(error: unknown): boolean {
  if (error instanceof SdkHttpError) return error.status === 404
  return error instanceof ProtocolError && error.code === -32001 && /session/i.test(error.message)
}

/** What came is no JSON, or not what the protocol has there. */
function isNoMessage(error: unknown): boolean {
  if (error instanceof SdkError) return error.code === SdkErrorCode.InvalidResult
  return error instanceof SyntaxError || (error instanceof Error && 'issues' in error)
}

function isTimeout(error: unknown): boolean {
  return error instanceof SdkError && error.code === SdkErrorCode.RequestTimeout
}

/** What `work` gives, unless the signal comes first: the client's own waits need not end with it. */
function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason)
    signal.addEventListener('abort', stop, { once: true })
    if (signal.aborted) stop()
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop))
  })
}

function failed(why: string): ServableError {
  return new ServableError('tool_server_failed', why)
}
