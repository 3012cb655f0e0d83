/**
 * AG-UI as a plugin: the entry `servable/ag-ui`.
 *
 * @module
 */

import { asPlugin } from '../../core/built-in.ts'
import type { Plugin } from '../../core/plugin.ts'
import { describeAgUi } from './describe.ts'
import { agUiRoutes } from './routes.ts'

/** Serves `POST {prefix}/agents/:name/ag-ui`, and the same for teams and workflows, to clients of AG-UI 0.x and 1.0. */
export function agUi(): Plugin {
  return asPlugin({
    name: 'ag-ui',
    mount: core => ({ routes: agUiRoutes(core), describe: describeAgUi }),
  })
}
