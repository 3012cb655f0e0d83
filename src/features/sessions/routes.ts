/**
 * The routes of the caller's sessions: `GET` and `POST /sessions`, `/agents/:name/sessions/:id` and the routes below it.
 *
 * @module
 */

import type { Kind } from '../../agents/contract.ts'
import type { SessionKey } from '../../agents/memory.ts'
import { KINDS } from '../../agents/registry.ts'
import { ServableError } from '../../base/errors.ts'
import { validate } from '../../base/validation.ts'
import type { Core } from '../../core/built-in.ts'
import type { Endpoint, RequestState, Route } from '../../http/context.ts'
import { joinPath, queryOf } from '../../http/router.ts'
import { hasRight } from '../../http/security/gate.ts'
import { checkPermitOf } from '../../runs/permit.ts'
import type { SessionSummary } from '../../runs/sessions/summary.ts'
import { jsonReply, Reply } from '../../web/reply.ts'
import type { Forgetter } from './forget.ts'
import {
  checkId,
  ForkSchema,
  NewSessionSchema,
  readBody,
  SessionQuerySchema,
  TurnQuerySchema,
  UpdateSchema,
} from './schemas.ts'
import { keyOf, NAME, type SessionService } from './service.ts'

/** Caches must not store the data of a caller. */
const NO_STORE = { 'cache-control': 'no-store' }

/** Makes the routes. */
export function sessionRoutes(
  {
    prefix,
    catalog,
    maxBodyBytes,
    checkShared,
    runs: { permit },
  }: Pick<Core, 'prefix' | 'catalog' | 'maxBodyBytes' | 'checkShared' | 'runs'>,
  sessions: SessionService,
): Route[] {
  const check = checkShared('Sessions need')
  const route = (method: Route['method'], path: string, endpoint: Endpoint): Route => ({
    method,
    path: joinPath(prefix, path),
    part: NAME,
    endpoint(request, state) {
      check(state)
      return endpoint(request, state)
    },
  })
  const made = (session: SessionSummary): Reply => {
    const { kind, name, id } = session
    const location = joinPath(prefix, `${kind}s`, encodeURIComponent(name), 'sessions', id)
    return jsonReply(session, { status: 201, headers: { ...NO_STORE, location } })
  }
  const ofKind = (kind: Kind): Route[] => {
    const path = `${kind}s/:name/sessions/:id`
    const keyIn = ({ owner, params }: RequestState): SessionKey =>
      keyOf(owner, kind, params.name ?? '', checkId(params.id ?? ''))
    return [
      route('GET', path, async (_, state) =>
        jsonReply(await sessions.get(keyIn(state)), { headers: NO_STORE }),
      ),
      route('PATCH', path, async (request, state) => {
        const update = await readBody(request, UpdateSchema, maxBodyBytes)
        return jsonReply(await sessions.update(keyIn(state), update), { headers: NO_STORE })
      }),
      route('GET', `${path}/branches`, async (_, state) =>
        jsonReply({ branches: await sessions.branches(keyIn(state)) }, { headers: NO_STORE }),
      ),
      route('GET', `${path}/messages`, async (request, state) => {
        const query = validate(TurnQuerySchema, fieldsOf(request), 'invalid_query', 'query')
        const headers = { 'content-type': 'application/json', ...NO_STORE }
        return new Reply(await sessions.turns(keyIn(state), query), { headers })
      }),
      route('POST', `${path}/fork`, async (request, state) => {
        const asked = await readBody(request, ForkSchema, maxBodyBytes)
        await checkPermitOf(permit, state, () => ({ kind, name: state.params.name ?? '' }))
        return made(await sessions.fork(keyIn(state), state.owner, asked))
      }),
    ]
  }
  return [
    route('GET', 'sessions', async (request, { owner }) => {
      if (owner === null) throw new ServableError('not_found', 'Listing sessions needs an identity')
      const query = validate(SessionQuerySchema, fieldsOf(request), 'invalid_query', 'query')
      return jsonReply(await sessions.list(owner, query), { headers: NO_STORE })
    }),
    route('POST', 'sessions', async (request, state) => {
      const { kind, name, title } = await readBody(request, NewSessionSchema, maxBodyBytes)
      catalog.resolve(kind, name)
      await checkPermitOf(permit, state, () => ({ kind, name }))
      return made(await sessions.make(keyOf(state.owner, kind, name, crypto.randomUUID()), title))
    }),
    ...KINDS.flatMap(ofKind),
  ]
}

function fieldsOf(request: Request): object {
  return Object.fromEntries(queryOf(request.url))
}

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
    ...KINDS.map(kind =>
      route(`${kind}s/:name/sessions/:id/branches/:runId`, async (_, { owner, params }) => {
        const session = { kind, name: params.name ?? '', id: checkId(params.id ?? '') }
        await forgetter.branch(owner, session, params.runId ?? '')
      }),
    ),
    {
      method: 'DELETE',
      path: joinPath(prefix, 'tenants/:tenant'),
      part: 'router',
      async endpoint(request, state) {
        check(state)
        if (!hasRight(state, 'delete', false))
          throw new ServableError('not_found', 'Nothing is served at this path')
        const owners = await forgetter.tenant(state.params.tenant ?? '', cancelsIn(request))
        return jsonReply({ owners, isDone: owners === 0 }, { headers: NO_STORE })
      },
    },
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
