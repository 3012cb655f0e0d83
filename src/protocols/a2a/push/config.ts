/**
 * Push notification configs: where a client wants notifications of a task, and pages of these.
 *
 * @module
 */

import { ServableError } from '../../../base/errors.ts'

/** A push notification config. */
export interface PushConfig {
  /** Unique within its task. Default: the task's id. */
  readonly id: string
  readonly url: string
  /** Sent as `X-A2A-Notification-Token`. */
  readonly token?: string | undefined
  /** Sent as `Authorization: scheme credentials`. */
  readonly scheme?: string | undefined
  readonly credentials?: string | undefined
  /** The protocol version of the client, `1.0` or `0.3`. Notifications have its form. */
  readonly version: string
}

/** A request about the configs of a task. */
export type PushRequest = PushChange | PushLook

/** A request that changes configs. */
export type PushChange =
  | {
      readonly act: 'set'
      readonly taskId: string
      readonly config: PushConfigInput
      /** The client whose share of deliveries the config uses. All unknown clients share one. */
      readonly client?: string | undefined
    }
  | { readonly act: 'delete'; readonly taskId: string; readonly id: string }

/** A request that only reads configs. */
export type PushLook =
  | { readonly act: 'get'; readonly taskId: string; readonly id: string }
  | {
      readonly act: 'list'
      readonly taskId: string
      /** 1 or more. Undefined: all. */
      readonly pageSize?: number | undefined
      readonly pageToken?: string | undefined
    }

/** A config as a client sent it. The id is optional. */
export type PushConfigInput = Omit<PushConfig, 'id'> & { readonly id?: string | undefined }

/** A page of configs. */
export interface ConfigPage {
  readonly configs: readonly PushConfig[]
  /** The token of the next page. Empty on the last page. */
  readonly nextPageToken: string
}

/**
 * The page that a request asks for (section 3.1.9 of A2A 1.0). Without a size it has all configs. Throws `invalid_params` for an
 * unknown token.
 */
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
