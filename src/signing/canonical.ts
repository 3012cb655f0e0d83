/**
 * What of a card is signed (section 8.4.1 of A2A 1.0).
 *
 * @module
 */

import type { AgentCard } from '../a2a/card-forms.ts'
import { canonicalJson } from '../canonical-json.ts'

/** The members of a card of 1.0, which a hybrid has beside those of 0.3. */
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

/** The members of a scheme of 1.0: exactly one of these. */
const SCHEMES_V1 = [
  'apiKeySecurityScheme',
  'httpAuthSecurityScheme',
  'oauth2SecurityScheme',
  'openIdConnectSecurityScheme',
  'mtlsSecurityScheme',
]

/** What clients of 1.0 verify: what their form has, without its signatures and without what is empty. */
export function signedPartV1(card: AgentCard): string {
  const members = Object.entries(card).filter(([name]) => MEMBERS_V1.has(name))
  const { securitySchemes = {}, ...rest } = Object.fromEntries(members)
  const schemes = Object.entries(securitySchemes as Record<string, object>).map(([name, scheme]) => [
    name,
    Object.fromEntries(Object.entries(scheme).filter(([member]) => SCHEMES_V1.includes(member))),
  ])
  return canonicalJson(withoutEmpty({ ...rest, securitySchemes: Object.fromEntries(schemes) }) ?? {})
}

/** Everything that a card says but its signatures. */
export function signedWhole({ signatures: _, ...card }: AgentCard): string {
  return canonicalJson(card)
}

/** Values that say nothing (empty text, lists and objects) are as if they were not there. */
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
