/**
 * The object of all deliveries, which stores and sends them.
 *
 * @module
 */

import type { Core } from '../../core/built-in.ts'
import type { ObjectContext, ObjectService } from '../../core/hosted.ts'
import { objectServiceOf } from '../../core/object-service.ts'
import { webhookDeliverer } from './notices.ts'
import type { WebhookSettings } from './options.ts'
import { webhookTransactions } from './transactions.ts'

/** Creates the service. Its alarm is set for the next due delivery. */
export function createWebhookObject(
  context: ObjectContext,
  { log, runs }: Core,
  settings: WebhookSettings,
): ObjectService {
  const transactions = webhookTransactions(settings)
  const service = objectServiceOf(context, transactions)
  const deliverer = webhookDeliverer(settings, {
    store: context.store,
    log,
    permit: async asker => runs.permit?.(asker),
    keepAlive: work => context.waitUntil(work),
    schedule: at => context.waitUntil(context.wakeBy(at)),
  })
  return {
    async ask(method, args) {
      const answer = await service.ask(method, args)
      if (Object.hasOwn(transactions.writes, method)) deliverer.sweep()
      return answer
    },
    async alarm() {
      await service.alarm?.()
      deliverer.sweep()
    },
  }
}
