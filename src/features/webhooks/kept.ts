/**
 * What is kept of webhooks: subscriptions of clients, the deliveries of all, and those that wait to be sent.
 *
 * @module
 */

import type { Forgetting } from '../../core/built-in.ts'
import type { Permitted } from '../../runs/permit.ts'
import type { Footing, Transaction } from '../../stores/store.ts'
import { putQueued, type Queue, type Queued } from './delivery/queue.ts'
import type { WebhookEventType, WebhookFilter } from './options.ts'
import type { RunNotice } from './payload.ts'

/** Subscriptions of clients, in the partitions of their owners. */
export const WEBHOOKS = 'webhook'

/** Deliveries with their bodies, in the partitions of their subscriptions. They expire. */
export const DELIVERIES = 'webhook-delivery'

/** Deliveries that are to be sent. */
export const DUE = 'webhook-due'

/** What happened to the run of an object, until it is passed on. */
export const OUTBOX = 'webhook-outbox'

/** The subscription under which deliveries are listed that a run itself asked for. */
export const RUN_WEBHOOK = 'run'

/** A secret of a client. It stands in the store, because it signs. */
export interface KeptSecret {
  readonly secret: string
  /** It signs until then, since another one has replaced it. */
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
  /** The key with which it was made, or changed last: it ends with the key. */
  readonly keyId?: string | undefined
  /** What alone the key may run, as `agent:NAME`: it hears of nothing else. */
  readonly only?: readonly string[] | undefined
  /** Milliseconds since 1970. */
  readonly createdAt: number
}

/** Where a delivery stands. */
export type DeliveryStatus = 'pending' | 'delivered' | 'failed'

/** A delivery. */
export interface KeptDelivery {
  readonly id: string
  /** The id of its subscription. */
  readonly webhook: string
  readonly owner: string | null
  readonly type: WebhookEventType | 'webhook.test'
  readonly runId?: string | undefined
  /** The session of the run: it is deleted with it. */
  readonly session?: Forgetting['session']
  /** What ran, where the subscription is of a key. */
  readonly ran?: Permitted | undefined
  /** Milliseconds since 1970. */
  readonly createdAt: number
  readonly body: string
  /** The receiver that a run named. Undefined: that of the subscription. */
  readonly url?: string | undefined
  readonly status: DeliveryStatus
  readonly tries: number
  readonly lastTryAt?: number | undefined
  readonly nextTryAt?: number | undefined
  /** The status code of the last answer. */
  readonly responseStatus?: number | undefined
  /** Why the last try failed. */
  readonly error?: string | undefined
  /** Given up since the processes that sent it died. */
  readonly code?: 'interrupted' | undefined
}

/** A delivery that is to be sent. */
export interface DueDelivery extends Queued {
  readonly id: string
  readonly webhook: string
  /** The client whose share of deliveries it uses. */
  readonly client: string
  /** Undefined for a subscription of the deployment. */
  readonly url: string | undefined
}

/** The queue of deliveries that are to be sent. */
export const QUEUE: Queue<DueDelivery> = {
  collection: DUE,
  idOf: ({ id }) => id,
  groupOf: ({ webhook }) => webhook,
  footingOf: ({ id }) => ({ thing: thingOf(id) }),
}

function thingOf(id: string): string {
  return `webhook:${id}`
}

/** Writes a delivery. A store without room deletes those that wait last. */
export function putDelivery(tx: Transaction, delivery: KeptDelivery, retentionMs: number): void {
  const { id, webhook: partition, createdAt: at, status, session } = delivery
  const tags = { status, ...(session && { sessionId: session.id }) }
  const leaves: Footing['leaves'] = status === 'pending' ? 'last' : 'first'
  const expiresAt = at + retentionMs
  tx.put(DELIVERIES, { id, partition, at, tags, value: delivery, expiresAt }, { thing: thingOf(id), leaves })
}

/** Deletes a delivery, whether it waits or not. */
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

/** The delivery of a notice for a subscription: the same whenever that notice comes. Without `.`, which the signature needs. */
export function deliveryIdOf({ type, run }: Pick<RunNotice, 'type' | 'run'>, webhook: string): string {
  return `${run.runId}_${type.slice('run.'.length)}_${webhook}`
}
