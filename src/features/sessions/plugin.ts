/**
 * The plugin `sessions`, which shows people their sessions: the entry `servable/sessions`.
 *
 * Begin with `routes.ts`, then `list.ts` (lists), `forget.ts` (deletion) and `feedback.ts`. The turns themselves are in
 * `runs/sessions`. May import `core` and what is below it, and no other feature.
 *
 * @module
 */

import { ServableError } from '../../base/errors.ts'
import { asPlugin } from '../../core/built-in.ts'
import { stateFor } from '../../core/no-state.ts'
import type { Plugin } from '../../core/plugin.ts'
import { joinPath } from '../../http/router.ts'
import { describeSessions } from './describe.ts'
import { ENDING_SERVICE, ENDING_TRANSACTIONS } from './ending.ts'
import { exportRoutes } from './export.ts'
import { feedbackRoutes } from './feedback.ts'
import { FEEDBACK_SERVICE, FEEDBACK_TRANSACTIONS } from './feedback-transactions.ts'
import { Forgetter } from './forget.ts'
import { forgetRoutes, sessionRoutes } from './routes.ts'
import { NAME, SessionService } from './service.ts'
import { SESSION_SERVICE_TRANSACTIONS } from './transactions.ts'

export type { StoredFeedback } from '../../runs/feedback.ts'
export type { SessionPage, SessionSummary } from '../../runs/sessions/summary.ts'
export type { TurnPage } from './turns.ts'

/**
 * Serves the sessions of callers: `GET /sessions`, `/agents/:name/sessions/:id` and the routes below it. Throws `invalid_options`
 * if sessions are not stored.
 */
export function sessions(): Plugin {
  return asPlugin({
    name: NAME,
    transactions: {
      [NAME]: SESSION_SERVICE_TRANSACTIONS,
      [ENDING_SERVICE]: ENDING_TRANSACTIONS,
      [FEEDBACK_SERVICE]: FEEDBACK_TRANSACTIONS,
    },
    mount(core) {
      stateFor(NAME, core.settings.state)
      const kept = core.runs.memory?.sessions
      if (kept === undefined) {
        throw new ServableError('invalid_options', '`sessions` shows what is kept: `runs.store` is `none`')
      }
      const shown = new SessionService(core)
      kept.changed = key => shown.tell(key)
      const forgetter = new Forgetter(core, shown, kept)
      const routes = [
        ...sessionRoutes(core, shown),
        ...forgetRoutes(core, forgetter),
        ...feedbackRoutes(core),
        ...exportRoutes(core, shown),
      ]
      return {
        routes,
        links: { sessions: joinPath(core.prefix, 'sessions') },
        sessions: {
          list: (identity, query) => shown.list(identity, query),
          rename: (key, title) => shown.update(key, { title }),
          fork: (key, identity, how) => shown.fork(key, identity, how),
          forgetBranch: (owner, session, runId) => forgetter.branch(owner, session, runId),
          forget: (owner, session, cancels) => forgetter.session(owner, session, cancels),
        },
        describe: describeSessions,
      }
    },
  })
}
