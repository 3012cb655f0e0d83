/**
 * Checks the answers of a remote agent, before any of them is used.
 *
 * @module
 */

import { MAX_JSON_DEPTH, MAX_JSON_VALUES } from '../../web/json.ts'
import { unfit } from './failure.ts'

/** Throws `invalid_agent_response` for a value that is nested too deep, or has too many values inside. */
export function checkSize(value: unknown): void {
  const waiting: [value: unknown, depth: number][] = [[value, 0]]
  let count = 0
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const [each, depth] = next
    if (depth > MAX_JSON_DEPTH) throw unfit(`sent JSON that is nested deeper than ${MAX_JSON_DEPTH}`)
    if (typeof each !== 'object' || each === null || each instanceof Uint8Array) continue
    for (const member of Object.values(each)) {
      if (++count > MAX_JSON_VALUES) throw unfit(`sent JSON with more than ${MAX_JSON_VALUES} values`)
      waiting.push([member, depth + 1])
    }
  }
}

/** Most characters of an id. */
const MAX_ID_LENGTH = 1000

/** Returns the id of a task or an artifact. Throws `invalid_agent_response` for an empty or too long id. */
export function checkId(id: string, what: string): string {
  if (id !== '' && id.length <= MAX_ID_LENGTH) return id
  throw unfit(`sent ${what} without an id of 1 to ${MAX_ID_LENGTH} characters`)
}
