/**
 * The tool servers of a store, which this process connects.
 *
 * @module
 */

import type { ServerQuery, ServerReads } from '../../agents/server-reads.ts'
import type {
  CallRound,
  KeptDefinition,
  ServerCallOptions,
  ServerTool,
  SignIn,
  SignInAnswer,
  SignInPlace,
  ToolAnswers,
  ToolServer,
  ToolServerDefinition,
  ToolServerPlace,
  ToolServers,
} from '../../agents/tool-servers.ts'
import { ServableError } from '../../base/errors.ts'
import { misfit } from '../../base/validation.ts'
import { unrefed } from '../../base/wake.ts'
import { type AddressPolicy, checkAddress } from '../../web/address.ts'
import { parseDefinition, reachOf, type ServerAccess, shownOf } from './definition.ts'
import { callDeclining } from './elicitation.ts'
import { Grant, noSignIn, serverOfState, unknownState } from './grants.ts'
import { type LinkOptions, ServerLink } from './link.ts'
import { checkQuery } from './reads.ts'
import type { Seal } from './seal.ts'

/** The options of local tool servers. */
export interface LocalOptions
  extends ToolServerPlace,
    Pick<LinkOptions, 'limits' | 'openStdio' | 'retryMs' | 'maxRetryMs'> {
  readonly seal: Seal
  readonly maxServers: number
  readonly resolve: AddressPolicy['resolve']
}

/** Makes the tool servers. Nothing is read or connected before the first call. */
export function localToolServers(options: LocalOptions): ToolServers {
  return new LocalToolServers(options)
}

class LocalToolServers implements ToolServers {
  readonly #options: LocalOptions
  readonly #links = new Map<string, ServerLink>()
  readonly #policy: AddressPolicy
  /** Checks whether other processes have removed servers that are connected here. */
  #watch: ReturnType<typeof setInterval> | undefined

  constructor(options: LocalOptions) {
    this.#options = options
    this.#policy = { allow: options.policy.allow, resolve: options.resolve }
  }

  async list(): Promise<readonly ToolServer[]> {
    const links = await this.#sync()
    await soon(links.map(link => link.confirm()))
    return links.map(({ view }) => view)
  }

  async get(id: string): Promise<ToolServer> {
    const link = await this.#link(id)
    await soon([link.confirm()])
    return link.view
  }

  async add(body: ToolServerDefinition): Promise<ToolServer> {
    const definition = parseDefinition(body)
    const reach = reachOf(definition)
    await this.#check(reach)
    const id = crypto.randomUUID()
    const { name, autoConnect = true, needsApproval = false, elicitation } = definition
    const kept: KeptDefinition = {
      id,
      name,
      createdAt: Date.now(),
      isWanted: autoConnect,
      ...shownOf(reach),
      needsApproval,
      ...(elicitation === 'ask' && { elicitation }),
      ...(definition.auth?.type === 'authorization_code' && { isSignedIn: false }),
      reach: await this.#options.seal.close(JSON.stringify(reach), id),
    }
    await this.#options.store.put(kept, others => this.#checkRoom(name, others))
    const link = await this.#link(id)
    if (autoConnect) await link.connect()
    return link.view
  }

  async remove(id: string): Promise<ToolServer> {
    const { view } = await this.#link(id)
    await this.#options.store.remove(id)
    await this.#sync()
    return { ...view, status: 'disconnected', toolCount: 0, error: null, connectedAt: null }
  }

  async connect(id: string): Promise<ToolServer> {
    const link = await this.#link(id)
    await this.#want(link, true)
    link.disconnect()
    await link.connect()
    // Another call may have started a new attempt meanwhile.
    while (link.status === 'connecting') await link.connect()
    return link.view
  }

  async disconnect(id: string): Promise<ToolServer> {
    const link = await this.#link(id)
    await this.#want(link, false)
    link.disconnect()
    return link.view
  }

