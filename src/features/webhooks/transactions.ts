/**
 * The transactions of webhooks. They run next to the data: in this process, or in one object.
 *
 * @module
 */

import { ServableError } from '../../base/errors.ts'
import type { Forgetting } from '../../core/plugin.ts'
import type { Transactions } from '../../core/transaction-calls.ts'
import type { Permitted } from '../../runs/permit.ts'
import { ownersIn, type Page, readPage } from '../../runs/stored/page.ts'
import type { Position, Reader, Filter as StoreFilter, Transaction } from '../../stores/store.ts'
import {
  DELIVERIES,
  type DeliveryStatus,
  type DeliveryType,
  deliveryIdOf,
  dropDeliveriesOf,
  dropDelivery,
  type KeptDelivery,
  type KeptWebhook,
  putDelivery,
  putDue,
  RUN_WEBHOOK,
  WEBHOOKS,
} from './kept.ts'
import { createMatcher, matches } from './matching.ts'
import { TEST, type WebhookSettings } from './options.ts'
import { bodyOf, type RunNotice, testBody } from './payload.ts'

/** The subscription and the tags of deliveries to list. */
type Filter = Pick<StoreFilter, 'partition' | 'tags'>

/** The owner whose subscription is requested. Undefined for an administrator, who may request any. */
export type OwnerFilter = string | undefined

/** Which deliveries to list, newest first. */
export interface DeliveryQuery {
  readonly status?: DeliveryStatus | undefined
  readonly type?: DeliveryType | undefined
  readonly cursor?: string | undefined
  readonly limit: number
}

/** A client's change of a subscription. Null resets to all. */
export type WebhookChange = {
  readonly [Name in 'url' | 'events' | 'agents' | 'contents' | 'isEnabled' | 'keyId' | 'only']?:
    | KeptWebhook[Name]
    | null
    | undefined
}

/** The transactions. Subscriptions that do not exist or are not the caller's are `webhook_not_found`. */
export interface WebhookTransactions extends Transactions {
  readonly reads: {
    /** The subscriptions of an owner, or the oldest 1,000 of all. */
    readonly list: (tx: Reader, owner: OwnerFilter) => KeptWebhook[]
    readonly find: (tx: Reader, id: string, owner: OwnerFilter) => KeptWebhook
    /** Some of the owners of a tenant. */
    readonly owners: (tx: Reader, tenant: string) => readonly string[]
    readonly deliveries: (
      tx: Reader,
      id: string,
      owner: OwnerFilter,
      query: DeliveryQuery,
    ) => Page<KeptDelivery>
    /** Those of one subscription, or of all: of a client's, or of everyone for an administrator. */
    readonly allDeliveries: (
      tx: Reader,
      owner: OwnerFilter,
      query: DeliveryQuery & { readonly webhook?: string | undefined },
    ) => Page<KeptDelivery>
    /** Throws `delivery_not_found`. */
    readonly delivery: (tx: Reader, id: string, owner: OwnerFilter, delivery: string) => KeptDelivery
  }
  readonly writes: {
    /** Throws `too_many_webhooks`. */
    readonly add: (tx: Transaction, webhook: KeptWebhook) => void
    readonly change: (tx: Transaction, id: string, owner: string, change: WebhookChange) => KeptWebhook
    /** The replaced secret signs for another day. */
    readonly rotate: (tx: Transaction, id: string, owner: string, secret: string) => KeptWebhook
    readonly remove: (tx: Transaction, id: string, owner: OwnerFilter) => void
    /** Deletes all data of an owner. Returns whether there was any. */
    readonly forget: (tx: Transaction, owner: string) => boolean
    /** Deletes the deliveries of a run. */
    readonly forgetRun: (tx: Transaction, runId: string) => void
    /** Deletes a page of a subscription's deliveries that belong to an owner or session. */
    readonly drop: (tx: Transaction, id: string, what: Forgetting, after: Position | undefined) => Dropped
    /** Writes a delivery for each subscriber of a notice. `isAgain` says that the notices may have been processed before. */
    readonly enqueue: (tx: Transaction, notices: readonly RunNotice[], isAgain?: boolean) => void
    /** Sends a test. `delivery` is its id. */
    readonly test: (tx: Transaction, id: string, owner: OwnerFilter, delivery: string) => KeptDelivery
    /** Sends a delivery again. Throws `delivery_not_found`. */
    readonly replay: (tx: Transaction, id: string, owner: OwnerFilter, delivery: string) => KeptDelivery
  }
}

/** Number of deleted deliveries, and the position of the next page, if there is one. */
interface Dropped {
  readonly count: number
  readonly next: Position | undefined
}

/** Deliveries to read at once. They include their bodies. */
const PAGE = 100

/** Most subscriptions of one list. */
const MANY = 1000

/** Milliseconds for which a replaced secret still signs. */
const ROTATION_MS = 24 * 60 * 60 * 1000

/** The recipient of a delivery. */
interface Recipient {
  readonly id: string
  readonly url?: string | undefined
  readonly contents?: boolean | undefined
  readonly keyId?: string | undefined
  readonly includesOwner: boolean
}

