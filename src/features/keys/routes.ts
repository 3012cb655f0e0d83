/**
 * `/keys`: administrators issue, list, change, rotate and revoke keys. The guard before them authenticates. Each operation is
 * logged.
 *
 * @module
 */

import { reportError, ServableError } from '../../base/errors.ts'
import type { RequestState, Route } from '../../http/context.ts'
import { joinPath } from '../../http/router.ts'
import { hasRight } from '../../http/security/gate.ts'
import { sha256 } from '../../web/digest.ts'
import { plain } from '../../web/plain.ts'
import { jsonReply, type Reply } from '../../web/reply.ts'
import { createId, createKey, isId } from './codec.ts'
import { KEYS_ADDRESS, type KeptKey } from './kept.ts'
import type { Keyring } from './keyring.ts'
import type { KeyRequestReader } from './schemas.ts'

/** A key in responses. Times are ISO 8601 in UTC. */
export interface CallerKey {
  readonly id: string
  readonly owner: string
  readonly name: string
  /** What its owner may do with the things of others. */
  readonly roles: readonly string[]
  readonly scopes: readonly string[]
  /** `null`: requests are not counted. */
  readonly rate: { readonly max: number; readonly windowMs: number } | null
  readonly createdAt: string
  /** `null`: it does not expire. */
  readonly expiresAt: string | null
  /** At most an hour late. `null`: it was not used. */
  readonly lastUsedAt: string | null
  readonly rotatedAt: string | null
  readonly revokedAt: string | null
}

/** A key with its text, which is shown only this once. */
export interface IssuedKey extends CallerKey {
  readonly key: string
}

/** A page of keys, newest first. */
export interface CallerKeyPage {
  readonly keys: readonly CallerKey[]
  readonly nextCursor: string | null
}

/** The parts of the routes. */
export interface KeyRoutesOptions {
  readonly prefix: string
  readonly ring: Keyring
  readonly reader: KeyRequestReader
  readonly maxKeys: number
  /** Whether the guard is a function of the deployment, and not ready-made authentication. */
  readonly decidesItself: boolean
  /** Throws `unsupported_operation` if requests share no state. */
  readonly checkShared: (state: RequestState) => void
}

/** The path of the routes. */
export function keysPath(prefix: string): string {
  return joinPath(prefix, 'keys')
}

/** Makes the routes. */
export function keyRoutes(options: KeyRoutesOptions): Route[] {
  const { prefix, ring, reader, maxKeys, decidesItself, checkShared } = options
  const { calls } = ring
  const route = (
    method: Route['method'],
    path: string,
    action: string,
    act: (request: Request, id: string, state: RequestState) => Promise<CallerKey | CallerKeyPage>,
    status = 200,
  ): Route => ({
    method,
    path: joinPath(keysPath(prefix), path),
    part: 'keys',
    decidesItself,
    endpoint: async (request, state) => {
      checkShared(state)
      return perform(action, state, status, id => act(request, id, state))
    },
  })
  return [
    route(
      'POST',
      '',
      'issue',
      async (request, _, state) => {
        const asked = await reader.issue(request)
        checkRoles(asked.roles, state)
        const id = createId()
        const key = createKey(id)
        const kept = await calls.issue(KEYS_ADDRESS, { ...asked, id, digest: await sha256(key) }, maxKeys)
        return { key, ...viewOf(kept) }
      },
      201,
    ),
    route('GET', '', 'list', async ({ url }) => {
      const { values, next = null } = await calls.list(KEYS_ADDRESS, reader.query(url))
      return { keys: values.map(viewOf), nextCursor: next }
    }),
    route('GET', ':id', 'get', async (_, id) => {
      const key = await calls.find(KEYS_ADDRESS, checkId(id))
      if (key !== undefined) return viewOf(key)
      throw notFound()
    }),
    route('PATCH', ':id', 'change', async (request, id, state) => {
      const change = await reader.change(request)
      checkRoles(change.roles, state)
      return viewOf(await ring.change(each => each.change(KEYS_ADDRESS, checkId(id), change)))
    }),
    route('POST', ':id/rotate', 'rotate', async (request, id, state) => {
      const { graceMs } = await reader.rotation(request)
      checkRoles((await calls.find(KEYS_ADDRESS, checkId(id)))?.roles, state)
      const key = createKey(checkId(id))
      const digest = await sha256(key)
      const kept = await ring.change(each => each.rotate(KEYS_ADDRESS, id, digest, graceMs))
      return { key, ...viewOf(kept) }
    }),
    route('DELETE', ':id', 'revoke', async (_, id) =>
      viewOf(await ring.change(each => each.revoke(KEYS_ADDRESS, checkId(id)))),
    ),
  ]
}

/**
 * Throws `forbidden` for roles that somebody with roles does not have. Administrators may give all, and so may whom
 * `callerKeys.authenticate` lets in.
 */
function checkRoles(roles: readonly string[] = [], state: RequestState): void {
  const own = state.identity?.roles
  if (own === undefined || own.includes('admin') || !hasRight(state, 'keys', false)) return
  const other = roles.find(role => !own.includes(role))
  if (other !== undefined)
    throw new ServableError('forbidden', `You may not give the role \`${other}\`, which you do not have`)
}

/** Checks an id. A text that cannot be an id is refused without a read. */
function checkId(id: string): string {
  if (isId(id)) return id
  throw notFound()
}

function notFound(): ServableError {
  return new ServableError('caller_key_not_found', 'There is no such key')
}

function viewOf(key: KeptKey): CallerKey {
  const { id, owner, name, scopes, roles = [], rate = null } = key
  return {
    id,
    owner,
    name,
    scopes,
    roles,
    rate,
    createdAt: new Date(key.createdAt).toISOString(),
    expiresAt: timeOf(key.expiresAt),
    lastUsedAt: timeOf(key.lastUsedAt),
    rotatedAt: timeOf(key.rotatedAt),
    revokedAt: timeOf(key.revokedAt),
  }
}

function timeOf(at: number | undefined): string | null {
  return at === undefined ? null : new Date(at).toISOString()
}

/** Reads are logged as `info`, changes as `warn`: the default log shows nothing below `warn`. */
const READS: ReadonlySet<string> = new Set(['list', 'get'])

async function perform(
  action: string,
  state: RequestState,
  status: number,
  act: (id: string) => Promise<CallerKey | CallerKeyPage>,
): Promise<Reply> {
  const { id = '' } = state.params
  const report = (outcome: string, keyId: string) =>
    state.log({
      level: READS.has(action) ? 'info' : 'warn',
      event: 'keys.act',
      action,
      outcome,
      who: state.owner === null ? null : plain(state.owner),
      requestId: state.requestId,
      ...(isId(keyId) && { id: keyId }),
    })
  try {
    const answer = await act(id)
    report('ok', 'id' in answer ? answer.id : id)
    return jsonReply(answer, { status, headers: { 'cache-control': 'no-store' } })
  } catch (error) {
    report(reportError(error, true, 'internal_error').code, id)
    throw error
  }
}
