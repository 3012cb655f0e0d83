/**
 * Sessions that people can see as a plugin: the entry `servable/sessions`.
 *
 * @module
 */

import { asPlugin } from '../core/built-in.ts'
import { stateFor } from '../core/no-state.ts'
import type { Plugin } from '../core/plugin.ts'
import { ServableError } from '../errors.ts'
import { describeSessions } from './describe.ts'
import { NAME, Sessions } from './keeper.ts'
import { sessionRoutes } from './routes.ts'
import { SESSION_WORKS } from './transactions.ts'

export type { SessionPage, SessionSummary } from './list.ts'
export type { TurnPage } from './turns.ts'

/**
 * Shows callers their sessions: `GET /sessions`, `/agents/:name/sessions/:id` and what is below it. Throws `invalid_options` where
 * none are kept.
 */
export function sessions(): Plugin {
  return asPlugin({
    name: NAME,
    transactions: { [NAME]: SESSION_WORKS },
    mount(core) {
      stateFor(NAME, core.settings.state)
      const kept = core.runs.memory?.sessions
      if (kept === undefined) {
        throw new ServableError('invalid_options', '`sessions` shows what is kept: `runs.store` is `none`')
      }
      const shown = new Sessions(core)
      kept.changed = key => shown.tell(key)
      return { routes: sessionRoutes(core, shown), describe: describeSessions }
    },
  })
}
