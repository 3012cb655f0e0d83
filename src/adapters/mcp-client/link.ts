/**
 * The link of this process to one tool server, with its status and its last error. After an error it connects again by itself.
 *
 * @module
 */

import type { ServerQuery } from '../../agents/server-reads.ts'
import type {
  CallRound,
  KeptDefinition,
  ServerCallOptions,
  ToolAnswers,
  ToolServer,
  ToolServerStatus,
} from '../../agents/tool-servers.ts'
import { messageOf, redact, ServableError } from '../../base/errors.ts'
import { unrefed } from '../../base/wake.ts'
import { plain } from '../../web/plain.ts'
import { withoutSecrets } from '../../web/secrets.ts'
import { type ConnectionOptions, ServerConnection, SessionLostError } from './connection.ts'
import { type ServerAccess, secretsOf } from './definition.ts'
import type { Grant } from './grants.ts'
import type { RemoteTool } from './tool-list.ts'

/** The options that all links share. */
export interface LinkOptions extends Pick<ConnectionOptions, 'policy' | 'limits' | 'openStdio'> {
  /** Decrypts a stored definition. Throws if the definition is not allowed or cannot be read. */
  readonly reach: (definition: KeptDefinition) => Promise<ServerAccess>
  /** The tokens of a server. Undefined for one without `auth`. */
  readonly grantOf: (id: string, reach: ServerAccess) => Grant | undefined
  /** Milliseconds before the first new try. Each further try waits twice as long. */
  readonly retryMs: number
  /** Most milliseconds between two tries. */
  readonly maxRetryMs: number
  /** Called after a change that no caller made. */
  readonly onChange: (link: ServerLink) => void
}

/** Most characters of the error text that a run gets from a failed call. */
const MAX_CALL_ERROR = 2000

/** Most characters of an error text. */
const MAX_ERROR = 500

/** Milliseconds after an answer for which the server counts as connected. */
const FRESH_MS = 5000

/** The link to one server. */
export class ServerLink {
  definition: KeptDefinition
  readonly #options: LinkOptions
  #status: ToolServerStatus = 'disconnected'
  #error: string | null = null
  #connectedAt: number | undefined
  #connection: ServerConnection | undefined
  #opening: { readonly done: Promise<void>; readonly controller: AbortController } | undefined
  #retry: ReturnType<typeof setTimeout> | undefined
  #failures = 0
  #triedAt = Number.NEGATIVE_INFINITY
  #ownSecrets: readonly string[] = []
  #grant: Grant | undefined

  constructor(definition: KeptDefinition, options: LinkOptions) {
    this.definition = definition
    this.#options = options
  }

  get status(): ToolServerStatus {
    return this.#status
  }

  get error(): string | null {
    return this.#error
  }

  get tools(): readonly RemoteTool[] {
    const tools = this.#connection?.tools.values() ?? []
    return Array.from(tools, tool => withoutSecrets(tool, this.#secrets))
  }

  /** Whether the link has neither connected nor failed yet. */
  get isNew(): boolean {
    return this.#status === 'connecting' && this.#failures === 0
  }

  /** Resolves when the status is up to date, or after a short time. */
  async confirm(): Promise<void> {
    await this.#connection?.confirm(FRESH_MS)
  }

  /** The server for the admin routes. */
  get view(): ToolServer {
    const { id, name, transport, url, command, createdAt } = this.definition
    const { needsApproval = false, elicitation = 'refuse', isSignedIn } = this.definition
    const connectedAt = this.#connectedAt === undefined ? null : new Date(this.#connectedAt).toISOString()
    return {
      id,
      name,
      transport,
      url,
      command,
      status: this.#status,
      toolCount: this.#connection?.tools.size ?? 0,
      error: this.#error,
      warnings: this.#warnings,
      needsApproval,
      elicitation,
      signIn: isSignedIn === undefined ? null : isSignedIn ? 'done' : 'needed',
      connectedAt,
      createdAt: new Date(createdAt).toISOString(),
    }
  }

  /** What is cut out of everything that the server sends. */
  get #secrets(): readonly string[] {
    return [...this.#ownSecrets, ...(this.#grant?.secrets ?? [])]
  }

  /** Whether a person must approve calls of a tool. */
  needsApproval(toolName: string): boolean {
    const { needsApproval = false } = this.definition
    return typeof needsApproval === 'boolean' ? needsApproval : needsApproval.includes(toolName)
  }

  /** The tools that were left out of the list, and names in `needsApproval` that no tool has. */
  get #warnings(): readonly string[] {
    const { needsApproval: names = false } = this.definition
    if (this.#connection === undefined) return []
    const { tools, warnings } = this.#connection
    const unknown = typeof names === 'boolean' ? [] : names.filter(name => !tools.has(name))
    return [...warnings, ...unknown.map(name => `\`needsApproval\`: there is no tool \`${name}\``)]
  }

  /** Connects unless it is connected or connecting. Resolves after success or failure, and never rejects. */
  connect(): Promise<void> {
    if (this.#connection !== undefined) return Promise.resolve()
    if (this.#opening === undefined) {
      this.#clearRetry()
      const controller = new AbortController()
      const done = this.#open(controller.signal).finally(() => {
        if (this.#opening?.controller === controller) this.#opening = undefined
      })
      this.#opening = { done, controller }
    }
    return this.#opening.done
  }

  /** Ends the connection and further tries. */
  disconnect(): void {
    this.#clearRetry()
    this.#failures = 0
    this.#opening?.controller.abort()
    this.#opening = undefined
    this.#drop()
    this.#status = 'disconnected'
    this.#error = null
  }

  /** Calls a tool, after connecting. Throws the errors of `ToolServers.call`. */
  call(
    toolName: string,
    args: unknown,
    answers: ToolAnswers | undefined,
    options: ServerCallOptions,
  ): Promise<CallRound> {
    return this.#use(async connection => {
      const tool = connection.tools.get(toolName)
      if (tool !== undefined) return connection.call(tool, args, answers, options)
      throw new ServableError('tool_not_found', `\`${this.definition.name}\` has no such tool`)
    })
  }

