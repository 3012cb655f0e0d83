/** Subscriptions and deliveries in responses. */

import type { DeliveryStatus, KeptDelivery, KeptWebhook } from './kept.ts'
import { type DeploymentWebhook, EVENTS, type WebhookEventType } from './options.ts'
import type { WebhookPayload } from './payload.ts'

/** A subscription, without its secret. */
export interface Webhook {
  readonly id: string
  readonly url: string
  readonly events: readonly WebhookEventType[]
  /** Absent: all. */
  readonly agents?: readonly string[] | undefined
  readonly contents: boolean
  /** Whether deliveries are sent. */
  readonly enabled: boolean
  /** ISO 8601, in UTC. Absent for those of the deployment. */
  readonly createdAt?: string | undefined
}

/** A subscription with its secret: the answer to its creation, and to each new secret. */
export interface WebhookWithSecret extends Webhook {
  readonly secret: string
}

/** A subscription as an administrator reads it. */
export interface AnyWebhook extends Webhook {
  /** The owner's identity. Null for a subscription of the deployment. */
  readonly owner: string | null
}

/** A delivery. */
export interface WebhookDelivery {
  readonly id: string
  /** The id of its subscription; `run` if a run named the receiver. */
  readonly webhook: string
  readonly type: string
  /** Absent for a test. */
  readonly runId?: string | undefined
  readonly status: DeliveryStatus
  readonly tries: number
  /** ISO 8601, in UTC. */
  readonly createdAt: string
  readonly lastTryAt?: string | undefined
  readonly nextTryAt?: string | undefined
  /** The status code of the last answer. */
  readonly responseStatus?: number | undefined
  /** Why the last try failed. */
  readonly error?: string | undefined
  /** `interrupted`: given up because the processes that sent it crashed. */
  readonly code?: 'interrupted' | undefined
}

/** A delivery with what was sent. */
export interface WebhookDeliveryWithPayload extends WebhookDelivery {
  /** What was sent. Absent for a role that may not read the run. */
  readonly payload?: WebhookPayload | undefined
}

function moment(at: number): string {
  return new Date(at).toISOString()
}

/** A subscription of a client. */
export function webhookView({
  id,
  url,
  events = EVENTS,
  agents,
  contents = false,
  isEnabled,
  createdAt,
}: KeptWebhook): Webhook {
  return { id, url, events, agents, contents, enabled: isEnabled, createdAt: moment(createdAt) }
}

/** Any subscription, for an administrator. An address shows only its origin and path, since the rest may be secret. */
export function anyWebhookView(webhook: KeptWebhook | DeploymentWebhook): AnyWebhook {
  const { origin, pathname } = new URL(webhook.url)
  const url = origin + pathname
  if ('secrets' in webhook) return { ...webhookView(webhook), url, owner: webhook.owner }
  const { id, events = EVENTS, agents, contents = false } = webhook
  return { id, url, events, agents, contents, enabled: true, owner: null }
}

/** A delivery, without its body. */
export function deliveryView({
  id,
  webhook,
  type,
  runId,
  status,
  tries,
  createdAt,
  lastTryAt,
  nextTryAt,
  responseStatus,
  error,
  code,
}: KeptDelivery): WebhookDelivery {
  return {
    ...{ id, webhook, type, runId, status, tries, createdAt: moment(createdAt), responseStatus, error, code },
    ...(lastTryAt !== undefined && { lastTryAt: moment(lastTryAt) }),
    ...(nextTryAt !== undefined && { nextTryAt: moment(nextTryAt) }),
  }
}
