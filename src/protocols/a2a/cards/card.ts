/**
 * Makes agent cards (specification, sections 4.4.1 and 8) from agents, with or without a server.
 *
 * @module
 */

import type { Kind } from '../../../agents/contract.ts'
import { ServableError } from '../../../base/errors.ts'
import { checkRequirements, type SecurityRequirement } from '../../../http/security/security.ts'
import {
  type AgentCard,
  type CardDescription,
  type CardGeneration,
  type CardInterface,
  type CardSignature,
  type CardSkill,
  encodeCard,
} from './card-forms.ts'
import type { CardSecuritySchemes } from './card-security.ts'
import type { AgentExtension } from './extensions.ts'
import { BASIC_MODES } from './modes.ts'
import { skillId } from './skills.ts'

/** The members of an agent that a card describes. Every servable has this shape. */
export interface CardSubject {
  readonly name: string
  readonly kind?: Kind | undefined
  readonly description?: string | undefined
  /** Become the tags of the agent's skill. `vision` and `audio` add image and audio types to the skill's input modes. */
  readonly capabilities?: readonly string[] | undefined
  /** Example prompts. */
  readonly examples?: readonly string[] | undefined
}

/** The members of a card that do not come from its agents. */
export interface CardOptions {
  /** The absolute address of the agent: the JSON-RPC endpoint, and the base of HTTP+JSON. */
  readonly url: string
  /** The organization that offers the agent. The default of its `url` is the agent's address, because cards require one. */
  readonly provider?: { readonly organization: string; readonly url?: string | undefined } | undefined
  /** The agent's own version. Default: `1.0.0`. */
  readonly version?: string | undefined
  /** Default: the name of the only agent, else the provider's organization, else `Agents`. */
  readonly name?: string | undefined
  /** Default: the description of the only agent, else the names of all agents. */
  readonly description?: string | undefined
  /** Media types that agents accept. Default: text and JSON. */
  readonly inputModes?: readonly string[] | undefined
  readonly outputModes?: readonly string[] | undefined
  /** The bindings that are served. Default: both, with JSON-RPC preferred. */
  readonly bindings?: readonly CardInterface['binding'][] | undefined
  /** The tenant that clients of 1.0 name in each request. Default: none. */
  readonly tenant?: string | undefined
  /** Extensions of the protocol. Default: none. */
  readonly extensions?: readonly AgentExtension[] | undefined
  /** Whether answers can be streamed. Default: true. */
  readonly streaming?: boolean | undefined
  /** Whether updates are pushed to webhooks. Default: false. */
  readonly pushNotifications?: boolean | undefined
  /** Whether authenticated clients can read an extended card. Default: false. */
  readonly extendedAgentCard?: boolean | undefined
  /** Security schemes by name, in the form of OpenAPI 3. */
  readonly securitySchemes?: CardSecuritySchemes | undefined
  /** Security requirements. A client has to satisfy one of them, with all schemes of that requirement. */
  readonly security?: readonly SecurityRequirement[] | undefined
  readonly documentationUrl?: string | undefined
  readonly iconUrl?: string | undefined
  /** Signatures of the finished card. */
  readonly signatures?: readonly CardSignature[] | undefined
}

/** The fields in which the card of known users, or of a tenant, may differ from the open card. */
export type CardText = Partial<
  Pick<
    CardOptions,
    | 'name'
    | 'description'
    | 'version'
    | 'provider'
    | 'documentationUrl'
    | 'iconUrl'
    | 'inputModes'
    | 'outputModes'
  >
>

/** The form of the card. */
export interface CardForm {
  /** Protocol generations that the card is for. Default: `hybrid`, for clients of 0.2, 0.3 and 1.0. */
  readonly generation?: CardGeneration | undefined
}

/** Media types that a capability adds to an agent's input modes. */
const MODES_OF_CAPABILITY: ReadonlyMap<string, readonly string[]> = new Map([
  ['vision', ['image/png', 'image/jpeg', 'image/webp', 'image/gif']],
  ['audio', ['audio/mpeg', 'audio/wav']],
])

/**
 * Makes the card of one agent, without a server. Throws `invalid_options` if the address is not absolute.
 *
 * @example
 * const card = agentCard(echo, { url: 'https://example.com/a2a', provider: { organization: 'Example' } })
 */