  async signIn(id: string, place: SignInPlace): Promise<SignIn> {
    return (await this.#grant(await this.#link(id))).begin(place)
  }

  async endSignIn(answer: SignInAnswer): Promise<ToolServer> {
    const id = serverOfState(answer.state)
    const link = (await this.#sync()).find(({ definition }) => definition.id === id)
    if (link === undefined) throw unknownState()
    await (await this.#grant(link)).finish(answer)
    return this.connect(id)
  }

  async tools(id?: string): Promise<readonly ServerTool[]> {
    const links = id === undefined ? await this.#sync() : [await this.#link(id)]
    // Servers that were found just now get a moment to connect.
    await soon(links.filter(({ isNew }) => isNew).map(link => link.connect()))
    return withinBounds(links.flatMap(toolsOf))
  }

  async needsApproval(name: string): Promise<boolean> {
    const [server, tool] = partsOf(name)
    return (await this.#linkOf(server))?.needsApproval(tool) ?? false
  }

  call(name: string, args: unknown, options: ServerCallOptions = {}): Promise<unknown> {
    return callDeclining(answers => this.round(name, args, answers, options))
  }

  async round(
    name: string,
    args: unknown,
    answers: ToolAnswers | undefined,
    options: ServerCallOptions = {},
  ): Promise<CallRound> {
    checkArguments(args)
    const [server, tool] = partsOf(name)
    const link = await this.#linkOf(server)
    if (link !== undefined) return link.call(tool, args ?? {}, answers, options)
    throw new ServableError('tool_not_found', `There is no tool server with a tool \`${name.slice(0, 200)}\``)
  }

  async read<Query extends ServerQuery>(
    server: string,
    query: Query,
    options: ServerCallOptions = {},
  ): Promise<ServerReads[Query['kind']]> {
    checkQuery(query)
    const link = await this.#linkOf(server)
    if (link !== undefined) return (await link.read(query, options)) as ServerReads[Query['kind']]
    throw new ServableError(
      'tool_server_not_found',
      `There is no tool server named \`${server.slice(0, 100)}\``,
    )
  }

  close(): void {
    if (this.#watch !== undefined) clearInterval(this.#watch)
    this.#watch = undefined
    for (const link of this.#links.values()) link.disconnect()
    this.#links.clear()
  }

  /**
   * Updates the links from the stored definitions, which other processes may change. The result has the order of the
   * definitions.
   */
  async #sync(): Promise<ServerLink[]> {
    const definitions = await this.#options.store.all()
    this.#watchOthers(definitions.length > 0)
    const ids = new Set(definitions.map(({ id }) => id))
    for (const [id, link] of this.#links) {
      if (ids.has(id)) continue
      link.disconnect()
      this.#links.delete(id)
    }
    return definitions.map(definition => {
      const known = this.#links.get(definition.id)
      const link = known ?? new ServerLink(definition, this.#linkOptions())
      const wasWanted = known?.definition.isWanted ?? false
      link.definition = definition
      this.#links.set(definition.id, link)
      if (definition.isWanted && !wasWanted) void link.connect()
      if (!definition.isWanted && wasWanted) link.disconnect()
      return link
    })
  }

  #watchOthers(isNeeded: boolean): void {
    if (!this.#options.store.isShared || isNeeded === (this.#watch !== undefined)) return
    if (this.#watch !== undefined) clearInterval(this.#watch)
    this.#watch = isNeeded ? unrefed(setInterval(() => void this.#syncQuietly(), WATCH_MS)) : undefined
  }

  /** Updates the links. If the store cannot be read now, the next turn reads it. */
  async #syncQuietly(): Promise<void> {
    try {
      await this.#sync()
    } catch {
      // No caller waits for this update.
    }
  }

  async #link(id: string): Promise<ServerLink> {
    const link = (await this.#sync()).find(({ definition }) => definition.id === id)
    if (link !== undefined) return link
    throw new ServableError('tool_server_not_found', 'There is no tool server with this id')
  }

  /** The link to the server of this name. */
  async #linkOf(server: string): Promise<ServerLink | undefined> {
    return server === ''
      ? undefined
      : (await this.#sync()).find(({ definition }) => definition.name === server)
  }

  async #want(link: ServerLink, isWanted: boolean): Promise<void> {
    if (link.definition.isWanted === isWanted) return
    const kept = await this.#options.store.change(link.definition.id, kept => ({ ...kept, isWanted }))
    if (kept !== undefined) link.definition = kept
  }

  /** The grant of a server. Throws `unsupported_operation` if it has no `auth`. */
  async #grant({ definition }: ServerLink): Promise<Grant> {
    const grant = this.#grantOf(definition.id, await this.#reach(definition))
    if (grant !== undefined) return grant
    throw noSignIn()
  }

  #grantOf(id: string, reach: ServerAccess): Grant | undefined {
    if (reach.transport === 'stdio' || reach.auth === undefined) return undefined
    const { limits, store, seal } = this.#options
    const { url, auth } = reach
    const options = { url, auth, policy: this.#policy, timeoutMs: limits.connectTimeoutMs }
    return new Grant(id, options, { store, seal })
  }

  #linkOptions(): LinkOptions {
    const { limits, openStdio, retryMs, maxRetryMs, onChange } = this.#options
    return {
      policy: this.#policy,
      limits,
      openStdio,
      retryMs,
      maxRetryMs,
      reach: async definition => {
        // Another process may have removed it meanwhile.
        const isKept = (await this.#options.store.all()).some(({ id }) => id === definition.id)
        if (!isKept) throw new ServableError('tool_server_not_found', 'The tool server was removed')
        return this.#reach(definition)
      },
      grantOf: (id, reach) => this.#grantOf(id, reach),
      onChange: ({ definition: { id, name }, status, error }) => onChange({ id, name, status, error }),
    }
  }

  async #reach({ id, reach: sealed }: KeptDefinition): Promise<ServerAccess> {
    const reach = JSON.parse(await this.#options.seal.open(sealed, id)) as ServerAccess
    // The service may have started with other allowed addresses and programs.
    await this.#check(reach)
    return reach
  }

  /** Throws if the deployment does not allow this way to reach a server. */
  async #check(reach: ServerAccess): Promise<void> {
    if (reach.transport !== 'stdio') return void (await checkAddress(new URL(reach.url), this.#policy))
    const { policy, openStdio } = this.#options
    if (openStdio === undefined) {
      throw misfit(
        'transport',
        "must be 'http' or 'sse': to start programs, use `new ToolServerManager({ stdio })`, with `stdio` from `servable/stdio`",
      )
    }
    if (policy.commands.includes(reach.command)) return
    throw misfit('command', 'is not allowed: add it to `admin.stdio.commands`')
  }

  #checkRoom(name: string, others: readonly KeptDefinition[]): void {
    if (others.some(other => other.name === name)) {
      throw new ServableError(
        'tool_server_exists',
        `There is already a tool server named \`${name}\`: remove it first`,
      )
    }
    if (others.length < this.#options.maxServers) return
    throw new ServableError(
      'too_many_tool_servers',
      `There are ${others.length} tool servers, which is the limit: remove one first`,
    )
  }
}

/** Milliseconds between two checks of a store that other processes write. */
const WATCH_MS = 10_000

/** Milliseconds for which a list waits for servers that have not answered yet. */
const SOON_MS = 1500

/** Waits for all of the work, but only for a short time. */
async function soon(work: readonly Promise<void>[]): Promise<void> {
  if (work.length === 0) return
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<void>(resolve => {
    timer = setTimeout(resolve, SOON_MS)
  })
  await Promise.race([Promise.all(work), late])
  clearTimeout(timer)
}

/** Most characters of all descriptions and schemas of a list. After that, tools are listed with their names only. */
const MAX_LIST = 8 * 1024 * 1024

function withinBounds(tools: readonly ServerTool[]): ServerTool[] {
  let length = 0
  return tools.map(tool => {
    if (length <= MAX_LIST) length += JSON.stringify(tool).length
    return length <= MAX_LIST ? tool : { ...tool, description: null, parameters: null }
  })
}

/** Throws `invalid_input` unless the arguments are a JSON object. */
function checkArguments(args: unknown): void {
  let text: string | undefined
  try {
    text = JSON.stringify(args ?? {})
  } catch {
    // The value has a cycle, or a value that JSON lacks.
  }
  if (text?.startsWith('{')) return
  throw new ServableError('invalid_input', 'The arguments of a tool must be a JSON object')
}

/** The server and the tool of `server.tool`. The server is empty if the name has none. */
function partsOf(name: string): readonly [server: string, tool: string] {
  const dot = name.indexOf('.')
  return [name.slice(0, Math.max(dot, 0)), name.slice(dot + 1)]
}

function toolsOf(link: ServerLink): ServerTool[] {
  const server = link.definition.name
  return link.tools.map(({ name, description, inputSchema, annotations, pageUri, visibility }) => ({
    name: `${server}.${name}`,
    description,
    parameters: inputSchema,
    annotations,
    server,
    needsApproval: link.needsApproval(name),
    ...(pageUri !== undefined && { pageUri }),
    ...(visibility && { visibility }),
  }))
}
