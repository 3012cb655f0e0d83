/**
 * The options of webhooks.
 *
 * @module
 */

import * as v from 'valibot'
import { ServableError } from '../../base/errors.ts'
import { checkOptions, count, duration, flag, strings } from '../../base/schemas.ts'
import type { DeliverySettings } from './delivery/deliverer.ts'
import { webhookKey } from './delivery/webhook.ts'

/** The name of the plugin and of its object service, and the address of its object. */
export const NAME = 'webhooks'

/** The events of a run. */
export const EVENTS = ['run.completed', 'run.failed', 'run.input_required', 'run.cancelled'] as const

/** The type of a delivery that a person asked for. */
export const TEST = 'webhook.test'

/** The type of an event. */
export type WebhookEventType = (typeof EVENTS)[number]

/** The events that a subscriber wants. */
export interface WebhookFilter {
  /** Default: all. */
  readonly events?: readonly WebhookEventType[] | undefined
  /** Names of agents, or `team/NAME` and `workflow/NAME`. Default: all. */
  readonly agents?: readonly string[] | undefined
  /** Whether the payload includes the output or requests of the run, up to 65,536 characters of JSON. Default: false. */
  readonly contents?: boolean | undefined
}

/** A subscription of the deployment. */
export interface WebhookSubscription extends WebhookFilter {
  /**
   * 1 to 64 letters, digits, `-` and `_`. It must be the same after a restart, so that pending deliveries find their receiver.
   */
  readonly id: string
  readonly url: string
  /**
   * 24 to 64 bytes in base64, with an optional prefix `whsec_`. Give several during a rotation: each signs. It is never stored.
   */
  readonly secret: string | readonly string[]
  /** Identities whose runs it gets. Default: all runs, including those without an owner. */
  readonly owners?: readonly string[] | undefined
}

/** Options of webhooks. */
export interface WebhooksOptions extends Partial<DeliverySettings> {
  /** Subscriptions of the deployment. They get the stored runs of all callers. Default: none. */
  readonly subscriptions?: readonly WebhookSubscription[] | undefined
  /**
   * Lets callers with an identity subscribe to their own runs, at `POST /webhooks`: `maxPerOwner` subscriptions each (default
   * 20). Their secrets are stored. Default: false.
   */
  readonly clients?: boolean | { readonly maxPerOwner?: number | undefined } | undefined
  /**
   * Lets a background run name its own receiver (`webhook`). Requests to it are signed with this secret. Default: not allowed.
   */
  readonly runs?: { readonly secret: string | readonly string[] } | undefined
  /**
   * Receivers that are allowed although they are not public: hosts (`localhost`), hosts with a port, and address ranges. `http:`
   * is allowed for these too. Default: none, so only public `https:` addresses.
   */
  readonly allow?: readonly string[] | undefined
  /** Milliseconds that a receiver may take to answer. Default: 15,000. */
  readonly timeoutMs?: number
  /** Tries after which a delivery is given up. Default: 16, which takes about 29 hours. */
  readonly maxTries?: number
  /** Milliseconds before the second try. Each further try waits twice as long. Default: 5,000. */
  readonly retryMs?: number
  /** Most milliseconds between two tries, also if the receiver asks for more. Default: 21,600,000, 6 hours. */
  readonly maxRetryMs?: number
  /** Milliseconds for which a delivery is listed, and can be sent again. Default: 604,800,000, a week. */
  readonly retentionMs?: number | undefined
  /** Most deliveries of one subscription that are kept. Above it the oldest are deleted, even pending ones. Default: 1,000. */
  readonly maxDeliveries?: number | undefined
}

/** A key that signs. */
export type Key = Uint8Array<ArrayBuffer>

/** A subscription of the deployment with its keys. */
export interface DeploymentWebhook extends Omit<WebhookSubscription, 'secret'> {
  readonly keys: readonly Key[]
}

/** The options with their defaults. */
export interface WebhookSettings extends DeliverySettings {
  readonly subscriptions: readonly DeploymentWebhook[]
  /** Most subscriptions of one client; 0 if clients have none. */
  readonly maxPerOwner: number
  readonly runKeys: readonly Key[] | undefined
  readonly allow: readonly string[]
  readonly retentionMs: number
  readonly maxDeliveries: number
}

