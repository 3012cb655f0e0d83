/**
 * The contract of tool servers (MCP) that are added while the service runs. `servable/mcp-client` implements it.
 *
 * @module
 */

import type { ToolCaller } from './app-page.ts'
import type { EventBus } from './bus.ts'
import type { ServerQuery, ServerReads } from './server-reads.ts'
import type { ToolAnnotations } from './tool.ts'

/** How a tool server is reached: `http` is Streamable HTTP, `sse` HTTP with SSE (MCP 2024-11-05), `stdio` a program of this machine. */
export type ToolServerTransport = 'http' | 'sse' | 'stdio'

/**
 * Whether a tool server can be used. After `error` the service tries again by itself: first after a second, then after twice as
 * long each time, up to a minute. `disconnected` stays until `connect`.
 */
export type ToolServerStatus = 'disconnected' | 'connecting' | 'connected' | 'error'

/** How to reach a tool server. Each value has at most 8,192 characters. */
export interface ToolServerDefinition {
  /** 1 to 64 letters, digits, `-` and `_`, not beginning with two underscores. Its tools are called `name.tool`. */
  readonly name: string
  readonly transport: ToolServerTransport
  /**
   * Required for `http` and `sse`, and only for these: an absolute URL of at most 2,048 characters. The values of its query, and
   * path segments that look like a token, are never shown again.
   */
  readonly url?: string | undefined
  /** For `http` and `sse`: sent with every request, such as `authorization`; at most 100. The values are never shown again. Default: none. */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** For `http` and `sse`: OAuth, instead of a header `authorization`. Default: none. */
  readonly auth?: ToolServerAuth | undefined
  /** Required for `stdio`, and only for it: one of those that `admin.stdio.commands` names. */
  readonly command?: string | undefined
  /** For `stdio`: at most 100. Never shown again. Default: none. */
  readonly args?: readonly string[] | undefined
  /**
   * For `stdio`: variables in addition to a few harmless ones of this process; at most 100. The values are never shown again.
   * Default: none.
   */
  readonly env?: Readonly<Record<string, string>> | undefined
  /** Connects when it is added and when the service starts. Default: true. */
  readonly autoConnect?: boolean | undefined
  /**
   * The tools whose calls a person must approve: all, or those with these names, at most 1,000, as the server names them.
   * Default: none.
   */
  readonly needsApproval?: ToolApprovals | undefined
  /**
   * What happens to questions that its tools ask in the middle of a call (form mode). `ask`: the run is asked, if its agent calls the
   * tool with `manager.call`; otherwise they are declined. `refuse`: a call that asks fails. Default: `refuse`.
   */
  readonly elicitation?: Elicitation | undefined
}

/** Whether tools of a server may ask questions. */
export type Elicitation = 'ask' | 'refuse'

/** A question of a tool. */
export interface ToolQuestion {
  /** The tool's name of it. */
  readonly key: string
  /** At most 2,000 characters. */
  readonly message: string
  /** JSON Schema of an object. At most 16,384 characters. */
  readonly schema: Readonly<Record<string, unknown>>
}

/** Answers to the questions of a tool. */
export interface ToolAnswers {
  /** Results of MCP's elicitation by the keys of the questions. */
  readonly answers: Readonly<Record<string, unknown>>
  /** What the tool gave with its questions. */
  readonly state?: string | undefined
}

/** The end of a call, or what its tool asks first: at most 3 questions. */
export type CallRound =
  | { readonly result: unknown }
  | { readonly questions: readonly ToolQuestion[]; readonly state?: string | undefined }

/** How the service gets tokens for a tool server (OAuth 2.1). The secret is never shown again. */
export type ToolServerAuth = {
  /** The service as a client of the provider. ASCII. */
  readonly clientId: string
  /** What to ask for; at most 100. Default: what the server asks for. */
  readonly scopes?: readonly string[] | undefined
  /**
   * The provider that counts, as its metadata names it. Default: the one that the server names first, when the service looks first. A
   * server cannot change it later.
   */
  readonly issuer?: string | undefined
} & (
  | {
      /** The service has a token of its own. */
      readonly type: 'client_credentials'
      readonly clientSecret: string
    }
  | {
      /** An administrator signs in once (`signIn`), with PKCE. Default: a client without a secret. */
      readonly type: 'authorization_code'
      readonly clientSecret?: string | undefined
    }
)

/** Who signs in, and where the provider sends them back. */
export interface SignInPlace {
  /** The id of the administrator. Null where there are no identities. */
  readonly who: string | null
  /** An absolute URL, which the provider knows. */
  readonly redirectUri: string
}

