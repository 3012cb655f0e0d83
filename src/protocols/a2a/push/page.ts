/**
 * Pages of the push notification configs of a task (section 3.1.9 of A2A 1.0).
 *
 * @module
 */

import { ServableError } from '../../../base/errors.ts'
import type { PushConfig, PushLook } from './config.ts'

/** A page of configs. */
export interface ConfigPage {
  readonly configs: readonly PushConfig[]
  /** The token of the next page. Empty on the last page. */
  readonly nextPageToken: string
}

/** The page that a request asks for. Without a size it has all configs. Throws `invalid_params` for an unknown token. */
export function pageOf(
  all: readonly PushConfig[],
  { pageSize = all.length, pageToken }: Extract<PushLook, { act: 'list' }>,
): ConfigPage {
  const before = pageToken === undefined ? -1 : all.findIndex(({ id }) => tokenOf(id) === pageToken)
  if (pageToken !== undefined && before === -1) {
    throw new ServableError(
      'invalid_params',
      '`pageToken` must be the `nextPageToken` of the previous page: ask for the first page again',
    )
  }
  const configs = all.slice(before + 1, before + 1 + pageSize)
  const last = configs.at(-1)
  const isEnd = last === undefined || last === all.at(-1)
  return { configs, nextPageToken: isEnd ? '' : tokenOf(last.id) }
}

/** The token of the page after a config. */
function tokenOf(id: string): string {
  const bytes = new TextEncoder().encode(id.toWellFormed())
  return Array.from(bytes, byte => byte.toString(16).padStart(2, '0')).join('')
}
