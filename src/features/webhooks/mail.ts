/**
 * Deliveries as the shared deliverer sends them. Each is an entry of its own: one that fails holds up no other.
 *
 * @module
 */

import type { Identity } from '../../http/platform.ts'
import { checkPermit, type Permit, type Permitted } from '../../runs/permit.ts'
import type { Transaction } from '../../stores/store.ts'
import type { Mail, Next, Tried } from './delivery/deliverer.ts'
import type { Receiver } from './delivery/lanes.ts'
import type { Delivery, Reception } from './delivery/sender.ts'
import {
  DELIVERIES,
  type DeliveryStatus,
  DUE,
  type DueDelivery,
  dropDelivery,
  type KeptDelivery,
  type KeptWebhook,
  putDelivery,
  QUEUE,
  RUN_WEBHOOK,
  WEBHOOKS,
} from './kept.ts'
import { clientKey, type Key, type WebhookSettings } from './options.ts'

/** A delivery, with the address and the keys of its subscription as they are now. */
export interface Ready {
  readonly body: string
  readonly url: string
  readonly keys: readonly Key[]
  /** Whose key it was subscribed with. */
  readonly by?: { readonly id: string; readonly keyId: string } | undefined
  /** What ran. */
  readonly ran?: Permitted | undefined
}

/** In the place of the address of a subscription that the deployment no longer has. */
const NOWHERE = 'https://removed.invalid'

/** Old deliveries that are deleted with a try. */
const OLD_AT_ONCE = 20

/** The answer by which a receiver says that it is gone (RFC 9110, section 15.5.11). */
const GONE = 410

/** Makes the mail of a store. `permit` says whether a key is still good. */
export function createMail(settings: WebhookSettings, permit: Permit): Mail<DueDelivery, Ready> {
  const { subscriptions, runKeys, retentionMs, maxDeliveries } = settings
  const deployed = new Map(subscriptions.map(each => [each.id, each]))

  /** The address and the keys of a subscription. Undefined if it gets nothing any more. */
  const addressOf = (tx: Transaction, { webhook, url }: DueDelivery): Omit<Ready, 'body'> | undefined => {
    if (webhook === RUN_WEBHOOK) return url && runKeys ? { url, keys: runKeys } : undefined
    const own = deployed.get(webhook)
    if (own !== undefined) return own
    const kept = tx.get<KeptWebhook>(WEBHOOKS, webhook)?.value
    if (kept?.isEnabled !== true) return undefined
    const secrets = kept.secrets.filter(({ until = Number.POSITIVE_INFINITY }) => until > tx.now)
    const { owner: id, keyId } = kept
    const keys = secrets.map(({ secret }) => clientKey(secret))
    return { url: kept.url, keys, ...(keyId !== undefined && { by: { id, keyId } }) }
  }
  const save = (tx: Transaction, delivery: KeptDelivery, change: Partial<KeptDelivery>) =>
    putDelivery(tx, { ...delivery, ...change }, retentionMs)

  return {
    queue: QUEUE,
    receiverOf: ({ webhook, url, client, failures }): Receiver => ({
      url: url ?? deployed.get(webhook)?.url ?? NOWHERE,
      client,
      failures,
    }),
    next(tx, due): Next<DueDelivery, Ready> {
      const delivery = tx.get<KeptDelivery>(DELIVERIES, due.id)?.value
      const address = addressOf(tx, due)
      if (delivery?.status === 'pending' && address !== undefined) {
        const { body, ran } = delivery
        return { act: 'tell', notice: { ...address, body, ran } }
      }
      tx.delete(DUE, due.id)
      if (delivery?.status === 'pending') {
        save(tx, delivery, {
          status: 'failed',
          nextTryAt: undefined,
          error: 'the webhook was deleted or disabled',
        })
      }
      return { act: 'stop' }
    },
    seenOf: () => 0,
    deliveryOf: ({ id }, { url, body, keys, by, ran }): Delivery => ({
      ...{ id, url, body, keys },
      ...(by && { check: () => checkKey(by, ran, permit) }),
      headers: { 'content-type': 'application/json', 'user-agent': 'servable' },
    }),
    sending: due => due,
    taken: due => due,
    record(tx, due, { reception, tries, nextTryAt, code }: Tried) {
      const delivery = tx.get<KeptDelivery>(DELIVERIES, due.id)?.value
      const isTaken = reception.how === 'taken'
      const isOver = isTaken || nextTryAt === undefined
      if (isOver) tx.delete(DUE, due.id)
      if (delivery === undefined) return
      save(tx, delivery, {
        status: statusOf(isTaken, isOver),
        tries: delivery.tries + tries,
        lastTryAt: code === undefined ? tx.now : delivery.lastTryAt,
        nextTryAt,
        responseStatus: reception.status,
        error: isTaken ? undefined : reception.why,
        code,
      })
      if (reception.status === GONE || isOfDeadKey(reception)) disable(tx, due.webhook)
      trim(tx, due.webhook, maxDeliveries)
    },
  }
}

function isOfDeadKey(reception: Reception): boolean {
  return reception.how !== 'taken' && reception.code === 'unauthorized'
}

function statusOf(isTaken: boolean, isOver: boolean): DeliveryStatus {
  if (isTaken) return 'delivered'
  return isOver ? 'failed' : 'pending'
}

/** Throws where the key is not good any more, or may not run what ran. */
async function checkKey(identity: Identity, ran: Permitted | undefined, permit: Permit): Promise<void> {
  const only = await permit({ identity })
  if (ran !== undefined) checkPermit(only, ran)
}

/** A receiver that is gone gets nothing more, until its client says so. */
function disable(tx: Transaction, id: string): void {
  const document = tx.get<KeptWebhook>(WEBHOOKS, id)
  if (document === undefined) return
  tx.put(WEBHOOKS, { ...document, value: { ...document.value, isEnabled: false } })
}

/** Deletes what has expired, and the oldest deliveries of a subscription that has too many. */
function trim(tx: Transaction, webhook: string, max: number): void {
  for (const { id } of tx.expired(DELIVERIES, tx.now, OLD_AT_ONCE)) dropDelivery(tx, id)
  const surplus = Math.min(tx.count(DELIVERIES, webhook) - max, OLD_AT_ONCE)
  if (surplus <= 0) return
  for (const { id } of tx.oldest(DELIVERIES, surplus, webhook)) dropDelivery(tx, id)
}
