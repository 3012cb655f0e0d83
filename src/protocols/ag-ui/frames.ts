/**
 * Frames that events of a run become: what AG-UI has no word for, and changes of a state.
 *
 * @module
 */

import { sseData } from '../../web/sse.ts'
import { isObject } from '../encoders/index.ts'

/** A frame of the kind `servable.NAME`. */
export function custom(name: string, value: object): string {
  return sseData({ type: 'CUSTOM', name: `servable.${name}`, value })
}

/** The events for changes of a state. Undefined if the values are not JSON Patches. */
export function deltasOf(patches: readonly unknown[]): string | undefined {
  if (!patches.every(isPatch)) return undefined
  return patches.map(delta => sseData({ type: 'STATE_DELTA', delta })).join('')
}

/** Whether a value looks like a JSON Patch (RFC 6902). */
function isPatch(value: unknown): boolean {
  return Array.isArray(value) && value.every(each => isObject(each) && typeof each.path === 'string')
}
