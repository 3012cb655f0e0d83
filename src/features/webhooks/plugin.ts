/**
 * Webhooks of runs as a plugin: the entry `servable/webhooks`.
 *
 * @module
 */

import { asPlugin, type BuiltIn, type Core } from '../../core/built-in.ts'
import { stateFor } from '../../core/no-state.ts'
import type { Plugin } from '../../core/plugin.ts'
import { PART_SCHEMES } from '../../http/security/security-scheme.ts'
import { describeWebhooks } from './describe.ts'
import { Notices } from './notices.ts'
import { createWebhookObject } from './object.ts'
import { NAME, resolveWebhooks, type WebhooksOptions } from './options.ts'
import { adminWebhookRoutes, webhookRoutes } from './routes.ts'

export type { WebhookEventType, WebhookFilter, WebhookSubscription, WebhooksOptions } from './options.ts'
export type { WebhookPayload, WebhookRun } from './payload.ts'
export type { AnyWebhook, Webhook, WebhookDelivery, WebhookWithSecret } from './view.ts'

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