  /** Lists or reads resources or prompts, after connecting. Throws the errors of `ToolServers.read`. */
  read(query: ServerQuery, options: ServerCallOptions): Promise<unknown> {
    return this.#use(connection => connection.read(query, options))
  }

  /** Uses the connection. The result has no secrets, because it gets into events and logs. */
  async #use<T>(work: (connection: ServerConnection) => Promise<T>): Promise<T> {
    const once = async () => work(await this.#connected())
    try {
      const result = await once().catch(async error => {
        if (!(error instanceof SessionLostError)) throw error
        // The server did not do the work, so a new session repeats it.
        await this.connect()
        return once()
      })
      return withoutSecrets(result, this.#secrets)
    } catch (error) {
      throw this.#clean(error)
    }
  }

  async #connected(): Promise<ServerConnection> {
    if (!this.definition.isWanted) throw failed(`\`${this.definition.name}\` is disconnected`)
    // A caller need not wait for the next scheduled try. But many callers must not cause many tries.
    const sinceTry = Math.abs(Date.now() - this.#triedAt)
    const isDue = this.#opening !== undefined || sinceTry >= this.#options.retryMs
    if (this.#connection === undefined && isDue) await this.connect()
    if (this.#connection !== undefined) return this.#connection
    throw failed(`\`${this.definition.name}\` cannot be used: ${this.#error ?? 'it is not connected'}`)
  }

  async #open(signal: AbortSignal): Promise<void> {
    const isRetry = this.#failures > 0
    this.#triedAt = Date.now()
    this.#status = 'connecting'
    try {
      const reach = await this.#options.reach(this.definition)
      this.#ownSecrets = secretsOf(reach)
      this.#grant = this.#options.grantOf(this.definition.id, reach)
      const connection: ServerConnection = await ServerConnection.open({
        ...this.#options,
        reach,
        tokens: this.#grant,
        mayAsk: this.definition.elicitation === 'ask',
        signal,
        onLost: why => this.#lose(connection, why),
      })
      if (signal.aborted) return connection.close()
      this.#connection = connection
      this.#connectedAt = Date.now()
      this.#status = 'connected'
      this.#error = null
      this.#failures = 0
      if (isRetry) this.#options.onChange(this)
    } catch (error) {
      if (!signal.aborted) this.#fail(error, !isRetry)
    }
  }

  #lose(connection: ServerConnection, why: string): void {
    if (this.#connection === connection) this.#fail(failed(why), true)
  }

  #fail(error: unknown, isNews: boolean): void {
    this.#drop()
    this.#status = 'error'
    this.#error = this.#textOf(error, MAX_ERROR)
    this.#failures++
    const { retryMs, maxRetryMs } = this.#options
    const backoff = Math.min(maxRetryMs, retryMs * 2 ** Math.min(this.#failures - 1, 30))
    // The wait is random, so that many links that lost one server do not return at once.
    this.#retry = unrefed(setTimeout(() => void this.connect(), backoff * (0.75 + Math.random() / 2)))
    if (isNews) this.#options.onChange(this)
  }

  #drop(): void {
    const connection = this.#connection
    this.#connection = undefined
    this.#connectedAt = undefined
    connection?.close()
  }

  #clearRetry(): void {
    if (this.#retry !== undefined) clearTimeout(this.#retry)
    this.#retry = undefined
  }

  #clean(error: unknown): ServableError {
    const code = error instanceof ServableError ? error.code : 'tool_server_failed'
    return new ServableError(code, this.#textOf(error, MAX_CALL_ERROR))
  }

  /** The error as one line, without secrets. */
  #textOf(error: unknown, maxLength: number): string {
    return plain(redact(messageOf(error), this.#secrets), ' ').slice(0, maxLength)
  }
}

function failed(why: string): ServableError {
  return new ServableError('tool_server_failed', why)
}
