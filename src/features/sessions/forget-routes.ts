/**
 * `DELETE /agents/:name/sessions/:id`, the same for teams and workflows, and `DELETE /users/me`.
 *
 * @module
 */

import { KINDS } from '../../agents/registry.ts'
import { ServableError } from '../../base/errors.ts'
import type { Core } from '../../core/built-in.ts'
import type { Endpoint, Route } from '../../http/context.ts'
import { joinPath, queryOf } from '../../http/router.ts'
import { Reply } from '../../web/reply.ts'
import type { Forgetter } from './forget.ts'
import { checkId } from './schemas.ts'

/** Makes the routes. */
export function forgetRoutes(
  { prefix, checkShared }: Pick<Core, 'prefix' | 'checkShared'>,
  forgetter: Forgetter,
): Route[] {
  const check = checkShared('Sessions need')
  const route = (path: string, forget: (...args: Parameters<Endpoint>) => Promise<void>): Route => ({
    method: 'DELETE',
    path: joinPath(prefix, path),
    part: 'router',
    async endpoint(request, state) {
      check(state)
      await forget(request, state)
      return new Reply(null, { status: 204, headers: { 'cache-control': 'no-store' } })
    },
  })
  return [
    ...KINDS.map(kind =>
      route(`${kind}s/:name/sessions/:id`, async (request, { owner, params }) => {
        const session = { kind, name: params.name ?? '', id: checkId(params.id ?? '') }
        if (await forgetter.session(owner, session, cancelsIn(request))) return
        throw new ServableError('session_not_found', 'There is no such session')
      }),
    ),
    route('users/me', async (request, { owner }) => {
      if (owner === null) throw new ServableError('not_found', 'Deleting what is yours needs an identity')
      await forgetter.owner(owner, cancelsIn(request))
    }),
  ]
}

/** Whether running runs are cancelled. */
function cancelsIn(request: Request): boolean {
  const running = queryOf(request.url).get('running')
  if (running === null || running === 'cancel') return running !== null
  throw new ServableError('invalid_query', '`running` must be `cancel` or left out')
}
