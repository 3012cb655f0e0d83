/**
 * What may be done with the things of others. The plugin `roles` says who may.
 *
 * @module
 */

import type { Identity } from '../platform.ts'

/** What may be done with the things of others. */
export type Right =
  | 'list'
  | 'read'
  | 'read_input'
  | 'files'
  | 'cancel'
  | 'retry'
  | 'answer'
  | 'feedback'
  | 'delete'
  | 'webhooks'
  | 'budgets'
  | 'schedules'
  | 'pause'
  | 'metrics'
  | 'keys'
  | 'admin'

/** Every right. `admin` is the right to use the routes of administrators that have no right of their own. */
export const RIGHTS: readonly Right[] = [
  ...(['list', 'read', 'read_input', 'files', 'cancel', 'retry', 'answer', 'feedback', 'delete'] as const),
  ...(['webhooks', 'budgets', 'schedules', 'pause', 'metrics', 'keys', 'admin'] as const),
]

/**
 * Changes what roles may do: the rights of roles by name, which replace those of the table; or a function that says whether an
 * identity has a right on the things of an owner (null: of nobody; undefined: of all). Undefined leaves it to the table.
 *
 * @example
 * createHandler({ access: { support: ['list', 'read'], viewer: [] } })
 */
export type Access =
  | Readonly<Record<string, readonly Right[]>>
  | ((identity: Identity, right: Right, owner: string | null | undefined) => boolean | undefined)

/** Whether an identity has a right on the things of an owner. Undefined: of all. */
export type May = (identity: Identity | undefined, right: Right, owner?: string | null) => boolean