export function agentCard(agent: CardSubject, options: CardOptions & CardForm): AgentCard {
  return encodeCard(describeCard([agent], options), options.generation ?? 'hybrid')
}

/**
 * Makes one card for several agents, with one skill per agent. The keys of the map are the agents' names. A client selects
 * an agent with `metadata.agentName` in its message. Throws `invalid_options` for an empty map or a wrong address.
 */
export function agentCards(
  agents: Readonly<Record<string, Omit<CardSubject, 'name'>>>,
  options: CardOptions & CardForm,
): AgentCard {
  const subjects = Object.entries(agents).map(([name, agent]) => subjectOf(name, agent))
  return encodeCard(describeCard(subjects, options), options.generation ?? 'hybrid')
}

function subjectOf(
  name: string,
  { kind, description, capabilities, examples }: Omit<CardSubject, 'name'>,
): CardSubject {
  return { name, kind, description, capabilities, examples }
}

/** The content of the card of these agents. {@link encodeCard} writes it. */
export function describeCard(agents: readonly CardSubject[], options: CardOptions): CardDescription {
  const skills = agents.map(skillOf)
  const [first] = skills
  if (first === undefined) throw new ServableError('invalid_options', 'A card needs at least one agent')
  const url = addressOf(options.url)
  const { provider, securitySchemes = {}, security = [], signatures = [] } = options
  checkRequirements(security, securitySchemes, 'security')
  const only = skills.length === 1 ? first : undefined
  const names = skills.map(({ name }) => name).join(', ')
  return {
    name: options.name ?? only?.name ?? provider?.organization ?? 'Agents',
    description: options.description ?? only?.description ?? `Agents: ${names}`,
    version: options.version ?? '1.0.0',
    provider: provider && { organization: provider.organization, url: provider.url ?? url },
    interfaces: interfacesOf(url, options),
    capabilities: {
      streaming: options.streaming ?? true,
      pushNotifications: options.pushNotifications ?? false,
      extendedAgentCard: options.extendedAgentCard ?? false,
      extensions: options.extensions ?? [],
    },
    skills,
    inputModes: options.inputModes ?? BASIC_MODES,
    outputModes: options.outputModes ?? BASIC_MODES,
    securitySchemes,
    security,
    documentationUrl: options.documentationUrl,
    iconUrl: options.iconUrl,
    signatures,
  }
}

/**
 * The interfaces of a card. All have the same address. Clients of 0.3 add `/v1/message:send` to it, clients of 1.0 add
 * `/message:send`. Clients of 0.3 name no tenant, so the address of their interfaces has it. Below the root only HTTP+JSON is
 * served there.
 */
function interfacesOf(
  url: string,
  { bindings = ['JSONRPC', 'HTTP+JSON'], tenant }: CardOptions,
): CardInterface[] {
  const own = bindings.map(binding => ({ url, binding, version: '1.0', tenant }) as const)
  const below = tenant === undefined ? url : `${url}/${encodeURIComponent(tenant)}`
  const isRoot = tenant !== undefined && new URL(url).pathname === '/'
  const older = bindings.filter(binding => !isRoot || binding === 'HTTP+JSON')
  return [...own, ...older.map(binding => ({ url: below, binding, version: '0.3' }) as const)]
}

function skillOf({ name, kind = 'agent', description, capabilities = [], examples }: CardSubject): CardSkill {
  const modes = capabilities.flatMap(capability => MODES_OF_CAPABILITY.get(capability) ?? [])
  return {
    id: skillId({ kind, name }),
    name,
    description: description || `The ${kind} ${name}`,
    tags: capabilities.length > 0 ? capabilities : [kind],
    examples,
    inputModes: modes.length > 0 ? [...BASIC_MODES, ...new Set(modes)] : undefined,
  }
}

/** Returns the address without a slash at its end. Throws `invalid_options` if it is not an absolute HTTP address. */
function addressOf(url: string): string {
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
    throw new ServableError('invalid_options', '`url` must be an absolute http or https address')
  }
  return url.replace(/(?<!\/)\/+$/, '')
}