/** A sign-in that has begun. */
export interface SignIn {
  /** The address of the provider that the administrator opens. */
  readonly url: string
  /** ISO 8601. The administrator must be back by then: 10 minutes after the beginning. */
  readonly expiresAt: string
  /** A secret of the browser that began. Whoever has it can end the sign-in. */
  readonly browser: string
}

/** What the provider sends back, and who brings it: the administrator who began, or the browser where it began. */
export interface SignInAnswer {
  /** Undefined if nobody knows. */
  readonly who?: string | null | undefined
  readonly browser?: string | undefined
  readonly state: string
  readonly code?: string | undefined
  /** Why there is no code. */
  readonly error?: string | undefined
  /** The issuer of the provider (RFC 9207). */
  readonly iss?: string | undefined
}

/** Which tools of a server need an approval: all of them, none, or those with these names. */
export type ToolApprovals = boolean | readonly string[]

/** A tool server as it is shown. No member holds a secret. */
export interface ToolServer {
  /** A UUID. */
  readonly id: string
  readonly name: string
  readonly transport: ToolServerTransport
  /** With `***` for the values of its query and for path segments that look like a token; null for `stdio`. */
  readonly url: string | null
  /** Null for `http` and `sse`. */
  readonly command: string | null
  readonly status: ToolServerStatus
  /** 0 unless it is connected. */
  readonly toolCount: number
  /** Why the last attempt failed, in at most 500 characters. Null once it is connected or disconnected. */
  readonly error: string | null
  /** Which of its tools were left out, and why. Empty unless it is connected. */
  readonly warnings: readonly string[]
  /** As in its definition; false for none. */
  readonly needsApproval: ToolApprovals
  /** As in its definition. */
  readonly elicitation: Elicitation
  /** Whether an administrator must sign in, or has done so. Null if nobody needs to. */
  readonly signIn: 'needed' | 'done' | null
  /** ISO 8601; null unless it is connected. */
  readonly connectedAt: string | null
  /** ISO 8601. */
  readonly createdAt: string
}

/** A tool of a tool server. */
export interface ServerTool {
  /** `server.tool`. */
  readonly name: string
  /** Null if the server gives none, or if the whole list is too large. */
  readonly description: string | null
  /** JSON Schema of the arguments; null if the whole list is too large. */
  readonly parameters: Readonly<Record<string, unknown>> | null
  /** The name of its server. */
  readonly server: string
  /** What its server says of calls that may be done again. Older versions tell nothing. */
  readonly annotations?: ToolAnnotations
  /** Whether the definition of its server says that a person must approve each call. */
  readonly needsApproval: boolean
  /** The address of its page on its server. Absent if it has none. */
  readonly pageUri?: string
  /** Who may call it: with `['app']` only pages. Absent for both. */
  readonly visibility?: readonly ToolCaller[]
}

/** Options of a tool call. */
export interface ServerCallOptions {
  /** Cancels the call, on the tool server too. */
  readonly signal?: AbortSignal | undefined
  /** The call's `traceparent`. It goes to the server as `_meta.traceparent`. */
  readonly traceparent?: string | undefined
}

/**
 * The tool servers of a deployment. Arguments and results are JSON, so that the implementation may be in another process. An
 * unknown id throws `tool_server_not_found`.
 */
export interface ToolServers {
  /** All of them, in the order in which they were added. */
  list(): Promise<readonly ToolServer[]>
  get(id: string): Promise<ToolServer>
  /**
   * Stores a definition and connects. Throws `invalid_body`, `address_refused`, `tool_server_exists` for a name that is taken and
   * `too_many_tool_servers`. A server that cannot be reached is stored with the status `error`.
   */
  add(definition: ToolServerDefinition): Promise<ToolServer>
  /** Disconnects and deletes it. */
  remove(id: string): Promise<ToolServer>
  /** Connects, or reconnects. Resolves once the attempt has succeeded or failed. */
  connect(id: string): Promise<ToolServer>
  /** Disconnects. It does not connect again by itself, even after a restart. */
  disconnect(id: string): Promise<ToolServer>
  /** Begins to sign in to a server with `auth.type: 'authorization_code'`. Throws `unsupported_operation` for another one. */
  signIn(id: string, place: SignInPlace): Promise<SignIn>
  /**
   * Ends a sign-in with what the provider sent, and connects. Throws `invalid_query` for a `state` that is unknown, used or too old,
   * `forbidden` if somebody else began it, and `tool_server_failed` if the provider gives no tokens.
   */
  endSignIn(answer: SignInAnswer): Promise<ToolServer>
  /** The tools of one server, or of all connected ones. */
  tools(id?: string): Promise<readonly ServerTool[]>
  /** Whether the definition of its server requires an approval of calls of `server.tool`. False for an unknown one. */
  needsApproval(name: string): Promise<boolean>
  /**
   * Calls `server.tool` without asking for an approval. Throws `tool_not_found`, `tool_server_failed` if the server cannot be
   * reached or does not answer in time, and `tool_failed` if the tool reports an error.
   */
  call(name: string, args: unknown, options?: ServerCallOptions): Promise<unknown>
  /** Calls as `call` does, and gives what the tool asks. It is called again with the answers. */
  round(
    name: string,
    args: unknown,
    answers: ToolAnswers | undefined,
    options?: ServerCallOptions,
  ): Promise<CallRound>
  /**
   * Lists or reads resources and prompts of the server of this name. Throws `tool_server_not_found`, `invalid_input`, and the errors
   * of `call`.
   */
  read<Query extends ServerQuery>(
    server: string,
    query: Query,
    options?: ServerCallOptions,
  ): Promise<ServerReads[Query['kind']]>
  /** Ends all connections of this process. They are made again when needed. */
  close?(): void
}

