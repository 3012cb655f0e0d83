/** Schemas of the request bodies about webhooks. */

import * as v from 'valibot'
import { flag } from '../../base/schemas.ts'
import { isObject, list } from '../../base/validation.ts'
import type { KeptWebhook } from './kept.ts'
import { EVENTS, type WebhookFilter, webhookUrl } from './options.ts'

/** Most names in a filter of a client. */
const MAX_AGENTS = 100

const name = v.pipe(
  v.string(),
  v.nonEmpty('must not be empty'),
  v.maxLength(200, 'must have at most 200 characters'),
)

const events = v.pipe(
  list(v.picklist(EVENTS, `must be one of ${EVENTS.join(', ')}`), EVENTS.length),
  v.minLength(1, 'must name an event: leave it out for all'),
)

const agents = list(name, MAX_AGENTS)

const filter = { events: v.optional(events), agents: v.optional(agents), contents: v.optional(flag) }

const secret = v.optional(v.pipe(v.string(), v.maxLength(200, 'must have at most 200 characters')))

const isBody = v.custom<object>(isObject, 'must be a JSON object')

/** The body of a new subscription. */
export const NewWebhookSchema: v.GenericSchema<unknown, NewWebhook> = v.pipe(
  isBody,
  v.object({ url: webhookUrl, ...filter, secret }),
)

/** The body of a change. */
export const WebhookChangeSchema: v.GenericSchema<unknown, ChangedWebhook> = v.pipe(
  isBody,
  v.object({
    url: v.optional(webhookUrl),
    ...filter,
    events: v.nullish(events),
    agents: v.nullish(agents),
    enabled: v.optional(flag),
  }),
)

/** The body that asks for a new secret. */
export const NewSecretSchema: v.GenericSchema<unknown, { secret?: string | undefined }> = v.pipe(
  isBody,
  v.object({ secret }),
)

/** Absent members stay. Null resets to all. */
interface ChangedWebhook {
  readonly url?: string | undefined
  readonly events?: KeptWebhook['events'] | null
  readonly agents?: KeptWebhook['agents'] | null
  readonly contents?: boolean | undefined
  readonly enabled?: boolean | undefined
}

interface NewWebhook extends WebhookFilter {
  readonly url: string
  readonly secret?: string | undefined
}