/** Makes the transactions. */
export function webhookTransactions(settings: WebhookSettings): WebhookTransactions {
  const deployed = new Set(settings.subscriptions.map(({ id }) => id))
  /** Throws for a subscription that is not the caller's. Administrators may also request those of the deployment and of runs. */
  const check = (
    tx: Reader,
    id: string,
    owner: OwnerFilter,
  ): Pick<KeptWebhook, 'url' | 'owner'> | undefined => {
    if (owner === undefined && (deployed.has(id) || id === RUN_WEBHOOK)) return undefined
    return find(tx, id, owner)
  }
  const page = (tx: Reader, { partition, tags }: Filter, { status, type, ...query }: DeliveryQuery) => {
    const all = { ...tags, ...(status && { status }), ...(type && { type }) }
    const filter = { partition, tags: all }
    const { values, next } = readPage<KeptDelivery>(tx, DELIVERIES, filter, { ...query, isLive: true })
    return { values: values.filter(({ createdAt }) => createdAt + settings.retentionMs > tx.now), next }
  }
  return {
    expiring: [DELIVERIES],
    forget: (tx, _, id) => dropDelivery(tx, id),
    reads: {
      list: (tx, owner) =>
        owner === undefined
          ? tx.oldest<KeptWebhook>(WEBHOOKS, MANY).map(({ value }) => value)
          : tx.list<KeptWebhook>(WEBHOOKS, { partition: owner, limit: MANY }).map(({ value }) => value),
      find,
      owners: (tx, tenant) => ownersIn<KeptWebhook>(tx, WEBHOOKS, tenant, ({ value }) => value.owner),
      deliveries(tx, id, owner, query) {
        check(tx, id, owner)
        return page(tx, { partition: id }, query)
      },
      allDeliveries(tx, owner, { webhook, ...query }) {
        if (webhook !== undefined) check(tx, webhook, owner)
        return page(tx, { partition: webhook, ...(owner !== undefined && { tags: { of: owner } }) }, query)
      },
      delivery(tx, id, owner, delivery) {
        check(tx, id, owner)
        const found = findDelivery(tx, id, delivery)
        if (found.createdAt + settings.retentionMs > tx.now) return found
        throw noDelivery()
      },
    },
    writes: { ...subscriptionWrites(settings), ...deliveryWrites(settings, check) },
  }
}

type Writes = WebhookTransactions['writes']

/** The writes of subscriptions. */
function subscriptionWrites({
  maxPerOwner,
}: WebhookSettings): Pick<Writes, 'add' | 'change' | 'rotate' | 'remove' | 'forget'> {
  return {
    add(tx, webhook) {
      const most = Math.max(1, maxPerOwner)
      if (tx.count(WEBHOOKS, webhook.owner) >= most) {
        throw new ServableError('too_many_webhooks', `One client may have ${most} webhooks: delete one first`)
      }
      put(tx, webhook)
    },
    change: (tx, id, owner, change) => put(tx, changed(find(tx, id, owner), change)),
    rotate(tx, id, owner, secret) {
      const webhook = find(tx, id, owner)
      const [before] = webhook.secrets
      const older = before === undefined ? [] : [{ ...before, until: tx.now + ROTATION_MS }]
      return put(tx, { ...webhook, secrets: [{ secret }, ...older] })
    },
    remove(tx, id, owner) {
      find(tx, id, owner)
      remove(tx, id)
    },
    forget(tx, owner) {
      const all = tx.list(WEBHOOKS, { partition: owner, limit: MANY })
      for (const { id } of all) remove(tx, id)
      return all.length > 0
    },
  }
}

/** The writes of deliveries. `check` throws for a subscription that is not the caller's. */
function deliveryWrites(
  settings: WebhookSettings,
  check: (tx: Reader, id: string, owner: OwnerFilter) => Pick<KeptWebhook, 'url' | 'owner'> | undefined,
): Pick<Writes, 'forgetRun' | 'drop' | 'enqueue' | 'test' | 'replay'> {
  const receiversOf = receiversBy(settings)
  const queue = (tx: Transaction, delivery: KeptDelivery, url: string | undefined): KeptDelivery => {
    putDelivery(tx, delivery, settings.retentionMs)
    putDue(tx, delivery, { url, generation: crypto.randomUUID() })
    return delivery
  }
  return {
    forgetRun: dropDeliveriesOf,
    drop(tx, partition, what, after) {
      const tags = what.session && { sessionId: what.session.id }
      const page = { partition, tags, after, limit: PAGE, looks: MANY }
      const { documents, next } = tx.search<KeptDelivery>(DELIVERIES, page)
      const found = documents.filter(({ value }) => isAmong(value, what))
      for (const each of found) dropDelivery(tx, each.id)
      return { count: found.length, next }
    },
    enqueue(tx, notices, isAgain = false) {
      for (const notice of notices) {
        for (const to of receiversOf(tx, notice)) {
          const id = deliveryIdOf(notice, to.id)
          if (isAgain && tx.get(DELIVERIES, id) !== undefined) continue
          queue(tx, deliveryOf(id, notice, to, tx.now), to.url)
        }
      }
    },
    test(tx, id, owner, delivery) {
      const to = id === RUN_WEBHOOK ? find(tx, id, owner) : check(tx, id, owner)
      const about = { id: delivery, webhook: id, owner: to?.owner ?? null, type: TEST } as const
      return queue(
        tx,
        { ...about, createdAt: tx.now, body: testBody(tx.now), status: 'pending', tries: 0 },
        to?.url,
      )
    },
    replay(tx, id, owner, delivery) {
      const url = check(tx, id, owner)?.url
      const before = findDelivery(tx, id, delivery)
      // A pending delivery is left to its worker.
      if (before.status === 'pending') return before
      const { error: _, nextTryAt: __, code: ___, ...about } = before
      return queue(tx, { ...about, status: 'pending' }, url ?? before.url)
    },
  }
}

