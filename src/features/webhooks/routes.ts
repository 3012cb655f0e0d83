/**
 * `/webhooks`: the subscriptions of a caller and their deliveries. `/admin/webhooks`: those of all.
 *
 * @module
 */

import * as v from 'valibot'
import { ServableError } from '../../base/errors.ts'
import { paging, validate } from '../../base/validation.ts'
import type { Core } from '../../core/built-in.ts'
import type { Endpoint, RequestState, Route } from '../../http/context.ts'
import { joinPath, queryOf } from '../../http/router.ts'
import { hasRight } from '../../http/security/gate.ts'
import { toBase64 } from '../../web/base64.ts'
import { readJson, requireJson } from '../../web/body.ts'
import { plain } from '../../web/plain.ts'
import { jsonReply, Reply } from '../../web/reply.ts'
import { OF_CLIENT } from './kept.ts'
import type { Notices } from './notices.ts'
import { clientKey, EVENTS, NAME, TEST, type WebhookSettings } from './options.ts'
import { NewSecretSchema, NewWebhookSchema, WebhookChangeSchema } from './schemas.ts'
import { changed, type OwnerFilter } from './transactions.ts'
import { anyWebhookView, deliveryView, type WebhookDeliveryWithPayload, webhookView } from './view.ts'

/** Most bytes of a body. */
const MAX_BODY = 65_536

/** Bytes of a generated secret. */
const SECRET_BYTES = 32

const TYPES = [...EVENTS, TEST] as const

const QuerySchema = v.object({
  status: v.optional(
    v.picklist(['pending', 'delivered', 'failed'], 'must be one of pending, delivered, failed'),
  ),
  type: v.optional(v.picklist(TYPES, `must be one of ${TYPES.join(', ')}`)),
  ...paging,
})

const AllQuerySchema = v.object({ ...QuerySchema.entries, webhook: v.optional(v.string()) })

type RouteParts = Pick<Core, 'prefix' | 'maxBodyBytes' | 'checkShared'> & {
  readonly settings: WebhookSettings
  readonly notices: Notices
}

const HEADERS = { 'cache-control': 'no-store' }

/** Answers with JSON that caches must not store. */
function answer(value: unknown, status = 200): Reply {
  return jsonReply(value, { status, headers: HEADERS })
}

/** The routes of callers. None if callers have no subscriptions. */
export function webhookRoutes(parts: RouteParts): Route[] {
  const { notices, maxBodyBytes, checkShared } = parts
  const { calls } = notices
  const check = checkShared('Webhooks need')
  const read = async <T>(request: Request, schema: v.GenericSchema<unknown, T>): Promise<T> => {
    requireJson(request)
    const value = await readJson(request, Math.min(maxBodyBytes, MAX_BODY))
    return validate(schema, value, 'invalid_body', 'body')
  }
  const route = (
    method: Route['method'],
    path: string,
    endpoint: (request: Request, owner: string, id: string, state: RequestState) => ReturnType<Endpoint>,
  ): Route => ({
    method,
    path: joinPath(parts.prefix, NAME, path),
    part: NAME,
    endpoint(request, state) {
      check(state)
      return endpoint(request, ownerOf(state), state.params.id ?? '', state)
    },
  })
  /** The data of the caller's key that a subscription stores. */
  const keyOf = async (state: RequestState) => {
    const only = await notices.permit?.(state)
    return { keyId: state.identity?.keyId ?? null, only: only ?? null }
  }
  return [
    // Before the routes of one webhook, since `deliveries` is none.
    ...deliveryRoutes(parts, joinPath(parts.prefix, NAME), { part: NAME, ownerIn: ownerOf, mayRead }),
    route('GET', '', async (_, owner) =>
      answer({ webhooks: (await calls.list(NAME, owner)).map(webhookView) }),
    ),
    route('POST', '', async (request, owner, _, state) => {
      const { secret = newSecret(), ...asked } = await read(request, NewWebhookSchema)
      clientKey(secret)
      await notices.check(asked.url)
      const webhook = {
        ...asked,
        id: `${OF_CLIENT}${crypto.randomUUID()}`,
        ...{ owner, secrets: [{ secret }], isEnabled: true, createdAt: Date.now() },
      }
      await calls.add(NAME, changed(webhook, await keyOf(state)))
      return answer({ ...webhookView(webhook), secret }, 201)
    }),
    route('GET', ':id', async (_, owner, id) => answer(webhookView(await calls.find(NAME, id, owner)))),
    route('PATCH', ':id', async (request, owner, id, state) => {
      const { enabled, ...asked } = await read(request, WebhookChangeSchema)
      if (asked.url !== undefined) await notices.check(asked.url)
      const change = { ...asked, isEnabled: enabled, ...(await keyOf(state)) }
      return answer(webhookView(await calls.change(NAME, id, owner, change)))
    }),
    route('DELETE', ':id', async (_, owner, id) => {
      await calls.remove(NAME, id, owner)
      return new Reply(null, { status: 204, headers: HEADERS })
    }),
    route('POST', ':id/secret', async (request, owner, id, state) => {
      await checkKey(parts, state)
      const { secret = newSecret() } = await read(request, NewSecretSchema)
      clientKey(secret)
      return answer({ ...webhookView(await calls.rotate(NAME, id, owner, secret)), secret })
    }),
  ]
}

