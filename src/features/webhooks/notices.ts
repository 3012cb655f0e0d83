/**
 * Records the ends of stored runs, and sends them. A local store writes the deliveries with the end of the run. The object of a
 * run writes a notice, and passes it on to the object of all deliveries.
 *
 * @module
 */

import { nameResolver } from '../../base/environment.ts'
import { ServableError } from '../../base/errors.ts'
import { misfit, validate } from '../../base/validation.ts'
import { createSchedule } from '../../base/wake.ts'
import type { CoreSettings } from '../../core/options.ts'
import type { Forgetting } from '../../core/plugin.ts'
import type { Calls, CallTransactions } from '../../core/transaction-calls.ts'
import { logThrown } from '../../http/failure-log.ts'
import type { NoticeDetails, RunNotices } from '../../runs/notices.ts'
import type { Permit } from '../../runs/permit.ts'
import type { StoredRun } from '../../runs/stored/record.ts'
import type { NearStore, Position, Store, Transaction } from '../../stores/store.ts'
import { Deliverer, type DelivererOptions } from './delivery/deliverer.ts'
import { createSender, type Sender } from './delivery/sender.ts'
import { type DueDelivery, deliveryIdOf, dropDeliveriesOf, OUTBOX, RUN_WEBHOOK } from './kept.ts'
import { createMail, type Ready } from './mail.ts'
import { createMatcher } from './matching.ts'
import { NAME, type WebhookSettings, webhookUrl } from './options.ts'
import { eventOf, noticeOf, type RunNotice } from './payload.ts'
import { type WebhookTransactions, webhookTransactions } from './transactions.ts'

/** Most notices of one object that are passed on at once. */
const AT_ONCE = 10

/** Creates the sender. It refuses receivers that are not public, unless they are allowed. */
export function webhookSender({ allow, timeoutMs }: WebhookSettings): Sender {
  return createSender({ allow, timeoutMs, resolve: nameResolver() })
}

/** Creates the deliverer of a store. */
export function webhookDeliverer(
  settings: WebhookSettings,
  {
    log,
    permit,
    ...parts
  }: Pick<DelivererOptions<DueDelivery, Ready>, 'store' | 'keepAlive' | 'schedule' | 'isOpen'> &
    Pick<CoreSettings, 'log'> & { readonly permit: Permit },
): Deliverer<DueDelivery, Ready> {
  return new Deliverer({
    ...parts,
    settings,
    sender: webhookSender(settings),
    mail: createMail(settings, permit),
    onGivenUp: ({ webhook }, why) =>
      log({ level: 'warn', event: 'webhook.given_up', webhook, message: `A delivery is given up: ${why}` }),
  })
}

/** The notices of a handler's runs. */
export class Notices implements RunNotices {
  readonly collections: readonly string[] = [OUTBOX]
  readonly calls: Calls<WebhookTransactions>
  readonly forgetIn: RunNotices['forgetIn'] = dropDeliveriesOf
  readonly #settings: WebhookSettings
  readonly #transactions: WebhookTransactions
  readonly #core: CoreSettings
  readonly #match: ReturnType<typeof createMatcher>
  /** Undefined if Durable Objects send. */
  readonly #deliverer: Deliverer<DueDelivery, Ready> | undefined
  /** The handler's `permit`, set once the handler is made. */
  permit: Permit | undefined
  /** False while no server serves. Then the store is not used. */
  #isOpen = true

