/**
 * The stored webhooks: subscriptions of clients, all deliveries, and the queue of those to send.
 *
 * @module
 */

import type { Forgetting } from '../../core/plugin.ts'
import type { Permitted } from '../../runs/permit.ts'
import type { Eviction, Transaction } from '../../stores/store.ts'
import { putQueued, type Queue, type QueueEntry } from './delivery/queue.ts'
import type { TEST, WebhookEventType, WebhookFilter } from './options.ts'
import type { RunNotice } from './payload.ts'

/** Subscriptions of clients, partitioned by owner. */
export const WEBHOOKS = 'webhook'

/** Deliveries with their bodies, partitioned by subscription. They expire. */
export const DELIVERIES = 'webhook-delivery'

/** Deliveries to send. */
export const DUE = 'webhook-due'

/** Notices about an object's run until they are passed on. */
export const OUTBOX = 'webhook-outbox'

/** The subscription id for deliveries to receivers that a run itself names. */
export const RUN_WEBHOOK = 'run'

/** The beginning of the ids of clients' subscriptions. No other has it. */
export const OF_CLIENT = 'wh_'

function isOfClient(webhook: string): boolean {
  return webhook.startsWith(OF_CLIENT)
}

/** A secret of a client. It is stored, since it signs. */
export interface KeptSecret {
  readonly secret: string
  /** The end of its use, after another one has replaced it. */
  readonly until?: number | undefined
}

/** A subscription of a client. */
export interface KeptWebhook extends WebhookFilter {
  readonly id: string
  readonly owner: string
  readonly url: string
  /** The newest first. */
  readonly secrets: readonly KeptSecret[]
  readonly isEnabled: boolean
  /** The key that created or last changed it. The subscription ends with the key. */
  readonly keyId?: string | undefined
  /** The targets that the key may run, as `agent:NAME`. The subscription gets no other events. */
  readonly only?: readonly string[] | undefined
  /** Milliseconds since 1970. */
  readonly createdAt: number
}

/** The type of a delivery. */
export type DeliveryType = WebhookEventType | typeof TEST

/** The state of a delivery. */
export type DeliveryStatus = 'pending' | 'delivered' | 'failed'

/** A delivery. */
export interface KeptDelivery {
  readonly id: string
  /** The id of its subscription. */
  readonly webhook: string
  readonly owner: string | null
  readonly type: DeliveryType
  readonly runId?: string | undefined
  /** The session of the run. The delivery is deleted with it. */
  readonly session?: Forgetting['session']
  /** The target of the run, for subscriptions made with a key. */
  readonly ran?: Permitted | undefined
  /** Milliseconds since 1970. */
  readonly createdAt: number
  readonly body: string
  /** The receiver that the run named. Undefined: that of the subscription. */
  readonly url?: string | undefined
  readonly status: DeliveryStatus
  readonly tries: number
  readonly lastTryAt?: number | undefined
  readonly nextTryAt?: number | undefined
  /** The status code of the last answer. */
  readonly responseStatus?: number | undefined
  /** Why the last try failed. */
  readonly error?: string | undefined
  /** Given up because the processes that sent it crashed. */
  readonly code?: 'interrupted' | undefined
}

/** A delivery to send. */
export interface DueDelivery extends QueueEntry {
  readonly id: string
  readonly webhook: string
  /** The client whose share of deliveries it uses. */
  readonly client: string
  /** Undefined for a subscription of the deployment. */
  readonly url: string | undefined
}

/** The queue of deliveries to send. */
export const QUEUE: Queue<DueDelivery> = {
  collection: DUE,
  idOf: ({ id }) => id,
  groupOf: ({ webhook }) => webhook,
  evictionOf: ({ id }) => ({ thing: thingOf(id) }),
}

function thingOf(id: string): string {
  return `webhook:${id}`
}

/** Writes a delivery. A full store evicts pending ones last. */
export function putDelivery(tx: Transaction, delivery: KeptDelivery, retentionMs: number): void {
  const { id, webhook: partition, owner, createdAt: at, status, type, session } = delivery
  const of = owner !== null && isOfClient(partition) && { of: owner }
  const tags = { status, type, ...of, ...(session && { sessionId: session.id }) }
  const leaves: Eviction['leaves'] = status === 'pending' ? 'last' : 'first'
  const expiresAt = at + retentionMs
  tx.put(DELIVERIES, { id, partition, at, tags, value: delivery, expiresAt }, { thing: thingOf(id), leaves })
}

/** Deletes a delivery, pending or not. */
export function dropDelivery(tx: Transaction, id: string): void {
  tx.delete(DELIVERIES, id)
  tx.delete(DUE, id)
}

/** Most deliveries of one run. */
const MANY = 1000

/** Deletes the deliveries of a run. Their ids begin with its id. */
export function dropDeliveriesOf(tx: Transaction, runId: string): void {
  for (const { id } of tx.withPrefix(DELIVERIES, `${runId}_`, MANY)) dropDelivery(tx, id)
}

/** Makes a delivery due now. */
export function putDue(
  tx: Transaction,
  { id, webhook, owner }: KeptDelivery,
  { url, generation }: { readonly url: string | undefined; readonly generation: string },
): void {
  const due = { id, webhook, client: owner ?? '', url, generation, failures: 0, isDead: false }
  putQueued(tx, QUEUE, due, { at: tx.now, dueAt: tx.now })
}

/**
 * The id of a notice's delivery for a subscription. It is the same each time the notice is processed, and has no `.`, which the
 * signature uses as a separator.
 */
export function deliveryIdOf({ type, run }: Pick<RunNotice, 'type' | 'run'>, webhook: string): string {
  return `${run.runId}_${type.slice('run.'.length)}_${webhook}`
}
