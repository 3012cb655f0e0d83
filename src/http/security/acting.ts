/**
 * Lets those who have a role act on the things of others: `?owner=` names whose, and `*` all.
 *
 * @module
 */

import { ServableError } from '../../base/errors.ts'
import { ownerIn, tenantOf } from '../../base/owner.ts'
import { plain } from '../../web/plain.ts'
import { Reply } from '../../web/reply.ts'
import { isEventStream, whileGood } from '../../web/while-good.ts'
import type { Endpoint, RequestState, Route } from '../context.ts'
import { queryOf } from '../router.ts'
import { rightOf } from './roles.ts'

/** The `owner` that stands for all owners, in lists. */
export const ALL = '*'

/** The parts of {@link actFor}. */
export interface ActingOptions {
  readonly prefix: string
}

/**
 * Makes a request one about the things of somebody else, if its query has an `owner` and its sender has the right. Throws the
 * error of what does not exist if not. Every such look and act is in the log, with both names. Returns whether it is one.
 */
export function actFor(
  request: Request,
  state: RequestState,
  route: Route,
  { prefix }: ActingOptions,
): boolean {
  // Most requests have none.
  if (!request.url.includes('owner=')) return false
  const right = rightOf(route, prefix)
  const named = queryOf(request.url).get('owner')
  const { identity, params } = state
  if (right === undefined || named === null) return false
  const isOfAll = named === ALL && route.method === 'GET' && params.id === undefined
  // Who has a tenant names its users by their ids in it.
  const owner = tenantOf(named) === undefined ? ownerIn(identity?.tenant, named) : named
  if (owner === identity?.id) return false
  state.actFor(isOfAll ? undefined : owner)
  const isAllowed = state.may(right)
  state.log({
    level: 'info',
    channel: 'audit',
    event: 'access.used',
    outcome: isAllowed ? 'ok' : 'refused',
    actor: identity === undefined ? null : plain(identity.id),
    owner: plain(owner),
    right,
    target: `${route.method} ${route.path}`,
    ...(params.id !== undefined && { id: plain(params.id) }),
    requestId: state.requestId,
  })
  if (isAllowed) return true
  if (state.part === 'runs' && params.id !== undefined)
    throw new ServableError('run_not_found', 'There is no such run')
  throw new ServableError('not_found', 'Nothing is served at this path')
}

/** Milliseconds for which a stream is open to a role. Who still has the role asks again, and goes on where the stream ended. */
const STREAM_MS = 60_000

/** Answers a request on the things of others. */
export async function actingFor(
  endpoint: Endpoint,
  request: Request,
  state: RequestState,
): Promise<Response> {
  const answer = await endpoint(request, state)
  return openToRole(answer instanceof Reply ? state.respond(answer) : answer)
}

/** Ends a stream that a role has opened, since the role may be taken away meanwhile. */
export function openToRole(response: Response): Response {
  return isEventStream(response) ? whileGood(response, async () => false, STREAM_MS) : response
}
