/**
 * AG-UI as a plugin: the entry `servable/ag-ui`.
 *
 * @module
 */

import { asPlugin } from '../core/built-in.ts'
import type { Plugin } from '../core/plugin.ts'

/** Serves `POST {prefix}/agents/:name/ag-ui`. */
export function agUi(): Plugin {
  return asPlugin({ name: 'ag-ui' })
}