const events = v.pipe(
  v.array(v.picklist(EVENTS, `must be one of ${EVENTS.join(', ')}`)),
  v.minLength(1, 'must name an event: leave it out for all'),
)

const secrets = v.union([v.string(), strings], 'must be a secret or an array of secrets')

/** An `http:` or `https:` address without spaces. */
export const webhookUrl: v.GenericSchema<string> = v.pipe(
  v.string(),
  v.maxLength(2048, 'must have at most 2,048 characters'),
  v.check(
    text => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol),
    'must be an address such as https://example.com/hook',
  ),
)

const SubscriptionSchema = v.strictObject({
  id: v.pipe(
    v.string(),
    v.regex(
      /^(?!wh_|run$)[\w-]{1,64}$/,
      'must have 1 to 64 letters, digits, - and _, and not begin with wh_',
    ),
  ),
  url: webhookUrl,
  secret: secrets,
  events: v.optional(events),
  agents: v.optional(strings),
  owners: v.optional(strings),
  contents: v.optional(flag),
})

const OptionsSchema = v.strictObject({
  subscriptions: v.optional(v.array(SubscriptionSchema, 'must be an array of subscriptions')),
  clients: v.optional(
    v.union([flag, v.strictObject({ maxPerOwner: v.optional(count) })], 'must be true, false or an object'),
  ),
  runs: v.optional(v.strictObject({ secret: secrets })),
  allow: v.optional(strings),
  timeoutMs: v.optional(duration),
  maxTries: v.optional(count),
  retryMs: v.optional(duration),
  maxRetryMs: v.optional(duration),
  retentionMs: v.optional(count),
  maxDeliveries: v.optional(count),
})

const HOUR_MS = 60 * 60 * 1000

/** Most bytes of a key (Standard Webhooks 1.0.0, signature scheme). */
const MAX_KEY_BYTES = 64

/** Decodes secrets. Throws `invalid_options` with the option's name. */
function keysOf(secret: string | readonly string[], option: string): readonly Key[] {
  const all = [secret].flat()
  const keys = all.map(each => webhookKey(each, option))
  if (keys.length > 0 && keys.every(({ length }) => length <= MAX_KEY_BYTES)) return keys
  throw new ServableError('invalid_options', `\`${option}\` must be 24 to ${MAX_KEY_BYTES} bytes in base64`)
}

/** The key of a client's secret. Throws `invalid_body`. */
export function clientKey(secret: string): Key {
  try {
    return keysOf(secret, 'secret')[0]!
  } catch (cause) {
    const text = '`secret` must be 24 to 64 bytes in base64, with `whsec_` before it: leave it out to get one'
    throw new ServableError('invalid_body', text, { cause, issues: [{ path: 'secret', message: text }] })
  }
}

/** Checks the options and fills in the defaults. Throws `invalid_options`. */
export function resolveWebhooks(options: WebhooksOptions): WebhookSettings {
  checkOptions(NAME, OptionsSchema, options)
  const { subscriptions = [], clients = false, runs, allow = [], ...rest } = options
  const ids = subscriptions.map(({ id }) => id)
  if (new Set(ids).size < ids.length) {
    throw new ServableError('invalid_options', '`webhooks.subscriptions` must have ids that differ')
  }
  const { maxPerOwner = 20 } = clients === false ? { maxPerOwner: 0 } : clients === true ? {} : clients
  return {
    timeoutMs: 15_000,
    maxTries: 16,
    retryMs: 5000,
    maxRetryMs: 6 * HOUR_MS,
    ...Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined)),
    retentionMs: rest.retentionMs ?? 7 * 24 * HOUR_MS,
    maxDeliveries: rest.maxDeliveries ?? 1000,
    maxPerOwner,
    allow,
    subscriptions: subscriptions.map(({ secret, ...subscription }, index) => ({
      ...subscription,
      keys: keysOf(secret, `webhooks.subscriptions.${index}.secret`),
    })),
    runKeys: runs && keysOf(runs.secret, 'webhooks.runs.secret'),
  }
}
