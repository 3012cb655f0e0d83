/**
 * Webhooks of runs as a plugin: the entry `servable/webhooks`.
 *
 * Begin with `notices.ts` (the end of a run becomes a delivery), then `transactions.ts`. `delivery/` signs and sends. May
 * import `core` and what is below it, and no other feature.
 *
 * @module
 */

import { asPlugin, type BuiltIn, type Core } from '../../core/built-in.ts'
import type { ObjectContext, ObjectService } from '../../core/hosted.ts'
import { stateFor } from '../../core/no-state.ts'
import { objectServiceOf } from '../../core/object-service.ts'
import type { Plugin } from '../../core/plugin.ts'
import { PART_SCHEMES } from '../../http/security/security-scheme.ts'
import { describeWebhooks } from './describe.ts'
import { Notices, webhookDeliverer } from './notices.ts'
import { NAME, resolveWebhooks, type WebhookSettings, type WebhooksOptions } from './options.ts'
import { adminWebhookRoutes, webhookRoutes } from './routes.ts'
import { webhookTransactions } from './transactions.ts'

export type { WebhookEventType, WebhookFilter, WebhookSubscription, WebhooksOptions } from './options.ts'
export type { WebhookPayload, WebhookRun } from './payload.ts'
export type {
  AnyWebhook,
  Webhook,
  WebhookDelivery,
  WebhookDeliveryWithPayload,
  WebhookWithSecret,
} from './view.ts'

/**
 * Notifies receivers when stored runs have completed, failed, been cancelled, or wait for input. Requests are signed (Standard
 * Webhooks 1.0.0): check them with `verifyWebhook`, or any library of that standard. Each is sent at least once. Throws
 * `invalid_options`.
 */
export function webhooks(options: WebhooksOptions = {}): Plugin {
  const settings = resolveWebhooks(options)
  return asPlugin({
    name: NAME,
    objectServices: { index: (context, core) => createWebhookObject(context, core, settings) },
    notices: (core, callTransactions) => {
      stateFor(NAME, core.state)
      return new Notices(settings, core, callTransactions)
    },
    mount(core) {
      // The handler's own notices, which were created earlier.
      const notices = core.runs.notices as Notices
      const { prefix, maxBodyBytes, checkShared, life, runs } = core
      notices.permit = runs.permit
      const parts = { prefix, maxBodyBytes, checkShared, settings, notices }
      const hasClients = settings.maxPerOwner > 0
      const admin = adminOf(core)
      return {
        routes: [
          ...(hasClients ? webhookRoutes(parts) : []),
          ...(admin ? adminWebhookRoutes(parts, admin.decidesItself) : []),
        ],
        ...(hasClients && { links: { webhooks: `${prefix}/webhooks` } }),
        describe: build =>
          describeWebhooks(build, {
            clients: hasClients,
            admin: admin && (admin.decidesItself ? { security: [{ [PART_SCHEMES.admin]: [] }] } : {}),
          }),
        ownersOf: tenant => notices.calls.owners(NAME, tenant),
        forget: async what => notices.forgetAll(what),
        begin() {
          life.atBeginning(() => notices.send())
          life.regularly(() => notices.send())
        },
        close: () => notices.close(),
      }
    },
  })
}

/** The admin plugin, whose guard protects the admin routes. */
function adminOf({ settings }: Core): BuiltIn | undefined {
  return (settings.plugins as readonly unknown[] as readonly BuiltIn[]).find(({ name }) => name === 'admin')
}

/** Creates the service of the object that stores and sends all deliveries. Its alarm is set for the next due one. */
function createWebhookObject(
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
