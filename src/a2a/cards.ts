/**
 * The cards of a server: the open cards, and the extended card for authenticated clients (sections 8 and 3.1.11 of A2A 1.0;
 * 7.10 of 0.3).
 *
 * @module
 */

import * as v from 'valibot'
import { ServableError } from '../errors.ts'
import type { Identity } from '../http/platform.ts'
import { joinPath } from '../http/router.ts'
import { type CardSubject, describeCard } from './card.ts'
import { type AgentCard, type CardWriting, encodeCard } from './card-forms.ts'
import type { A2ASettings, ExtendedCardOptions, ExtendedCardText, SignCard } from './options.ts'

/** What the cards are made from. */
export interface CardsOptions {
  readonly settings: A2ASettings
  /** The public address of the server. Undefined: the address of the request. */
  readonly publicUrl: string | undefined
  /** Returns the agents that are offered. It is called for each card. */
  readonly subjects: () => readonly CardSubject[]
  /** Names of agents that appear only on extended cards. */
  readonly hidden: ReadonlySet<string>
}

/** Selects a card. */
export interface CardRequest {
  readonly request: Request
  /** The agent of the card. Undefined: the card of all agents. */
  readonly agent: string | undefined
  readonly form: CardWriting
  /** The user that an extended card is for. */
  readonly identity?: Identity
}

/** Makes a card without signatures. Throws `not_found` if there is no such agent. */
export type Cards = (wanted: CardRequest) => Promise<AgentCard>

/** Creates the function that makes cards. */
export function createCards({ settings, publicUrl, subjects, hidden }: CardsOptions): Cards {
  // The card of a single agent has the agent's name and description, not the ones from the options.
  const { name, description, push, extendedCard, ...rest } = settings
  const shared = {
    ...rest,
    pushNotifications: push !== undefined,
    extendedAgentCard: extendedCard !== undefined,
  }
  return async ({ request, agent, form, identity }) => {
    const shown = subjects()
      .filter(({ name }) => agent === undefined || name === agent)
      .filter(({ name }) => identity !== undefined || !hidden.has(name))
    if (shown.length === 0) throw new ServableError('not_found', 'There is no such agent')
    const url = (publicUrl ?? new URL(request.url).origin) + pathOf(settings.basePath, agent)
    const own = agent === undefined ? { name: name ?? nameOf(shown), description } : {}
    const more = identity && (await textFor(extendedCard, identity))
    return encodeCard(describeCard(shown, { ...shared, ...own, ...more, url }), form)
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

async function textFor(
  options: ExtendedCardOptions | undefined,
  identity: Identity,
): Promise<ExtendedCardText> {
  const { card = {} } = options ?? {}
  const text: unknown = typeof card === 'function' ? await card(identity) : card
  const result = v.safeParse(TextSchema, text)
  if (result.success) return result.output as ExtendedCardText
  throw new ServableError('internal_error', '`a2a.extendedCard.card` must return fields of a card')
}

function nameOf(subjects: readonly CardSubject[]): string | undefined {
  return subjects.length === 1 ? subjects[0]?.name : 'servable'
}

function pathOf(basePath: string, agent: string | undefined): string {
  return agent === undefined ? joinPath(basePath) : joinPath(basePath, 'agents', encodeURIComponent(agent))
}
