/**
 * Agent cards in the forms that clients of each generation read.
 *
 * @module
 */

import type { SecurityRequirement } from '../http/security.ts'
import {
  type CardSecuritySchemes,
  securityRequirementsV1,
  securitySchemesV1,
  securitySchemesV03,
} from './card-security.ts'
import { compact } from './wire/record.ts'

/** What a card says, apart from its form. */
export interface CardDescription {
  readonly name: string
  readonly description: string
  /** The agent's own version. */
  readonly version: string
  readonly provider: CardProvider | undefined
  /** Where and how the agent is reached; the first of a generation is its preferred one. */
  readonly interfaces: readonly CardInterface[]
  readonly capabilities: CardCapabilities
  readonly skills: readonly CardSkill[]
  /** Media types that every skill takes unless it says otherwise. */
  readonly inputModes: readonly string[]
  readonly outputModes: readonly string[]
  readonly securitySchemes: CardSecuritySchemes
  /** Any one of these lets a client in; none: no credentials are needed. */
  readonly security: readonly SecurityRequirement[]
  readonly documentationUrl: string | undefined
  readonly iconUrl: string | undefined
  /** JSON Web Signatures of the card, made by whoever holds the key (section 8.4). */
  readonly signatures: readonly CardSignature[]
}

/** Who offers the agent (section 4.4.2). */
export interface CardProvider {
  readonly organization: string
  readonly url: string
}

/** One address, binding and version (section 4.4.6). */
export interface CardInterface {
  readonly url: string
  readonly binding: 'JSONRPC' | 'HTTP+JSON'
  readonly version: '1.0' | '0.3'
}

/** What a server can do beyond answering (section 4.4.3). */
export interface CardCapabilities {
  readonly streaming: boolean
  readonly pushNotifications: boolean
  readonly extendedAgentCard: boolean
}

/** What an agent can do (section 4.4.5). */
export interface CardSkill {
  readonly id: string
  readonly name: string
  readonly description: string
  readonly tags: readonly string[]
  readonly examples?: readonly string[] | undefined
  /** Instead of the card's own. */
  readonly inputModes?: readonly string[] | undefined
  /** Instead of the card's own. */
  readonly outputModes?: readonly string[] | undefined
}

/** A JSON Web Signature of a card (section 4.4.7). */
export interface CardSignature {
  readonly protected: string
  readonly signature: string
  readonly header?: Readonly<Record<string, unknown>> | undefined
}

/** A card, ready for JSON. */
export type AgentCard = Readonly<Record<string, unknown>>

/**
 * Who is to read a card: clients of 1.0, of 0.2 and 0.3, or of all. A `hybrid` has the members of both forms; a
 * strict validator of either refuses those of the other.
 */
export type CardGeneration = '1.0' | '0.3' | 'hybrid'

/** How a card is written: 0.3 has two ways, of which the HTTP+JSON binding takes that of its `a2a.proto`. */
export type CardWriting = CardGeneration | '0.3-proto'

type Json = Record<string, unknown>

const FORMS: Readonly<Record<CardWriting, (card: CardDescription) => AgentCard>> = {
  '1.0': cardV1,
  '0.3': cardV03,
  '0.3-proto': cardV03Proto,
  hybrid: hybridCard,
}

/** Writes a card in the form of that generation. */
export function encodeCard(card: CardDescription, writing: CardWriting): AgentCard {
  return FORMS[writing](card)
}

/** What both forms say in the same words. */
function common(card: CardDescription): Json {
  const { documentationUrl, iconUrl, signatures } = card
  return {
    name: card.name,
    description: card.description,
    version: card.version,
    ...(card.provider && { provider: { ...card.provider } }),
    ...compact({ documentationUrl, iconUrl, signatures }),
    defaultInputModes: card.inputModes,
    defaultOutputModes: card.outputModes,
    skills: card.skills.map(skill => compact({ ...skill })),
  }
}

/** The card of 1.0 (section 4.4.1). Interfaces of 0.3 stand in it after those of 1.0. */
function cardV1(card: CardDescription): Json {
  return {
    ...common(card),
    supportedInterfaces: [...of(card, '1.0'), ...of(card, '0.3')].map(({ url, binding, version }) => ({
      url,
      protocolBinding: binding,
      protocolVersion: version,
    })),
    capabilities: { ...card.capabilities },
    ...securityOf({
      securitySchemes: securitySchemesV1(card.securitySchemes),
      securityRequirements: securityRequirementsV1(card.security),
    }),
  }
}

/** The card of 0.2 and 0.3 (specification 0.3.0, section 5.5). Its address is that of the preferred interface. */
function cardV03(card: CardDescription): Json {
  const { streaming, pushNotifications, extendedAgentCard } = card.capabilities
  const interfaces = of(card, '0.3').map(({ url, binding }) => ({ url, transport: binding }))
  const [preferred] = interfaces
  return {
    ...common(card),
    protocolVersion: '0.3.0',
    ...(preferred && { url: preferred.url, preferredTransport: preferred.transport }),
    additionalInterfaces: interfaces,
    capabilities: { streaming, pushNotifications },
    supportsAuthenticatedExtendedCard: extendedAgentCard,
    ...securityOf({ securitySchemes: securitySchemesV03(card.securitySchemes), security: card.security }),
  }
}

/** The same for the HTTP+JSON binding of 0.3: it differs in how security is told. */
function cardV03Proto(card: CardDescription): Json {
  return {
    ...cardV03(card),
    ...securityOf({
      securitySchemes: securitySchemesV1(securitySchemesV03(card.securitySchemes) as CardSecuritySchemes),
      security: securityRequirementsV1(card.security),
    }),
  }
}

/** Both at once. They share names where they say the same, and the names of security schemes. */
function hybridCard(card: CardDescription): Json {
  const [old, now] = [cardV03(card), cardV1(card)]
  return { ...old, ...now, ...securityOf({ securitySchemes: hybridSchemes(card.securitySchemes) }) }
}

function hybridSchemes(schemes: CardSecuritySchemes): Json {
  const now = securitySchemesV1(schemes)
  return Object.fromEntries(
    Object.entries(securitySchemesV03(schemes)).map(([name, old]) => [name, { ...old, ...now[name] }]),
  )
}

function of(card: CardDescription, version: CardInterface['version']): CardInterface[] {
  return card.interfaces.filter(entry => entry.version === version)
}

/** Security members that say something. */
function securityOf(members: Json): Json {
  return Object.fromEntries(
    Object.entries(members).filter(([, value]) => Object.keys(value as object).length > 0),
  )
}