/** What a deployment allows its tool servers. */
export interface ToolServerPolicy {
  /** Hosts such as `localhost:3000` and ranges such as `10.0.0.0/8` that may be reached although they are not public. */
  readonly allow: readonly string[]
  /** Programs that may be started, by the names that `command` uses. */
  readonly commands: readonly string[]
}

/** Opens the tool servers of a store: the manager of `servable/mcp-client`. */
export interface ToolServerSource {
  /** Emits `admin.act` for each action over the admin routes. */
  readonly events: EventBus
  /** The tool servers of the last `use`. Throws `invalid_options` before the first. */
  readonly servers: ToolServers
  /** Uses these tool servers from now on, and closes the earlier ones. */
  use(servers: ToolServers): void
  /** Ends all connections of this process. */
  close?(): void
  /** The tool servers of a store, connected from this process. */
  open(place: ToolServerPlace): ToolServers
}

/** Where tool servers are stored, and what they may do. */
export interface ToolServerPlace {
  readonly store: ToolServerStore
  readonly policy: ToolServerPolicy
  /** Called on a change without a request: a lost connection, or one that is back. Holds no secret. */
  readonly onChange: (change: ToolServerChange) => void
}

/** A change without a request. */
export interface ToolServerChange {
  readonly id: string
  readonly name: string
  readonly status: ToolServerStatus
  /** Why the last attempt failed. Null once it is connected or disconnected. */
  readonly error: string | null
}

/** The store of definitions by id. Each is a JSON text. */
export interface ToolServerStore {
  /** Whether other processes may write into it at the same time. */
  readonly isShared: boolean
  all(): readonly KeptDefinition[] | Promise<readonly KeptDefinition[]>
  /**
   * Writes one. Calls `check` with the stored definitions; if it throws, `put` throws or rejects with the same error and writes
   * nothing.
   */
  put(definition: KeptDefinition, check?: (others: readonly KeptDefinition[]) => void): void | Promise<void>
  /**
   * Changes one in a transaction, unless `change` returns nothing. `change` may be called again. Returns what is stored then;
   * undefined if there is none.
   */
  change(
    id: string,
    change: (kept: KeptDefinition) => KeptDefinition | undefined,
  ): KeptDefinition | undefined | Promise<KeptDefinition | undefined>
  remove(id: string): void | Promise<void>
}

/** A definition as it is stored. */
export interface KeptDefinition {
  readonly id: string
  readonly name: string
  /** Milliseconds since 1970. */
  readonly createdAt: number
  /** Whether it should be connected. */
  readonly isWanted: boolean
  readonly transport: ToolServerTransport
  /** The address without secrets; null for `stdio`. */
  readonly url: string | null
  /** Null for `http` and `sse`. */
  readonly command: string | null
  readonly needsApproval?: ToolApprovals | undefined
  /** Absent for `refuse`. */
  readonly elicitation?: Elicitation | undefined
  /** The definition's connection, with its secrets: JSON, or that JSON encrypted. */
  readonly reach: string
  /** Whether somebody has signed in. Absent if nobody needs to. */
  readonly isSignedIn?: boolean | undefined
  /** The provider and the tokens: JSON, or that JSON encrypted. */
  readonly grant?: string | undefined
  /** A sign-in that has begun: JSON, or that JSON encrypted. */
  readonly signIn?: string | undefined
  /** Until when a process renews the tokens. Milliseconds since 1970. */
  readonly renewingUntil?: number | undefined
}