  constructor(settings: WebhookSettings, core: CoreSettings, callTransactions: CallTransactions) {
    this.#settings = settings
    this.#core = core
    this.#transactions = webhookTransactions(settings)
    this.#match = createMatcher(settings.subscriptions)
    this.calls = callTransactions(NAME, this.#transactions)
    const { state } = core
    if (state.kind === 'local') this.#deliverer = this.#open(state.store, state.keepOpen)
  }

  #open(store: Store, keepOpen: (() => () => unknown) | undefined): Deliverer<DueDelivery, Ready> {
    const deliverer: Deliverer<DueDelivery, Ready> = webhookDeliverer(this.#settings, {
      store,
      log: this.#core.log,
      permit: async asker => this.permit?.(asker),
      keepAlive: work => {
        const letGo = keepOpen?.()
        void work.finally(() => letGo?.())
      },
      schedule: createSchedule(() => deliverer.sweep()),
      isOpen: () => this.#isOpen,
    })
    return deliverer
  }

  async admit({ url, isBackground }: Parameters<RunNotices['admit']>[0]): Promise<void> {
    if (!isBackground) throw misfit('webhook', 'is for runs in the background: add `background: true`')
    if (this.#settings.runKeys === undefined) {
      throw new ServableError(
        'unsupported_operation',
        'A run may not name a webhook here: `webhooks.runs` is not set',
      )
    }
    await this.check(validate(webhookUrl, url, 'invalid_body', 'webhook.url'))
  }

  /** Throws `address_refused` if nothing may be sent to the address. */
  check(url: string): Promise<void> {
    return webhookSender(this.#settings).check(url)
  }

  note(tx: Transaction, run: StoredRun, outcome: NoticeDetails): void {
    const { owner, webhook, record } = run
    const type = eventOf(record.status)
    if (type === undefined) return
    const matching = this.#match({ type, owner, run: record })
    const hasClients = owner !== null && this.#settings.maxPerOwner > 0
    if (matching.length === 0 && !hasClients && webhook === undefined) return
    const needsContents = hasClients || matching.some(({ contents }) => contents)
    this.#put(tx, noticeOf(type, run, needsContents ? outcome : undefined))
  }

  #put(tx: Transaction, notice: RunNotice): void {
    if (this.#core.state.kind === 'local') return this.#transactions.writes.enqueue(tx, [notice])
    const { runId } = notice.run
    const id = deliveryIdOf(notice, '')
    tx.put(OUTBOX, { id, partition: '', at: tx.now, tags: {}, value: notice }, { thing: runId })
  }

  async forget(store: NearStore, runId: string): Promise<void> {
    await this.calls.forgetRun(NAME, runId)
    store.write(tx => {
      for (const { id } of tx.oldest(OUTBOX, AT_ONCE)) tx.delete(OUTBOX, id)
    })
  }

  /** Deletes the subscriptions and deliveries of an owner, or the deliveries of a session. Returns whether there were any. */
  async forgetAll(what: Forgetting): Promise<boolean> {
    const { owner, session } = what
    let hasFound = owner !== null && session === undefined && (await this.calls.forget(NAME, owner))
    const own = owner === null ? [] : await this.calls.list(NAME, owner)
    for (const { id } of [...this.#settings.subscriptions, { id: RUN_WEBHOOK }, ...own]) {
      let after: Position | undefined
      do {
        const { count, next } = await this.calls.drop(NAME, id, what, after)
        hasFound ||= count > 0
        after = next
      } while (after !== undefined)
    }
    return hasFound
  }

  send(): void {
    this.#isOpen = true
    this.#deliverer?.sweep()
  }

  /** Called after the last server. Pending deliveries are sent by the next server. */
  async close(): Promise<void> {
    this.#isOpen = false
    await this.#deliverer?.close()
  }

  async forward(store: NearStore): Promise<void> {
    const waiting = store.read(tx => tx.oldest<RunNotice>(OUTBOX, AT_ONCE))
    if (waiting.length === 0) return
    try {
      await this.calls.enqueue(
        NAME,
        waiting.map(({ value }) => value),
        true,
      )
    } catch (error) {
      logThrown(this.#core.log, { event: 'webhook.failed' }, error)
      throw error
    }
    store.write(tx => {
      for (const { id } of waiting) tx.delete(OUTBOX, id)
    })
  }
}
