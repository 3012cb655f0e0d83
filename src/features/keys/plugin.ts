/**
 * Keys for callers as a plugin: the entry `servable/keys`.
 *
 * Begin with `keys-auth.ts` (a request), then `keyring.ts` and `kept.ts` (what is stored). May import `core` and what is below
 * it, and no other feature.
 *
 * @module
 */

import * as v from 'valibot'
import { ServableError } from '../../base/errors.ts'
import { checkOptions, count, flag, func } from '../../base/schemas.ts'
import { asPlugin } from '../../core/built-in.ts'
import { stateFor } from '../../core/no-state.ts'
import type { CoreSettings } from '../../core/options.ts'
import { sharedCount, WINDOW_TRANSACTIONS } from '../../core/shared-count.ts'
import type { CallTransactions } from '../../core/transaction-calls.ts'
import { createLocalCount } from '../../http/limits/rate-limit.ts'
import { type Authenticate, operatorsGate } from '../../http/security/gate.ts'
import { PART_SCHEMES } from '../../http/security/security-scheme.ts'
import { KeyCheck, KeyRates } from './check.ts'
import { describeKeys } from './describe.ts'
import { KEY_TRANSACTIONS, KEYS_ADDRESS } from './kept.ts'
import { type Changes, Keyring } from './keyring.ts'
import { type CallerKeys, CHECKS, checkIn } from './keys-auth.ts'
import { keyRoutes, keysPath } from './routes.ts'
import { createKeyRequestReader } from './schemas.ts'
import { NAMED, SCOPES } from './scopes.ts'

export { type CallerKeys, type KeysAuthOptions, keysAuth } from './keys-auth.ts'
export type { CallerKey, CallerKeyPage, IssuedKey } from './routes.ts'

const NAME = 'keys'
const RATES = 'keys-rate'

/** Options of {@link callerKeys}. */
export interface CallerKeysOptions {
  /**
   * Decides who may use the admin routes at `/keys`, before anything else happens. Required in production, unless there is
   * `middleware`. Without it, identities whose roles have the right `keys` are accepted, and in development requests from this
   * machine, except those that a web page of another origin sent. A key authorizes them by its roles alone.
   */
  readonly authenticate?: Authenticate | undefined
  /** Most keys. Revoked and expired keys count until they are deleted, and are deleted for new ones. Default: 10,000. */
  readonly maxKeys?: number | undefined
  /**
   * Milliseconds for which a process caches a key, at most 300,000. For so long a key that was revoked or changed elsewhere still
   * works as before; in the process of the change, it takes effect at once. 0: each request reads the state. Default: 30,000.
   */
  readonly cacheMs?: number | undefined
  /** Your own scopes that keys may have besides the built-in ones. Your code finds them in `identity.scopes`. Default: none. */
  readonly scopes?: readonly string[] | undefined
  /** Counts rates in the state, for all processes or isolates together. If false, each counts by itself. Default: false. */
  readonly sharedRates?: boolean | undefined
}

const OptionsSchema = v.strictObject({
  authenticate: v.optional(func),
  maxKeys: v.optional(count),
  cacheMs: v.optional(
    v.pipe(
      v.number('must be a number'),
      v.integer('must be a whole number'),
      v.minValue(0, 'must be 0 or more'),
      v.maxValue(300_000, 'must be 300,000 or less: for so long a revoked key still works elsewhere'),
    ),
  ),
  scopes: v.optional(
    v.array(
      v.pipe(
        v.string('must be text'),
        v.regex(/^\S{1,100}$/, 'must be 1 to 100 characters without spaces'),
        v.check(
          scope => !NAMED.test(scope) && !SCOPES.some(each => each === scope),
          'must not be one of the known scopes',
        ),
      ),
      'must be an array of scopes',
    ),
  ),
  sharedRates: v.optional(flag),
})

const OPEN_WARNING =
  '`callerKeys` has no `authenticate`: `/keys` answers whom a role lets in, and outside production requests from this machine, but none from ' +
  'a web page of another origin. To let others in, ' +
  "write `callerKeys({ authenticate: bearerIdentity({ tokens: { [env.ADMIN_TOKEN]: 'admin' } }) })`"

/**
 * Stores keys for callers, and lets administrators issue, list, change, rotate and revoke them at `/keys`. `keysAuth` of the same
 * plugin checks them. Throws `invalid_options`.
 *
 * @example
 * const keys = callerKeys({ authenticate: bearerIdentity({ tokens: { [env.ADMIN_TOKEN]: 'admin' } }) })
 * createHandler({ state: sqliteState({ path: 'keys.db' }), plugins: [keys], middleware: [keysAuth(keys)] })
 */
export function callerKeys(options: CallerKeysOptions = {}): CallerKeys {
  checkOptions('callerKeys', OptionsSchema, options)
  const { authenticate, maxKeys = 10_000, cacheMs = 30_000, scopes = [], sharedRates = false } = options
  const changes: Changes = { count: 0 }
  const checks = new WeakMap<object, KeyCheck>()
  const checkOf = (callTransactions: CallTransactions, { state }: CoreSettings): KeyCheck => {
    const ring = new Keyring({
      calls: callTransactions(NAME, KEY_TRANSACTIONS),
      cacheMs,
      joins: state.kind !== 'hosted',
      changes,
    })
    const rates = new KeyRates(rate =>
      sharedRates ? sharedCount(RATES, callTransactions, state, rate) : createLocalCount(rate),
    )
    const hold = state.kind === 'hosted' ? state.waitUntil : undefined
    const check = new KeyCheck({ ring, rates, hold })
    checks.set(callTransactions, check)
    return check
  }
  const plugin = asPlugin({
    name: NAME,
    transactions: { [NAME]: KEY_TRANSACTIONS, ...(sharedRates && { [RATES]: WINDOW_TRANSACTIONS }) },
    permit: (settings, callTransactions) => {
      stateFor(NAME, settings.state)
      return checkOf(callTransactions, settings).permit
    },
    mount(core) {
      const { prefix, production, log, maxBodyBytes } = core
      if (authenticate === undefined && production && core.settings.middleware.length === 0) {
        const message =
          '`callerKeys` needs `authenticate` in production, or `middleware` that gives administrators a role, or set NODE_ENV to `development`'
        throw new ServableError('invalid_options', message)
      }
      const { ring } = checkIn(checks, core.callTransactions)
      return {
        routes: keyRoutes({
          prefix,
          ring,
          reader: createKeyRequestReader(scopes, maxBodyBytes),
          maxKeys,
          decidesItself: authenticate !== undefined,
          checkShared: core.checkShared('Keys need'),
        }),
        base: {
          path: keysPath(prefix),
          guard: operatorsGate(authenticate, OPEN_WARNING, core.settings.production, 'keys'),
        },
        cors: null,
        describe: build => ({
          ...describeKeys(build),
          ...(authenticate &&
            build.token(PART_SCHEMES.keys, 'Token of an administrator, for `callerKeys({ authenticate })`')),
        }),
        begin() {
          if (authenticate === undefined) log({ level: 'warn', event: 'keys.open', message: OPEN_WARNING })
        },
        ownersOf: tenant => ring.calls.owners(KEYS_ADDRESS, tenant),
        forget: async ({ owner, session }) =>
          session === undefined && owner !== null && (await ring.forget(owner)),
      }
    },
  })
  return Object.assign(plugin, { [CHECKS]: checks })
}
