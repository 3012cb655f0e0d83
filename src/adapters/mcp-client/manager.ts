import { isForModels } from '../../agents/app-page.ts'
import { EventBus } from '../../agents/bus.ts'
import { defaultRegistry } from '../../agents/registry.ts'
import type { Yielded } from '../../agents/run-types.ts'
import { serverPage } from '../../agents/server-page.ts'
import type {
  ServerContent,
  ServerPrompts,
  ServerPromptText,
  ServerResources,
} from '../../agents/server-reads.ts'
import {
  needsApproval as isNeeded,
  type NeedsApproval,
  type Tool,
  type ToolContext,
} from '../../agents/tool.ts'
import type {
  ServerCallOptions,
  ToolApprovals,
  ToolServerPlace,
  ToolServerSource,
  ToolServers,
} from '../../agents/tool-servers.ts'
import { nameResolver } from '../../base/environment.ts'
import { ServableError } from '../../base/errors.ts'
import type { ConnectionLimits, OpenStdio } from './connection.ts'
import { type AskingContext, callAsking } from './elicitation.ts'
import { localToolServers } from './local.ts'
import { createSeal } from './seal.ts'

/** The options of a {@link ToolServerManager}. */
export interface ToolServerManagerOptions {
  /** Starts programs: `stdio` of `servable/stdio`, on Node, Bun and Deno. `admin.stdio.commands` lists the allowed programs. */
  readonly stdio?: OpenStdio
  /**
   * Encrypts the stored connection data of a server (the whole address, headers, arguments, variables). A key is 32 bytes in
   * base64. With several keys, the first one encrypts, and all of them decrypt. Default: the data is stored without
   * encryption.
   */
  readonly encryptionKey?: string | readonly string[]
  /** Most tool servers. Default: 100. */
  readonly maxServers?: number
  /** Most tools of one server, and most resources and prompts in a list. Further ones are left out. Default: 1,000. */
  readonly maxTools?: number
  /** Most bytes of one answer, and of a stream in a minute. Default: 4,194,304. */
  readonly maxBytes?: number
  /** Most milliseconds for connecting. Default: 10,000. */
  readonly connectTimeoutMs?: number
  /** Most milliseconds for a call. Default: 60,000. */
  readonly callTimeoutMs?: number
  /** Milliseconds before the manager tries a lost server again. Each further try waits twice as long. Default: 1,000. */
  readonly retryMs?: number
  /** Most milliseconds between two tries. Default: 60,000. */
  readonly maxRetryMs?: number
  /** `false` hides this manager from `admin: true`. Default: true. */
  readonly register?: boolean
}

const DEFAULTS = {
  maxServers: 100,
  maxTools: 1000,
  maxBytes: 4 * 1024 * 1024,
  connectTimeoutMs: 10_000,
  callTimeoutMs: 60_000,
  retryMs: 1000,
  maxRetryMs: 60_000,
} as const

/** How an agent uses tools of tool servers. */
export interface ServerToolOptions {
  /**
   * The tools whose calls a person must approve: all, those of these names (`server.tool`), or those for which the function
   * returns true. Default: those that the definition of the server names.
   */
  readonly needsApproval?:
    | ToolApprovals
    | ((toolName: string, args: unknown, context: ToolContext) => boolean | Promise<boolean>)
    | undefined
  /** Whether `tools()` also gives those that only pages may call. Default: false, so that no model gets them. */
  readonly forPages?: boolean | undefined
}

/** Whether the options require an approval of a tool. */
function approvalOf(name: string, needs: ServerToolOptions['needsApproval'] = false): NeedsApproval<unknown> {
  if (typeof needs === 'function') return (args, context) => needs(name, args, context)
  return typeof needs === 'boolean' ? needs : needs.includes(name)
}

const OTHERS = ['stdio', 'encryptionKey', 'register']

/**
 * Tool servers (MCP) that can be added while the service runs: over `{prefix}/admin/mcp`, or with `servers`. The `state` of the
 * handler that has the manager stores their definitions. Their tools are called `server.tool`.
 *
 * @example
 * const manager = new ToolServerManager()
 * new Agent({
 *   name: 'weather',
 *   run: async function* (input, { callTool }) {
 *     yield String(yield* callTool(manager.tool('weather.forecast'), { city: textOf(input) }))
 *   },
 * })
 * export default { fetch: createHandler({ admin: { manager, authenticate } }) }
 */
export class ToolServerManager implements ToolServerSource {
  /** Emits `admin.act` for each action over the admin routes, with who did it. */
  readonly events: EventBus = new EventBus()
  readonly #limits: Required<Omit<ToolServerManagerOptions, 'stdio' | 'encryptionKey' | 'register'>> &
    ConnectionLimits
  readonly #options: ToolServerManagerOptions
  readonly #seal: ReturnType<typeof createSeal>
  #servers: ToolServers | undefined

  /** Throws `invalid_options`, which names the invalid option. */
  constructor(options: ToolServerManagerOptions = {}) {
    checkOptions(options)
    const { encryptionKey: keys = [] } = options
    this.#options = options
    this.#limits = { ...DEFAULTS, ...given(options) }
    this.#seal = createSeal(typeof keys === 'string' ? [keys] : keys, 'encryptionKey')
    if (options.register === false) return
    const registry = defaultRegistry()
    // A hot reload replaces the manager. Code that still has the old one may use it.
    registry.toolServers?.close?.()
    registry.toolServers = this
  }

