/**
 * Registers agents, teams and workflows by name. There is one default registry per process, and there may be others.
 *
 * @module
 */

import { isProduction } from '../base/environment.ts'
import { ServableError } from '../base/errors.ts'
import type { AppPage } from './app-page.ts'
import type { EventBus } from './bus.ts'
import type { InputHints, Kind, Servable, ServableAgent, ServableTeam, ServableWorkflow } from './contract.ts'
import type { ToolServerSource } from './tool-servers.ts'

/** The servable type of each kind. */
export interface ServableOf {
  agent: ServableAgent
  team: ServableTeam
  workflow: ServableWorkflow
}

/** All names by kind, each list in the order of registration. */
export interface RegistryNames {
  readonly agents: string[]
  readonly teams: string[]
  readonly workflows: string[]
}

/** Every kind, in the order of lists. */
export const KINDS: readonly Kind[] = ['agent', 'team', 'workflow']

/** Longest name in characters, so that a name fits a path, a log line and a metric label. */
export const MAX_NAME_LENGTH = 200

/** The most names that get a warning. */
const MAX_WARNED = 100

/**
 * Holds servables by kind and name. A second one of the same kind and name replaces the first, as a hot reload does. The first
 * replacement of a name writes a warning to the console, since two agents with one name are mostly a mistake. Two in one turn of
 * the event loop, as from modules that are loaded together, are no reload: outside production the second one throws
 * `invalid_options`.
 */
export class Registry {
  /** Names whose replacement has been logged. */
  readonly #warned = new Set<string>()
  /** Names that were registered in this turn of the event loop. */
  readonly #fresh = new Set<string>()
  readonly #entries: ReadonlyMap<Kind, Map<string, Servable>> = new Map(KINDS.map(kind => [kind, new Map()]))
  /** The latest manager of tool servers. */
  toolServers: ToolServerSource | undefined

