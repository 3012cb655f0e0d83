/**
 * Lets those who have a role act on the things of others: `?owner=` names whose, and `*` all.
 *
 * @module
 */

import { ServableError } from '../../base/errors.ts'
import { ownerIn, tenantOf } from '../../base/owner.ts'
import { asPlugin } from '../../core/built-in.ts'
import type { Plugin } from '../../core/plugin.ts'
import type { RequestState, Route } from '../../http/context.ts'
import { logThrown } from '../../http/failure-log.ts'
import { joinPath, queryOf } from '../../http/router.ts'
import { openToRole } from '../../http/security/open-to-role.ts'
import type { Access } from '../../http/security/rights.ts'
import { plain } from '../../web/plain.ts'
import { accessOf, checkAccess, rightOf } from './role-table.ts'

/**
 * Lets identities with `roles` see and do more than what is theirs. `access` changes what each role may. Throws `invalid_options`.
 *
 * @example
 * createHandler({ plugins: [roles({ support: ['list', 'read'] })] })
 */
export function roles(access: Access = {}): Plugin {
  checkAccess(access)
  return asPlugin({
    name: 'roles',
    roles({ log, prefix }) {
      const below = joinPath(prefix)
      return {
        may: accessOf(access, error => logThrown(log, { event: 'access.failed' }, error)),
        act: (request, state, route) =>
          actsFor(request, state, route, below) ? answer(request, state, route) : undefined,
      }
    },
  })
}

/** The `owner` that stands for all owners, in the list of runs. */
const ALL = '*'

/**
 * Makes a request one about the things of somebody else, if its query has an `owner` and its sender has the right. Throws the
 * error of what does not exist if not. Every such look and act is in the log, with both names. Returns whether it is one.
 */
function actsFor(request: Request, state: RequestState, route: Route, prefix: string): boolean {
  // Most requests have none.
  if (!request.url.includes('owner=')) return false
  const right = rightOf(route, prefix)
  const query = queryOf(request.url)
  const named = query.get('owner')
  const { identity, params } = state
  if (right === undefined || named === null) return false
  const isOfAll = named === ALL && right === 'list'
  // Who has a tenant names its users by their ids in it.
  const owner = tenantOf(named) === undefined ? ownerIn(identity?.tenant, named) : named
  if (owner === identity?.id) return false
  const subject = isOfAll ? undefined : owner
  state.actFor(subject)
  const hasInput = INCLUDED_INPUT.test(String(query.get('include')))
  const isAllowed = state.may(right, subject) && (!hasInput || state.may('read_input', subject))
  state.log({
    level: 'info',
    channel: 'audit',
    event: 'access.used',
    outcome: isAllowed ? 'ok' : 'refused',
    actor: identity === undefined ? null : plain(identity.id),
    owner: shown(owner),
    right,
    target: `${route.method} ${route.path}`,
    ...(params.id !== undefined && { id: shown(params.id) }),
    requestId: state.requestId,
  })
  if (isAllowed) return true
  if (state.part === 'runs' && params.id !== undefined)
    throw new ServableError('run_not_found', 'There is no such run')
  throw new ServableError('not_found', 'Nothing is served at this path')
}

/** What needs the right to read inputs. What a model was sent has them. */
const INCLUDED_INPUT = /^(input|model_calls)$/

/** Most characters of an owner or id in the log. A tenant, `›` and an id have 321. */
const MAX_SHOWN = 321

function shown(text: string): string {
  return plain(text.slice(0, MAX_SHOWN))
}

async function answer(request: Request, state: RequestState, route: Route): Promise<Response> {
  return openToRole(state.respond(await route.endpoint(request, state)))
}
