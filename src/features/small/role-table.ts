/**
 * What roles may do with the things of others, in one table, and the right that each route needs for it.
 *
 * @module
 */

import { ServableError } from '../../base/errors.ts'
import { tenantOf } from '../../base/owner.ts'
import { isObject } from '../../base/validation.ts'
import type { Identity } from '../../http/platform.ts'
import type { Findable } from '../../http/router.ts'
import { type Access, type May, RIGHTS, type Right } from '../../http/security/rights.ts'

/** The rights of each role. Owners have them all on what is theirs, except those that only administrators' routes need. */
export const ROLES: Readonly<Record<string, readonly Right[]>> = {
  viewer: ['list', 'read', 'metrics'],
  approver: ['list', 'read', 'read_input', 'files', 'answer'],
  operator: [
    ...(['list', 'read', 'read_input', 'files', 'cancel', 'retry', 'feedback'] as const),
    ...(['webhooks', 'budgets', 'schedules', 'pause', 'metrics'] as const),
  ],
  admin: RIGHTS,
}

/**
 * The right that a route needs where `?owner=` names somebody else, by its method and its path below the prefix. A route without one
 * is about its caller alone. `kinds` stands for `agents`, `teams` and `workflows`.
 */
export const ROUTE_RIGHTS: Readonly<Record<string, Right>> = {
  'GET /runs': 'list',
  'GET /runs/:id': 'read',
  'GET /runs/:id/stream': 'read',
  'GET /runs/:id/events': 'read',
  'GET /runs/:id/artifacts/:artifact': 'files',
  'GET /runs/:id/messages/:message': 'files',
  'GET /runs/:id/input': 'read_input',
  'POST /runs/:id/cancel': 'cancel',
  'POST /runs/:id/resume': 'retry',
  'POST /runs/:id/retry': 'retry',
  'POST /runs/:id/answers': 'answer',
  'DELETE /runs/:id': 'delete',
  'GET /runs/:id/feedback': 'feedback',
  'POST /runs/:id/feedback': 'feedback',
  // The title of a session is the beginning of what its user has said.
  'GET /sessions': 'read_input',
  'GET /sessions/export': 'read_input',
  'GET /kinds/:name/sessions/:id': 'read_input',
  'GET /kinds/:name/sessions/:id/messages': 'read_input',
  'GET /kinds/:name/sessions/:id/branches': 'read_input',
  'DELETE /kinds/:name/sessions/:id': 'delete',
  'DELETE /kinds/:name/sessions/:id/branches/:runId': 'delete',
  'DELETE /users/me': 'delete',
  'GET /webhooks': 'webhooks',
  'GET /webhooks/deliveries': 'webhooks',
  'GET /webhooks/:id': 'webhooks',
  'GET /webhooks/:id/deliveries': 'webhooks',
  'GET /webhooks/:id/deliveries/:delivery': 'webhooks',
  'POST /webhooks/:id/deliveries/:delivery/replay': 'webhooks',
  'POST /webhooks/:id/test': 'webhooks',
  'DELETE /webhooks/:id': 'webhooks',
  'GET /budgets': 'budgets',
}

/** The right that a route needs for the things of others. Undefined if it is about its caller alone. */
export function rightOf({ method, path }: Findable, prefix: string): Right | undefined {
  const below = prefix === '/' ? path : path.slice(prefix.length)
  const key = `${method} ${below.replace(/^\/(agents|teams|workflows)\//, '/kinds/')}`
  return path.startsWith(prefix) && Object.hasOwn(ROUTE_RIGHTS, key) ? ROUTE_RIGHTS[key] : undefined
}

/**
 * Makes the function that decides. Nobody has a right on what is of another tenant. A throw of a function refuses, and `onError`
 * gets it.
 */
export function accessOf(access: Access = {}, onError: (error: unknown) => void = () => {}): May {
  const may = decisionOf(access, onError)
  return (identity, right, owner) => {
    const isElsewhere =
      identity?.tenant !== undefined && owner !== undefined && tenantOf(owner) !== identity.tenant
    return !isElsewhere && may(identity, right, owner)
  }
}

function decisionOf(access: Access, onError: (error: unknown) => void): May {
  const table = typeof access === 'function' ? ROLES : { ...ROLES, ...access }
  const byTable = ({ roles = [] }: Identity, right: Right) =>
    roles.some(role => Object.hasOwn(table, role) && table[role]?.includes(right))
  if (typeof access !== 'function')
    return (identity, right) => identity !== undefined && byTable(identity, right)
  return (identity, right, owner) => {
    if (identity === undefined) return false
    try {
      return (access(identity, right, owner) ?? byTable(identity, right)) === true
    } catch (error) {
      onError(error)
      return false
    }
  }
}

/** Throws `invalid_options` for a wrong option `access`. */
export function checkAccess(access: unknown): void {
  if (access === undefined || typeof access === 'function') return
  const isRights = (rights: unknown) => Array.isArray(rights) && rights.every(right => RIGHTS.includes(right))
  if (isObject(access) && Object.values(access).every(isRights)) return
  throw new ServableError(
    'invalid_options',
    `\`access\` must be a function, or an object of roles, each with an array of ${RIGHTS.join(', ')}`,
  )
}