/** Makes the function that finds who hears of a notice. */
function receiversBy({
  subscriptions,
  maxPerOwner,
  runKeys,
}: WebhookSettings): (tx: Reader, notice: RunNotice) => Recipient[] {
  const match = createMatcher(subscriptions)
  return (tx, notice) => {
    const { owner, url } = notice
    const own =
      owner === null || maxPerOwner === 0
        ? []
        : tx.list<KeptWebhook>(WEBHOOKS, { partition: owner, limit: maxPerOwner })
    return [
      ...match(notice).map(({ id, contents }) => ({ id, contents, includesOwner: true })),
      ...own
        .filter(({ value }) => value.isEnabled && matches(value, notice) && isOf(value, notice.run))
        .map(({ value: { id, contents, url, keyId } }) => ({
          id,
          contents,
          url,
          keyId,
          includesOwner: false,
        })),
      ...(url !== undefined && runKeys !== undefined ? [{ id: RUN_WEBHOOK, url, includesOwner: false }] : []),
    ]
  }
}

function find(tx: Reader, id: string, owner: OwnerFilter): KeptWebhook {
  const found = tx.get<KeptWebhook>(WEBHOOKS, id)?.value
  if (found !== undefined && (owner === undefined || found.owner === owner)) return found
  throw new ServableError('webhook_not_found', 'There is no such webhook')
}

function findDelivery(tx: Reader, webhook: string, id: string): KeptDelivery {
  const found = tx.get<KeptDelivery>(DELIVERIES, id)?.value
  if (found?.webhook === webhook) return found
  throw noDelivery()
}

function noDelivery(): ServableError {
  return new ServableError('delivery_not_found', 'The webhook has no such delivery: it may have expired')
}

function put(tx: Transaction, webhook: KeptWebhook): KeptWebhook {
  const { id, owner: partition, createdAt: at } = webhook
  tx.put(WEBHOOKS, { id, partition, at, tags: {}, value: webhook })
  return webhook
}

function remove(tx: Transaction, id: string): void {
  tx.delete(WEBHOOKS, id)
  for (;;) {
    const left = tx.oldest(DELIVERIES, MANY, id)
    if (left.length === 0) return
    for (const each of left) dropDelivery(tx, each.id)
  }
}

/** The delivery of a notice. */
function deliveryOf(id: string, notice: RunNotice, to: Recipient, now: number): KeptDelivery {
  const { type, owner, run } = notice
  const url = to.id === RUN_WEBHOOK ? to.url : undefined
  const ran = to.keyId === undefined ? undefined : { kind: run.kind, name: run.name }
  const session = sessionOf(notice)
  const about = { id, webhook: to.id, owner, type, runId: run.runId, session, url, ...(ran && { ran }) }
  return { ...about, createdAt: now, body: bodyOf(notice, to), status: 'pending', tries: 0 }
}

/** The session of a run for deletion. Undefined for a claimed `userId`, whose sessions nobody can delete. */
function sessionOf({ owner, run }: RunNotice): KeptDelivery['session'] {
  const { kind, name, sessionId: id, userId } = run
  return id === undefined || (owner === null && userId !== undefined) ? undefined : { kind, name, id }
}

/** Whether a delivery is to be deleted. Session deliveries were found by the session's id. */
function isAmong({ owner, session }: KeptDelivery, what: Forgetting): boolean {
  const of = what.session
  return owner === what.owner && (of === undefined || (session?.kind === of.kind && session.name === of.name))
}

/** Whether the key of a subscription may run the target. */
function isOf({ only }: KeptWebhook, { kind, name }: Permitted): boolean {
  return only === undefined || only.includes(`${kind}:${name}`)
}

/** Absent members stay. */
export function changed(webhook: KeptWebhook, change: WebhookChange): KeptWebhook {
  const given = Object.entries(change).filter(([, value]) => value !== undefined)
  const all = Object.entries({ ...webhook, ...Object.fromEntries(given) })
  return Object.fromEntries(all.filter(([, value]) => value !== null)) as unknown as KeptWebhook
}
