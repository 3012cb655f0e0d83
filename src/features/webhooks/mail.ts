/**
 * Connects deliveries to the shared deliverer. Each delivery is an entry of its own, so a failing one does not delay others.
 *
 * @module
 */

import type { Identity } from '../../http/platform.ts'
import { checkPermit, type Permit, type Permitted } from '../../runs/permit.ts'
import type { Transaction } from '../../stores/store.ts'
import type { Mail, Next, Tried } from './delivery/deliverer.ts'
import type { Receiver } from './delivery/lanes.ts'
import type { Delivery, DeliveryResult } from './delivery/sender.ts'
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

/** A delivery with the current address and keys of its subscription. */
export interface Ready {
  readonly body: string
  readonly url: string
  readonly keys: readonly Key[]
  /** The identity and key that subscribed. */
  readonly by?: { readonly id: string; readonly keyId: string } | undefined
  /** The target of the run. */
  readonly ran?: Permitted | undefined
}

/** The address in place of one from a subscription that the deployment has removed. */
const NOWHERE = 'https://removed.invalid'

/** Most old deliveries that are deleted with each try. */
const OLD_AT_ONCE = 20

/** The status with which a receiver unsubscribes (RFC 9110, section 15.5.11). */
const GONE = 410

/** Creates the mail of a store. `permit` checks whether a key is still valid. */
export function createMail(settings: WebhookSettings, permit: Permit): Mail<DueDelivery, Ready> {
  const { subscriptions, runKeys, retentionMs, maxDeliveries } = settings
  const deployed = new Map(subscriptions.map(each => [each.id, each]))

  /** The address and the keys of a subscription. Undefined if it gets no more deliveries. */
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
    record(tx, due, { result, tries, nextTryAt, code }: Tried) {
      const delivery = tx.get<KeptDelivery>(DELIVERIES, due.id)?.value
      const isTaken = result.how === 'taken'
      const isOver = isTaken || nextTryAt === undefined
      if (isOver) tx.delete(DUE, due.id)
      if (delivery === undefined) return
      save(tx, delivery, {
        status: statusOf(isTaken, isOver),
        tries: delivery.tries + tries,
        lastTryAt: code === undefined ? tx.now : delivery.lastTryAt,
        nextTryAt,
        responseStatus: result.status,
        error: isTaken ? undefined : result.why,
        code,
      })
      if (result.status === GONE || isOfDeadKey(result)) disable(tx, due.webhook)
      trim(tx, due.webhook, maxDeliveries)
    },
  }
}

function isOfDeadKey(result: DeliveryResult): boolean {
  return result.how !== 'taken' && result.code === 'unauthorized'
}

function statusOf(isTaken: boolean, isOver: boolean): DeliveryStatus {
  if (isTaken) return 'delivered'
  return isOver ? 'failed' : 'pending'
}

/** Throws if the key is no longer valid, or may not run the target. */
async function checkKey(identity: Identity, ran: Permitted | undefined, permit: Permit): Promise<void> {
  const only = await permit({ identity })
  if (ran !== undefined) checkPermit(only, ran)
}

/** Disables the subscription of a receiver that is gone, until its client enables it. */
function disable(tx: Transaction, id: string): void {
  const document = tx.get<KeptWebhook>(WEBHOOKS, id)
  if (document === undefined) return
  tx.put(WEBHOOKS, { ...document, value: { ...document.value, isEnabled: false } })
}

/** Deletes the oldest deliveries of a subscription above its limit. */
function trim(tx: Transaction, webhook: string, max: number): void {
  const surplus = Math.min(tx.count(DELIVERIES, webhook) - max, OLD_AT_ONCE)
  if (surplus <= 0) return
  for (const { id } of tx.oldest(DELIVERIES, surplus, webhook)) dropDelivery(tx, id)
}
