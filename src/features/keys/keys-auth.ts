/**
 * The middleware that authenticates with keys.
 *
 * @module
 */

import { isServableError, ServableError } from '../../base/errors.ts'
import { checkOptions } from '../../base/schemas.ts'
import type { Plugin } from '../../core/plugin.ts'
import { type Context, type Middleware, RequestState } from '../../http/context.ts'
import {
  type ApiKeyOptions,
  ApiKeySchema,
  authenticating,
  BEARER,
  type CheckCredential,
  inHeader,
  refusingThrown,
  verifierOf,
} from '../../http/security/authentication.ts'
import { isEventStream, whileGood } from '../../web/while-good.ts'
import type { KeyCheck } from './check.ts'
import { looksLikeKey } from './codec.ts'

/** The checks of the handlers with the plugin, by an object that identifies the handler. */
export const CHECKS: unique symbol = Symbol.for('servable.keys')

/** The plugin that `callerKeys` makes, for {@link keysAuth}. */
export interface CallerKeys extends Plugin {
  readonly [CHECKS]: WeakMap<object, KeyCheck>
}

/** The options of {@link keysAuth}. `tokens` or `verify` accepts other credentials, as for `bearerAuth`. Default: none. */
export interface KeysAuthOptions extends ApiKeyOptions {
  /** A header for the key, such as `x-service-key`. Default: `Authorization: Bearer`. */
  readonly header?: string
}

/**
 * Accepts requests with a key of the plugin, as the identity that owns the key: `id`, `scopes` and `keyId`. Otherwise it is like
 * `bearerAuth`: open routes stay open, and a socket may give the key as `auth.token`. A request without a valid key is refused
 * with `unauthorized`, one that the scopes do not allow with `insufficient_scope`, one above the rate with `rate_limited`, and
 * all of them with `state_unavailable` while the state cannot be read. Throws `invalid_options`; so does a handler that lacks the
 * plugin.
 *
 * @example
 * createHandler({ state: memoryState(), plugins: [keys], middleware: [keysAuth(keys)] })
 */
export function keysAuth(keys: CallerKeys, options: KeysAuthOptions = {}): Middleware {
  checkOptions('keysAuth', ApiKeySchema, options)
  const checks = checksOf(keys)
  const { header, tokens, verify } = options
  const others =
    tokens === undefined && verify === undefined
      ? undefined
      : refusingThrown(verifierOf({ ...(tokens && { tokens }), ...(verify && { verify }) }, 'keysAuth'))
  const credential = header === undefined ? BEARER : inHeader(header, 'keysAuth')
  const admit: CheckCredential = async (text, request, context) => {
    if (others !== undefined && !looksLikeKey(text)) return others(text, request, context)
    try {
      const state = stateOf(context)
      return await checkIn(checks, state.handler).admit(text, state)
    } catch (error) {
      // RFC 6750, section 3.1.
      if (header === undefined && isServableError(error) && error.code === 'insufficient_scope')
        context.responseHeaders.set('www-authenticate', 'Bearer error="insufficient_scope"')
      throw error
    }
  }
  const watch = (response: Response, context: Context) => {
    const { identity } = context
    if (identity?.keyId === undefined || !isEventStream(response)) return response
    return whileGood(response, () => checkIn(checks, stateOf(context).handler).isGood(identity), LOOK_MS)
  }
  return authenticating(admit, { ...credential, check: plugins => checkThere(keys, plugins) }, watch)
}

/** Milliseconds between two checks of the key of an open stream. */
const LOOK_MS = 15_000

/** The check of a handler. Throws `internal_error` if it has none, so that nobody is accepted by mistake. */
export function checkIn(checks: WeakMap<object, KeyCheck>, handler: object): KeyCheck {
  const check = checks.get(handler)
  if (check !== undefined) return check
  throw new ServableError('internal_error', 'The handler lacks the plugin of `keysAuth`')
}

function checkThere(keys: CallerKeys, plugins: readonly object[]): void {
  if (plugins.includes(keys)) return
  throw new ServableError('invalid_options', '`plugins` lacks the `callerKeys()` of `keysAuth`: add it')
}

function checksOf(keys: CallerKeys): WeakMap<object, KeyCheck> {
  const given: Partial<CallerKeys> = Object(keys)
  if (given[CHECKS] !== undefined) return given[CHECKS]
  throw new ServableError('invalid_options', '`keysAuth` takes what `callerKeys()` gives')
}

/** The handler's own context. Throws for any other object. */
function stateOf(context: Context): RequestState {
  if (context instanceof RequestState) return context
  throw new ServableError(
    'internal_error',
    'Give `keysAuth` the `context` that the middleware got, not a copy of it',
  )
}