/** The routes of administrators, behind the guard of `admin`. */
export function adminWebhookRoutes(parts: RouteParts, decidesItself = false): Route[] {
  const { calls } = parts.notices
  const { subscriptions } = parts.settings
  const base = joinPath(parts.prefix, 'admin', NAME)
  const check = parts.checkShared('Webhooks need')
  const routes: Route[] = [
    {
      method: 'GET',
      path: base,
      part: 'admin',
      async endpoint(_, state) {
        check(state)
        const kept = await calls.list(NAME, undefined)
        return answer({ webhooks: [...subscriptions, ...kept].map(anyWebhookView) })
      },
    },
    ...deliveryRoutes(parts, base, {
      part: 'admin',
      ownerIn: () => undefined,
      // A role sees what was sent of runs that it may read. Whom `admin.authenticate` lets in sees all.
      mayRead: (state, owner) => !hasRight(state, 'admin', decidesItself) || mayRead(state, owner),
    }),
  ]
  return routes.map(route => ({ ...route, decidesItself, endpoint: reported(route) }))
}

/** Logs the action of an administrator. */
function reported({ method, path, endpoint }: Route): Endpoint {
  const action = path.endsWith('/test') ? 'test_webhook' : 'replay_delivery'
  return async (request, state) => {
    const answer = await endpoint(request, state)
    if (method === 'GET') return answer
    const { requestId, owner, params } = state
    const who = owner === null ? null : plain(owner)
    const about = { action, outcome: 'ok', who, requestId, id: plain((params.id ?? '').slice(0, MAX_SHOWN)) }
    state.log({ level: 'warn', event: 'admin.act', ...about })
    return answer
  }
}

/** Most characters of an id in the log. */
const MAX_SHOWN = 100

/** Who asks about deliveries. */
interface DeliveryReader {
  readonly part: string
  readonly ownerIn: (state: RequestState) => OwnerFilter
  /** Whether the sender sees what was sent of a run of that owner. */
  readonly mayRead: (state: RequestState, owner: string | null) => boolean
}

/** Whether the sender may read the runs of an owner. */
function mayRead(state: RequestState, owner: string | null): boolean {
  return (owner !== null && owner === state.identity?.id) || state.may('read', owner)
}

/** The routes of deliveries, for callers and administrators. */
function deliveryRoutes(
  { notices, checkShared }: RouteParts,
  base: string,
  { part, ownerIn, mayRead }: DeliveryReader,
): Route[] {
  const { calls } = notices
  const check = checkShared('Webhooks need')
  const route = (
    method: Route['method'],
    path: string,
    endpoint: (
      owner: OwnerFilter,
      params: RequestState['params'],
      request: Request,
      state: RequestState,
    ) => ReturnType<Endpoint>,
  ): Route => ({
    method,
    path: joinPath(base, path),
    part,
    async endpoint(request, state) {
      check(state)
      if (part === NAME && (method === 'POST' || state.params.delivery !== undefined))
        await checkKey({ notices }, state)
      return endpoint(ownerIn(state), state.params, request, state)
    },
  })
  return [
    route('GET', 'deliveries', async (owner, _, request) => {
      const query = validate(
        AllQuerySchema,
        Object.fromEntries(queryOf(request.url)),
        'invalid_query',
        'query',
      )
      const { values, next = null } = await calls.allDeliveries(NAME, owner, query)
      return answer({ deliveries: values.map(deliveryView), nextCursor: next })
    }),
    route('GET', ':id/deliveries', async (owner, { id = '' }, request) => {
      const query = validate(QuerySchema, Object.fromEntries(queryOf(request.url)), 'invalid_query', 'query')
      const { values, next = null } = await calls.deliveries(NAME, id, owner, query)
      return answer({ deliveries: values.map(deliveryView), nextCursor: next })
    }),
    route('GET', ':id/deliveries/:delivery', async (owner, { id = '', delivery = '' }, _, state) => {
      const found = await calls.delivery(NAME, id, owner, delivery)
      const shown = {
        ...deliveryView(found),
        ...(mayRead(state, found.owner) && { payload: JSON.parse(found.body) }),
      }
      return answer(shown satisfies WebhookDeliveryWithPayload)
    }),
    route('POST', ':id/test', async (owner, { id = '' }) => {
      const delivery = await calls.test(NAME, id, owner, `${crypto.randomUUID()}_test`)
      notices.send()
      return answer(deliveryView(delivery), 202)
    }),
    route('POST', ':id/deliveries/:delivery/replay', async (owner, { id = '', delivery = '' }) => {
      const replayed = await calls.replay(NAME, id, owner, delivery)
      notices.send()
      return answer(deliveryView(replayed), 202)
    }),
  ]
}

/**
 * Checks the caller's key. A key restricted to some targets may only use subscriptions that it has made. Throws
 * `insufficient_scope`.
 */
async function checkKey({ notices }: Pick<RouteParts, 'notices'>, state: RequestState): Promise<void> {
  if ((await notices.permit?.(state)) === undefined) return
  const { keyId } = await notices.calls.find(NAME, state.params.id ?? '', ownerOf(state))
  if (keyId !== state.identity?.keyId)
    throw new ServableError('insufficient_scope', 'The webhook is of another key')
}

function ownerOf({ owner }: RequestState): string {
  if (owner !== null) return owner
  throw new ServableError('not_found', 'Webhooks are of authenticated users')
}

function newSecret(): string {
  return `whsec_${toBase64(crypto.getRandomValues(new Uint8Array(SECRET_BYTES)))}`
}
