/**
 * Tool servers (MCP) that are added while the service runs: what the rest of it knows of them. The work is done by
 * `servable/mcp-client`.
 *
 * @module
 */

import type { EventBus } from './bus.ts'

/** How a tool server is reached: Streamable HTTP, HTTP with SSE (MCP 2024-11-05), or a program of this machine. */
export type ToolServerTransport = 'http' | 'sse' | 'stdio'

/** Whether a tool server can be used. After `error` it is tried again by itself; `disconnected` stays so. */
export type ToolServerStatus = 'disconnected' | 'connecting' | 'connected' | 'error'

/** What it takes to reach a tool server. */
export interface ToolServerDefinition {
  /** Its tools are called `name.tool`: 1 to 64 letters, digits, `-` and `_`. */
  readonly name: string
  readonly transport: ToolServerTransport
  /** For `http` and `sse`. What its query holds is never shown again. */
  readonly url?: string | undefined
  /** Sent with every request, such as `authorization`. The values are never shown again. */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** For `stdio`: one of those that `admin.stdio.commands` names. */
  readonly command?: string | undefined
  /** Never shown again. */
  readonly args?: readonly string[] | undefined
  /** Beside a few harmless variables of this process. The values are never shown again. */
  readonly env?: Readonly<Record<string, string>> | undefined
  /** Connects when it is added, and whenever the service starts. Default: true. */
  readonly autoConnect?: boolean | undefined
}

/** A tool server as it is shown. */
export interface ToolServer {
  readonly id: string
  readonly name: string
  readonly transport: ToolServerTransport
  /** Without the values of its query; null for `stdio`. */
  readonly url: string | null
  readonly command: string | null
  readonly status: ToolServerStatus
  readonly toolCount: number
  /** Why it cannot be used, while it cannot. */
  readonly error: string | null
  /** What was left out of its tools, and why. */
  readonly warnings: readonly string[]
  /** ISO 8601; null while it is not connected. */
  readonly connectedAt: string | null
  readonly createdAt: string
}

/** A tool of a tool server. */
export interface ServerTool {
  /** `server.tool`. */
  readonly name: string
  readonly description: string | null
  /** JSON Schema of the arguments. */
  readonly parameters: Readonly<Record<string, unknown>> | null
  /** The name of its server. */
  readonly server: string
}

/** What comes with a call of a tool. */
export interface ServerCallOptions {
  /** Cancels the call, on the tool server too. */
  readonly signal?: AbortSignal | undefined
}

/**
 * The tool servers of a deployment. What goes in and out is JSON, so that they may be elsewhere. An id that is none throws
 * `tool_server_not_found`.
 */
export interface ToolServers {
  /** All of them, in the order in which they were added. */
  list(): Promise<readonly ToolServer[]>
  get(id: string): Promise<ToolServer>
  /**
   * Keeps a definition and connects. Throws `invalid_body`, `address_refused`, `tool_server_exists` for a name that is
   * taken and `too_many_tool_servers`. A server that cannot be reached is kept, with the status `error`.
   */
  add(definition: ToolServerDefinition): Promise<ToolServer>
  /** Disconnects, and forgets it. */
  remove(id: string): Promise<ToolServer>
  /** Connects, again if it is connected; resolves once that is done, or has failed. */
  connect(id: string): Promise<ToolServer>
  disconnect(id: string): Promise<ToolServer>
  /** The tools of one server, or of all that are connected. */
  tools(id?: string): Promise<readonly ServerTool[]>
  /**
   * Calls `server.tool`. Throws `tool_not_found`, `tool_server_failed` where the server cannot be reached or does not answer
   * in time, and `tool_failed` where the tool says that it failed.
   */
  call(name: string, args: unknown, options?: ServerCallOptions): Promise<unknown>
  /** Ends all connections that are made from here; they are made again when they are needed. */
  close?(): void
}

/** What a deployment lets its tool servers be. */
export interface ToolServerPolicy {
  /** Hosts and ranges that may be asked though they are not public. */
  readonly allow: readonly string[]
  /** Programs that may be started. */
  readonly commands: readonly string[]
}

/** What makes tool servers of a state: the manager of `servable/mcp-client`. */
export interface ToolServerSource {
  /** Tells `admin.act`: who did what over the admin routes. */
  readonly events: EventBus
  /** Those that it was told to use. Throws `invalid_options` before. */
  readonly servers: ToolServers
  /** Uses these from now on, and closes those before. */
  use(servers: ToolServers): void
  /** Ends all connections that were made from here. */
  close?(): void
  /** The tool servers that a store knows, connected from here. */
  open(place: ToolServerPlace): ToolServers
}

/** Where tool servers are kept and connected. */
export interface ToolServerPlace {
  readonly store: ToolServerStore
  readonly policy: ToolServerPolicy
  /** Told of what changes by itself: a connection that is lost, or found again. Holds no secret. */
  readonly onChange: (change: ToolServerChange) => void
}

/** A change that nobody asked for. */
export interface ToolServerChange {
  readonly id: string
  readonly name: string
  readonly status: ToolServerStatus
  readonly error: string | null
}

/** Where definitions are kept: each a JSON text, by id. */
export interface ToolServerStore {
  /** Others may write into it at the same time. */
  readonly isShared: boolean
  all(): readonly KeptDefinition[] | Promise<readonly KeptDefinition[]>
  /** Throws, or rejects, where `check` does, which sees what is there; nothing is written then. */
  put(definition: KeptDefinition, check?: (others: readonly KeptDefinition[]) => void): void | Promise<void>
  remove(id: string): void | Promise<void>
}

/** A definition as it is kept. */
export interface KeptDefinition {
  readonly id: string
  readonly name: string
  /** Milliseconds since 1970. */
  readonly createdAt: number
  /** Whether it is to be connected. */
  readonly isWanted: boolean
  readonly transport: ToolServerTransport
  /** What may be shown of it. */
  readonly url: string | null
  readonly command: string | null
  /** How it is reached, secrets and all: JSON, or that encrypted. */
  readonly reach: string
}