  /** Lists, adds, removes, connects and disconnects. Throws `invalid_options` before a handler has the manager. */
  get servers(): ToolServers {
    if (this.#servers !== undefined) return this.#servers
    throw new ServableError(
      'invalid_options',
      'This `ToolServerManager` has no state yet: give it to `createHandler` as `admin.manager`',
    )
  }

  /**
   * The tool `server.tool`. Each call looks the tool up, so the tool need not exist yet. Its calls need an approval if the
   * definition of the server or the options name it.
   */
  tool(name: string, { needsApproval }: ServerToolOptions = {}): Tool {
    if (typeof name !== 'string' || !name.includes('.'))
      throw invalid('`tool` needs the name of a tool: `server.tool`')
    const approval = approvalOf(name, needsApproval)
    return {
      name,
      page: serverPage(() => this.servers, name),
      needsApproval: async (args, context) =>
        (await this.servers.needsApproval(name)) || isNeeded({ needsApproval: approval }, args, context),
      execute: (args, { signal, traceparent }) => this.servers.call(name, args, { signal, traceparent }),
    }
  }

  /**
   * Calls `server.tool` in the body of an agent, which is asked what the tool asks, if the definition of its server has
   * `elicitation: 'ask'`. Each question is a request of the kind `question`; the answer null declines it. A call asks at most 3
   * questions. Throws as `context.callTool` and `context.ask` do.
   *
   * @example
   * const ticket = yield* manager.call(context, 'travel.book', { city: 'Oslo' })
   */
  call(
    context: AskingContext,
    name: string,
    args: unknown,
    options?: ServerToolOptions,
  ): AsyncGenerator<Yielded, unknown> {
    return callAsking(this.servers, this.tool(name, options), args, context)
  }

  /**
   * All tools of the servers that are connected now, for an agent whose model chooses among them. Calls of a tool need an
   * approval if the definition of its server or the options name it.
   */
  async tools({ needsApproval, forPages = false }: ServerToolOptions = {}): Promise<Tool[]> {
    const found = (await this.servers.tools()).filter(each => forPages || isForModels(each))
    return found.map(({ name, pageUri, ...server }) => {
      const { page, ...tool } = this.tool(name)
      return {
        ...{ ...tool, annotations: server.annotations, visibility: server.visibility },
        ...(pageUri !== undefined && { page }),
        needsApproval: server.needsApproval || approvalOf(name, needsApproval),
        description: server.description ?? undefined,
        parameters: server.parameters,
      }
    })
  }

  /**
   * The resources of the server of this name, and the patterns of those that it does not list. Throws `tool_server_not_found` and
   * `tool_server_failed`.
   */
  resources(server: string, options?: ServerCallOptions): Promise<ServerResources> {
    return this.servers.read(server, { kind: 'resources' }, options)
  }

  /**
   * Reads a resource, at most `maxBytes`. Throws `tool_failed` if the server refuses, and the errors of `resources`. Nothing is
   * recorded: a run that goes on reads it again, unless a step of the run does it.
   *
   * @example
   * const [guide] = yield* context.step('guide', ({ signal }) => manager.readResource('docs', 'docs://guide', { signal }))
   */
  readResource(server: string, uri: string, options?: ServerCallOptions): Promise<readonly ServerContent[]> {
    return this.servers.read(server, { kind: 'resource', uri }, options)
  }

  /** The prompts of the server of this name. Throws the errors of `resources`. */
  prompts(server: string, options?: ServerCallOptions): Promise<ServerPrompts> {
    return this.servers.read(server, { kind: 'prompts' }, options)
  }

  /** The messages of a prompt, with its arguments filled in. Throws the errors of `readResource`. */
  prompt(
    server: string,
    name: string,
    args?: Readonly<Record<string, string>>,
    options?: ServerCallOptions,
  ): Promise<ServerPromptText> {
    return this.servers.read(server, { kind: 'prompt', name, args }, options)
  }

  /** Ends all connections and programs. They start again when they are needed. */
  close(): void {
    this.#servers?.close?.()
  }

  use(servers: ToolServers): void {
    if (servers !== this.#servers) this.close()
    this.#servers = servers
  }

  open(place: ToolServerPlace): ToolServers {
    return localToolServers({
      ...place,
      ...this.#limits,
      limits: this.#limits,
      seal: this.#seal,
      openStdio: this.#options.stdio,
      resolve: nameResolver(),
    })
  }
}

function given(options: ToolServerManagerOptions): Partial<typeof DEFAULTS> {
  const members = Object.entries(options).filter(([name, value]) => name in DEFAULTS && value !== undefined)
  return Object.fromEntries(members)
}

function checkOptions(options: ToolServerManagerOptions): void {
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined) continue
    if (OTHERS.includes(name)) continue
    if (!(name in DEFAULTS)) throw invalid(`\`${name}\` is not an option of a tool-server manager`)
    const isCount = Number.isInteger(value) && value >= 1 && value < 2 ** 31
    if (!isCount) throw invalid(`\`${name}\` must be a whole number of 1 or more`)
  }
  if (options.stdio === undefined || typeof options.stdio === 'function') return
  throw invalid('`stdio` must be the function of `servable/stdio`')
}

function invalid(message: string): ServableError {
  return new ServableError('invalid_options', message)
}
