/**
 * Selects the members of a card that are signed (section 8.4.1 of A2A 1.0).
 *
 * @module
 */

import { canonicalJson } from '../../base/canonical-json.ts'
import type { AgentCard } from '../a2a/cards/card-forms.ts'

/** The members of a card of 1.0. A hybrid card has those of 0.3 too. */
const MEMBERS_V1 = new Set([
  'name',
  'description',
  'supportedInterfaces',
  'provider',
  'version',
  'documentationUrl',
  'capabilities',
  'securitySchemes',
  'securityRequirements',
  'defaultInputModes',
  'defaultOutputModes',
  'skills',
  'iconUrl',
])

/** The members of a security scheme in 1.0. A scheme has exactly one of them. */
const SCHEMES_V1 = [
  'apiKeySecurityScheme',
  'httpAuthSecurityScheme',
  'oauth2SecurityScheme',
  'openIdConnectSecurityScheme',
  'mtlsSecurityScheme',
]

/** The content that clients of 1.0 verify: the members of 1.0, without signatures and empty values. */
export function signedPartV1(card: AgentCard): string {
  const { securitySchemes = {}, ...rest } = membersV1(card)
  const schemes = Object.entries(securitySchemes as Record<string, object>).map(([name, scheme]) => [
    name,
    Object.fromEntries(Object.entries(scheme).filter(([member]) => SCHEMES_V1.includes(member))),
  ])
  return canonicalJson(withoutEmpty({ ...rest, securitySchemes: Object.fromEntries(schemes) }) ?? {})
}

/** The members of a card that {@link signedPartV1} signs. */
export function membersV1(card: AgentCard): AgentCard {
  return Object.fromEntries(Object.entries(card).filter(([name]) => MEMBERS_V1.has(name)))
}

/** The whole card without its signatures. */
export function signedWhole({ signatures: _, ...card }: AgentCard): string {
  return canonicalJson(card)
}

/** Removes empty text, lists and objects, and null. */
function withoutEmpty(value: unknown): unknown {
  if (value === '' || value === null) return undefined
  if (Array.isArray(value)) {
    const kept = value.map(withoutEmpty).filter(each => each !== undefined)
    return kept.length > 0 ? kept : undefined
  }
  if (typeof value !== 'object') return value
  const kept = Object.entries(value)
    .map(([name, member]) => [name, withoutEmpty(member)] as const)
    .filter(([, member]) => member !== undefined)
  return kept.length > 0 ? Object.fromEntries(kept) : undefined
}
