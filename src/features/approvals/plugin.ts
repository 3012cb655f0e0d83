/**
 * Approvals as a plugin: the entry `servable/approvals`.
 *
 * Begin with `service.ts` (who may decide), then `inbox.ts`, `said.ts` and `expiry.ts` (when an approval expires). May import `core` and
 * what is below it, and no other feature.
 *
 * @module
 */

import * as v from 'valibot'
import { checkOptions, count, func } from '../../base/schemas.ts'
import { asPlugin } from '../../core/built-in.ts'
import { stateFor } from '../../core/no-state.ts'
import type { Plugin } from '../../core/plugin.ts'
import { goOn } from '../../http/runs/go-on.ts'
import { describeApprovals } from './describe.ts'
import { adoptWaiting, INBOX_TRANSACTIONS } from './inbox.ts'
import { approvalRoutes } from './routes.ts'
import { ApprovalService, type Authorize, NAME } from './service.ts'

export type { Approver } from '../../runs/waiting/asking.ts'
export type { WaitingRequest } from './inbox.ts'
export type { ApprovalDetail, AskedApproval, Authorize, Decider } from './service.ts'
export type { InboxEvent } from './watch.ts'

/** Who decides approvals, and until when. */
export interface ApprovalsOptions {
  /**
   * Decides who may decide an approval, including its own requester. It is called for each decision. If it throws, or takes
   * longer than 10 s, the decision is refused. Default: only the owner of the run decides.
   */
  readonly authorize?: Authorize | undefined
  /** Milliseconds for which an approval may be decided. Default: 604,800,000, a week. */
  readonly expiresMs?: number | undefined
  /**
   * What happens after that. `refuse` fails the run with `approval_expired`, without a model call. `continue` denies the call,
   * and the run continues. Default: `refuse`.
   */
  readonly onExpiry?: 'refuse' | 'continue' | undefined
}

const OptionsSchema = v.strictObject({
  authorize: v.optional(func),
  expiresMs: v.optional(count),
  onExpiry: v.optional(v.picklist(['refuse', 'continue'], "must be 'refuse' or 'continue'")),
})

/**
 * Lets others decide the requests of runs, lists them at `GET /approvals`, and lets approvals expire. Throws `invalid_options`.
 */
export function approvals(options: ApprovalsOptions = {}): Plugin {
  checkOptions(NAME, OptionsSchema, options)
  const { authorize, expiresMs = 7 * 24 * 60 * 60 * 1000, onExpiry = 'refuse' } = options
  return asPlugin({
    name: NAME,
    transactions: { [NAME]: INBOX_TRANSACTIONS },
    approvals: (core, callTransactions) => {
      stateFor(NAME, core.state)
      return new ApprovalService({ authorize, expiresMs, onExpiry }, core, callTransactions)
    },
    mount(core) {
      // The handler's own service, which was created earlier.
      const kept = core.runs.approvals as ApprovalService
      kept.goOn = next => goOn(next, core)
      kept.sessions = core.runs.memory?.sessions
      const { state } = core.settings
      return {
        routes: approvalRoutes(core.prefix, kept, core.host),
        links: { approvals: `${core.prefix}/approvals` },
        describe: describeApprovals,
        begin: () =>
          core.life.atBeginning(() => {
            if (state.kind === 'local') void adoptWaiting(state.store).finally(() => core.host.lookAfter?.())
          }),
      }
    },
  })
}
