/**
 * Writes agent cards in the forms that clients of each protocol generation read.
 *
 * @module
 */

import type { SecurityRequirement } from '../../../http/security/security.ts'
import { compact } from '../wire/record.ts'
import {
  type CardSecuritySchemes,
  securityRequirementsV1,
  securitySchemesV1,
  securitySchemesV03,
} from './card-security.ts'
import type { AgentExtension } from './extensions.ts'

/** The content of a card, independent of its form. */
export interface CardDescription {
  readonly name: string
  readonly description: string
  /** The agent's own version. */
  readonly version: string
  readonly provider: CardProvider | undefined
  /** The addresses of the agent. The first interface of a generation is the preferred one. */
  readonly interfaces: readonly CardInterface[]
  readonly capabilities: CardCapabilities
  readonly skills: readonly CardSkill[]
  /** Media types that every skill accepts unless it states its own. */
  readonly inputModes: readonly string[]
  readonly outputModes: readonly string[]
  readonly securitySchemes: CardSecuritySchemes
  /** Security requirements. A client has to satisfy one of them. An empty list means that no credentials are needed. */
  readonly security: readonly SecurityRequirement[]
  readonly documentationUrl: string | undefined
  readonly iconUrl: string | undefined
  /** JSON Web Signatures of the card (section 8.4). */
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
  /** What clients of 1.0 name in each request. */
  readonly tenant?: string | undefined
}

/** What a server can do besides answering messages (section 4.4.3). */
export interface CardCapabilities {
  readonly streaming: boolean
  readonly pushNotifications: boolean
  readonly extendedAgentCard: boolean
  readonly extensions: readonly AgentExtension[]
}

/** What an agent can do (section 4.4.5). */
export interface CardSkill {
  readonly id: string
  readonly name: string
  readonly description: string
  readonly tags: readonly string[]
  readonly examples?: readonly string[] | undefined
  /** Replaces the card's input modes. */
  readonly inputModes?: readonly string[] | undefined
  /** Replaces the card's output modes. */
  readonly outputModes?: readonly string[] | undefined
}

/** A JSON Web Signature of a card (section 4.4.7). */
export interface CardSignature {
  readonly protected: string
  readonly signature: string
  readonly header?: Readonly<Record<string, unknown>> | undefined
}

/** A card as an object that can be written as JSON. */
export type AgentCard = Readonly<Record<string, unknown>>

/**
 * The protocol generations that a card is for: 1.0, 0.2 and 0.3, or all. A `hybrid` card has the members of both forms. A
 * strict validator of one form refuses the members of the other.
 */
export type CardGeneration = '1.0' | '0.3' | 'hybrid'

/** How a card is written. Version 0.3 has two forms. The HTTP+JSON binding uses the form of its `a2a.proto`. */
export type CardWriting = CardGeneration | '0.3-proto'

type Json = Record<string, unknown>

const FORMS: Readonly<Record<CardWriting, (card: CardDescription) => AgentCard>> = {
  '1.0': cardV1,
  '0.3': cardV03,
  '0.3-proto': cardV03Proto,
  hybrid: hybridCard,
}

/** Writes a card in the given form. */
export function encodeCard(card: CardDescription, writing: CardWriting): AgentCard {
  return FORMS[writing](card)
}

function extensionsOf({ capabilities }: CardDescription): Json[] {
  return capabilities.extensions.map(extension => compact({ ...extension }))
}

/** The members that both forms share. */
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

/** The card of 1.0 (section 4.4.1). It lists interfaces of 0.3 after those of 1.0. */
function cardV1(card: CardDescription): Json {
  return {
    ...common(card),
    supportedInterfaces: [...of(card, '1.0'), ...of(card, '0.3')].map(
      ({ url, binding, version, tenant }) => ({
        url,
        protocolBinding: binding,
        protocolVersion: version,
        ...(tenant !== undefined && { tenant }),
      }),
    ),
    capabilities: compact({ ...card.capabilities, extensions: extensionsOf(card) }),
    ...securityOf({
      securitySchemes: securitySchemesV1(card.securitySchemes),
      securityRequirements: securityRequirementsV1(card.security),
    }),
  }
}

/** The card of 0.2 and 0.3 (specification 0.3.0, section 5.5). Its `url` is the address of the preferred interface. */
function cardV03(card: CardDescription): Json {
  const { streaming, pushNotifications, extendedAgentCard } = card.capabilities
  const interfaces = of(card, '0.3').map(({ url, binding }) => ({ url, transport: binding }))
  const [preferred] = interfaces
  return {
    ...common(card),
    protocolVersion: '0.3.0',
    ...(preferred && { url: preferred.url, preferredTransport: preferred.transport }),
    additionalInterfaces: interfaces,
    capabilities: compact({ streaming, pushNotifications, extensions: extensionsOf(card) }),
    supportsAuthenticatedExtendedCard: extendedAgentCard,
    ...securityOf({ securitySchemes: securitySchemesV03(card.securitySchemes), security: card.security }),
  }
}

/** The card for the HTTP+JSON binding of 0.3. Only the security members differ. */
function cardV03Proto(card: CardDescription): Json {
  return {
    ...cardV03(card),
    ...securityOf({
      securitySchemes: securitySchemesV1(securitySchemesV03(card.securitySchemes) as CardSecuritySchemes),
      security: securityRequirementsV1(card.security),
    }),
  }
}

/** A card with the members of both forms. The forms share names for equal content, and the names of security schemes. */
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

/** The security members that are not empty. */
function securityOf(members: Json): Json {
  return Object.fromEntries(
    Object.entries(members).filter(([, value]) => Object.keys(value as object).length > 0),
  )
}
