/**
 * Sessions that people can see as a plugin: the entry `servable/sessions`.
 *
 * @module
 */

import { asPlugin } from '../core/built-in.ts'
import { stateFor } from '../core/no-state.ts'
import type { Plugin } from '../core/plugin.ts'
import { describeSessions } from './describe.ts'
import { sessionRoutes } from './routes.ts'

const NAME = 'sessions'

/** Shows callers their sessions: `GET /sessions` and `/agents/:name/sessions/:id`. */
export function sessions(): Plugin {
  return asPlugin({
    name: NAME,
    mount(core) {
      stateFor(NAME, core.settings.state)
      return { routes: sessionRoutes(core), describe: describeSessions }
    },
  })
}