  /** Adds or replaces a servable. Throws `invalid_options` for a wrong `kind` or `name`, and for two of one name in one turn. */
  register(servable: Servable): void {
    checkServable(servable, '`register`')
    const { kind, name } = servable
    const before = this.#of(kind).get(name)
    if (before !== undefined && before !== servable) this.#replaces(kind, name)
    this.#of(kind).set(name, servable)
    if (this.#fresh.size === 0) queueMicrotask(() => this.#fresh.clear())
    this.#fresh.add(`${kind}:${name}`)
  }

  /** Removes a name. Returns whether there was one. */
  unregister(kind: Kind, name: string): boolean {
    return this.#of(kind).delete(name)
  }

  /** The servable of that kind and name, if there is one. */
  get<K extends Kind>(kind: K, name: string): ServableOf[K] | undefined {
    // `register` files every servable under its own kind.
    return this.#of(kind).get(name) as ServableOf[K] | undefined
  }

  /** All servables of a kind. */
  all<K extends Kind>(kind: K): ServableOf[K][] {
    return [...this.#of(kind).values()] as ServableOf[K][]
  }

  /** All names by kind. */
  list(): RegistryNames {
    return {
      agents: [...this.#of('agent').keys()],
      teams: [...this.#of('team').keys()],
      workflows: [...this.#of('workflow').keys()],
    }
  }

  /** Warns once per name: code that makes an agent for every request would fill the console. */
  #replaces(kind: Kind, name: string): void {
    const key = `${kind}:${name}`
    if (this.#fresh.has(key) && !isProduction()) {
      throw new ServableError(
        'invalid_options',
        `There are two ${kind}s named \`${name}\`: rename one of them, or make it with \`register: false\``,
      )
    }
    if (this.#warned.has(key) || this.#warned.size >= MAX_WARNED) return
    this.#warned.add(key)
    const message =
      `A second ${kind} named \`${name}\` replaced the first. After a hot reload this is normal; ` +
      'otherwise rename one of them, or make it with `register: false`'
    console.warn(JSON.stringify({ level: 'warn', event: 'registry.replaced', kind, name, message }))
  }

  #of(kind: Kind): Map<string, Servable> {
    const entries = this.#entries.get(kind)
    if (entries === undefined)
      throw new ServableError('invalid_options', `\`${kind}\` is not a kind: use agent, team or workflow`)
    return entries
  }
}

const GLOBAL = Symbol.for('servable.registry')

/** The registry of the process, which first-party agents, teams and workflows join when they are constructed. */
export function defaultRegistry(): Registry {
  const scope = globalThis as { [GLOBAL]?: Registry }
  scope[GLOBAL] ??= new Registry()
  return scope[GLOBAL]
}

/** Where a first-party servable registers: `true` in the default registry, `false` nowhere, or in a registry of your own. */
export type RegisterOption = boolean | Registry

/** The options that an agent, a team and a workflow share. */
export interface SharedConfig {
  /** A schema of the data that it takes, shown to clients as `inputSchema`. The service checks no input against it. */
  readonly input?: unknown
  /** Example prompts for the pages of clients: 1 to 20 texts of 1 to 2,000 characters. */
  readonly examples?: readonly string[]
  /** A page that shows its results, made by `appPage` of `servable/mcp`. Default: none. */
  readonly page?: AppPage
  /** `false` keeps it out of the registry. A registry of your own replaces the default one. Default: the default registry. */
  readonly register?: RegisterOption
  /** The bus that gets its events. Default: a new one. */
  readonly events?: EventBus
}

/** Registers `servable` as its `register` option requires. */
export function registerAs(servable: Servable, option: RegisterOption = true): void {
  checkServable(servable, `${servable.kind} \`${String(servable.name)}\``)
  if (option === false) return
  const registry = option === true ? defaultRegistry() : option
  registry.register(servable)
}

/** Throws `invalid_options` with `where` in its text, unless `value` can be served under its own kind and name. */
export function checkServable(value: unknown, where: string): asserts value is Servable {
  const { kind, name } = Object(value) as Partial<Servable>
  if (kind === undefined || !KINDS.includes(kind)) {
    const text =
      "`kind` must be agent, team or workflow; other agents go through `toAgent` of 'servable/adapters'"
    throw new ServableError('invalid_options', `${where}: ${text}`)
  }
  checkName(name, where)
  checkRunnable(value, where)
}

/** Throws unless the constructor of a first-party servable gets an object with valid examples and a page of `appPage`. */
export function checkConfig(config: unknown, what: string): void {
  if (typeof config !== 'object' || config === null) {
    throw new ServableError('invalid_options', `\`new ${what}\` needs an object with a \`name\``)
  }
  const { examples, page } = config as InputHints
  if (page !== undefined && typeof Object(page).read !== 'function')
    throw new ServableError('invalid_options', `\`new ${what}\`: \`page\` must be made by \`appPage\``)
  const kept = examplesIn(examples).length
  if (examples === undefined || (kept > 0 && kept === examples.length)) return
  throw new ServableError(
    'invalid_options',
    `\`new ${what}\`: \`examples\` must be 1 to ${MAX_EXAMPLES} texts of 1 to ${MAX_EXAMPLE_LENGTH} characters`,
  )
}

/** The most examples of a servable, and the most characters of one. */
const MAX_EXAMPLES = 20
const MAX_EXAMPLE_LENGTH = 2000

/** The valid examples of a value from other code. */
export function examplesIn(examples: unknown): string[] {
  const isExample = (text: unknown) =>
    typeof text === 'string' && text !== '' && text.length <= MAX_EXAMPLE_LENGTH
  return Array.isArray(examples) ? examples.filter(isExample).slice(0, MAX_EXAMPLES) : []
}

/** Throws unless `name` is a valid name. */
export function checkName(name: unknown, where: string): asserts name is string {
  const isName = typeof name === 'string' && name.length > 0 && name.length <= MAX_NAME_LENGTH
  // One or two dots are a path segment of their own (RFC 3986, section 5.2.4), so such a name would never arrive.
  if (isName && name !== '.' && name !== '..') return
  throw new ServableError(
    'invalid_options',
    `${where}: \`name\` must be text of 1 to ${MAX_NAME_LENGTH} characters`,
  )
}

/** Throws unless `value` has one of the two methods of the contract. */
export function checkRunnable(value: unknown, where: string): void {
  const { run, stream } = Object(value) as Partial<Servable>
  if (typeof run === 'function' || typeof stream === 'function') return
  throw new ServableError('invalid_options', `${where}: needs a \`run\` or a \`stream\` method`)
}
