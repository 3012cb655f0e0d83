/**
 * The cards of a server: the open cards, and the extended card for authenticated clients (sections 8 and 3.1.11 of A2A 1.0;
 * 7.10 of 0.3).
 *
 * @module
 */

import * as v from 'valibot'
import { isServableError, ServableError } from '../../../base/errors.ts'
import type { Identity } from '../../../http/platform.ts'
import { joinPath } from '../../../http/router.ts'
import { identifyBy } from '../../../http/security/authentication.ts'
import { checkResponse, isResponse } from '../../../web/response.ts'
import type { OperationAnswer, OperationCall } from '../operations.ts'
import type { A2ASettings, ExtendedCardOptions, SignCard } from '../options.ts'
import type { Tenants } from '../tenants.ts'
import { v03Rest } from '../wire/v03-rest.ts'
import { type CardSubject, type CardText, describeCard } from './card.ts'
import { type AgentCard, type CardWriting, encodeCard } from './card-forms.ts'
import { type Skill, skillId, skillPath } from './skills.ts'

/** What the cards are made from. */
export interface CardsOptions {
  readonly settings: A2ASettings
  /** The public address of the server. Undefined: the address of the request. */
  readonly publicUrl: string | undefined
  /** Returns the agents that are offered. It is called for each card. */
  readonly subjects: () => readonly (CardSubject & Skill)[]
  /** Ids of skills that appear only on extended cards. */
  readonly hidden: ReadonlySet<string>
  readonly tenants: Tenants
}

/** Selects a card. */
export interface CardRequest {
  readonly request: Request
  /** The servable of the card. Undefined: the card of all. */
  readonly agent: Skill | undefined
  readonly tenant: string | undefined
  readonly form: CardWriting
  /** The user that an extended card is for. */
  readonly identity?: Identity
}

/** Makes a card without signatures. Throws `not_found` if there is no such agent. */
export type Cards = (wanted: CardRequest) => Promise<AgentCard>

/** Creates the function that makes cards. */
export function createCards({ settings, publicUrl, subjects, hidden, tenants }: CardsOptions): Cards {
  // The card of a single agent has the agent's name and description, not the ones from the options.
  const { name, description, push, extendedCard, ...rest } = settings
  const shared = {
    ...rest,
    pushNotifications: push !== undefined,
    extendedAgentCard: extendedCard !== undefined,
  }
  return async ({ request, agent, tenant, form, identity }) => {
    const own = agent === undefined ? undefined : skillId(agent)
    const skills = await tenants.skillsOf(tenant)
    const shown = subjects().filter(subject => {
      const id = skillId(subject)
      if (own !== undefined && own !== id) return false
      return (identity !== undefined || !hidden.has(id)) && skills?.has(id) !== false
    })
    if (shown.length === 0) throw new ServableError('not_found', 'There is no such agent')
    const url = (publicUrl ?? new URL(request.url).origin) + pathOf(settings.basePath, agent)
    const label = agent === undefined ? { name: name ?? nameOf(shown), description } : {}
    const ofTenant = checked(await tenants.textOf(tenant), 'a2a.tenants.card')
    const more = identity && checked(await textFor(extendedCard, identity), 'a2a.extendedCard.card')
    return encodeCard(describeCard(shown, { ...shared, ...label, ...ofTenant, ...more, url, tenant }), form)
  }
}

/** Returns the card with its signatures. */
export async function signed(
  card: AgentCard,
  form: CardWriting,
  sign: SignCard | undefined,
): Promise<AgentCard> {
  if (sign === undefined) return card
  const signatures: unknown = await sign(card, form === '0.3-proto' ? '0.3' : form)
  if (Array.isArray(signatures)) return { ...card, signatures }
  throw new ServableError('internal_error', '`a2a.sign` must return an array of signatures')
}

const text = v.optional(v.string())
const texts = v.optional(v.array(v.string()))

const TextSchema = v.strictObject({
  name: text,
  description: text,
  version: text,
  provider: v.optional(v.strictObject({ organization: v.string(), url: text })),
  documentationUrl: text,
  iconUrl: text,
  inputModes: texts,
  outputModes: texts,
})

async function textFor(options: ExtendedCardOptions | undefined, identity: Identity): Promise<unknown> {
  const { card = {} } = options ?? {}
  return typeof card === 'function' ? card(identity) : card
}

function checked(text: unknown, option: string): CardText {
  const result = v.safeParse(TextSchema, text)
  if (result.success) return result.output as CardText
  throw new ServableError('internal_error', `\`${option}\` must return fields of a card`)
}

function nameOf(subjects: readonly CardSubject[]): string | undefined {
  return subjects.length === 1 ? subjects[0]?.name : 'servable'
}

function pathOf(basePath: string, agent: Skill | undefined): string {
  return agent === undefined ? joinPath(basePath) : joinPath(basePath, skillPath(agent))
}

/**
 * Makes the operation that answers authenticated users with the extended card. It throws `unauthorized` for everyone else.
 */
export function createExtendedCard(
  { extendedCard, sign }: A2ASettings,
  cards: Cards,
  tenants: Tenants,
): ((call: OperationCall) => Promise<OperationAnswer>) | undefined {
  if (extendedCard === undefined) return undefined
  const { authenticate, challenge = 'Bearer' } = extendedCard
  return async ({ request, state, agent, namedTenant, wire }) => {
    const identity = await identifyBy(authenticate, request, state).catch(error => {
      // A 401 answer must have a challenge (RFC 9110, section 15.5.2).
      state.responseHeaders.set('www-authenticate', challenge)
      throw error
    })
    if (isResponse(identity)) return { response: checkResponse(identity, '`a2a.extendedCard.authenticate`') }
    const tenant = await tenants.admit(namedTenant, { identity, state, request })
    // The card may differ for each user, so shared caches must not store it.
    state.responseHeaders.set('cache-control', 'private, no-store')
    const form = wire === v03Rest ? '0.3-proto' : wire.version === '1.0' ? '1.0' : '0.3'
    try {
      return { value: await signed(await cards({ request, agent, tenant, form, identity }), form, sign) }
    } catch (cause) {
      // The options' `card` and `sign` functions may throw any error. Only intended errors show their text.
      if (isServableError(cause)) throw cause
      throw new ServableError('internal_error', 'The extended card could not be made', { cause })
    }
  }
}
