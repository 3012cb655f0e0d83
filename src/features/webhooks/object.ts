/**
 * The deliveries of all runs in one object: it has them, and sends them.
 *
 * @module
 */

import type { Core } from '../../core/built-in.ts'
import type { ObjectService, Seat } from '../../core/hosted.ts'
import { objectServiceOf } from '../../core/object-service.ts'
import { webhookDeliverer } from './notices.ts'
import type { WebhookSettings } from './options.ts'
import { webhookTransactions } from './transactions.ts'

/** Makes the keeper. Its alarm rings when a delivery is due. */
export function createWebhookObject(
  seat: Seat,
  { log, runs }: Core,
  settings: WebhookSettings,
): ObjectService {
  const transactions = webhookTransactions(settings)
  const keeper = objectServiceOf(seat, transactions)
  const deliverer = webhookDeliverer(settings, {
    store: seat.store,
    log,
    permit: async asker => runs.permit?.(asker),
    keepAlive: work => seat.waitUntil(work),
    schedule: at => seat.waitUntil(seat.wakeBy(at)),
  })
  return {
    async ask(method, args) {
      const answer = await keeper.ask(method, args)
      if (Object.hasOwn(transactions.writes, method)) deliverer.sweep()
      return answer
    },
    async alarm() {
      await keeper.alarm?.()
      deliverer.sweep()
    },
  }
}
