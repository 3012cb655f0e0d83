/**
 * The options of the admin routes.
 *
 * @module
 */

import * as v from 'valibot'
import type { ToolServerPolicy, ToolServerSource } from '../../agents/tool-servers.ts'
import { ServableError } from '../../base/errors.ts'
import { func, isFunction } from '../../base/schemas.ts'
import type { CoreSettings } from '../../core/options.ts'
import type { Authenticate } from '../../http/security/gate.ts'
import { isRange } from '../../web/address.ts'

/** Decides who may use the admin routes. An identity may use them. A response is sent as it is. Undefined or a throw refuses. */
export type AuthenticateAdmin = Authenticate

/** Options of the admin routes. */
export interface AdminOptions {
  /** The manager of the tool servers. Default: the most recently created `ToolServerManager`. */
  readonly manager?: ToolServerSource
  /**
   * Decides who may use the admin routes, before anything else happens. Required in production, unless there is `middleware`. Without
   * it, identities whose roles have the right `admin` are accepted, and in development requests from this machine, except those that
   * a web page of another origin sent.
   */
  readonly authenticate?: AuthenticateAdmin
  /**
   * Addresses that tool servers may have although they are not public: hosts (`localhost`), hosts with a port
   * (`127.0.0.1:3000`) and address ranges (`10.0.0.0/8`). Default: none.
   */
  readonly allow?: readonly string[]
  /** Programs that may be started as tool servers, with any arguments. Default: none. */
  readonly stdio?: { readonly commands: readonly string[] }
}

/** The options with their defaults. */
export interface AdminSettings {
  /** Undefined if there are no tool servers to manage. */
  readonly manager: ToolServerSource | undefined
  readonly authenticate: AuthenticateAdmin | undefined
  readonly policy: ToolServerPolicy
}

/** Whether the text is a host, a host with a port, or an address range. */
function isAllowed(text: string): boolean {
  return text.includes('/') ? isRange(text) : /^(\[[\da-f:.]+\]|[\w.:-]+)(:\d+)?$/i.test(text)
}

/** Checks `admin`. */
export const AdminSchema: v.GenericSchema<unknown> = v.union(
  [
    v.boolean(),
    v.strictObject({
      manager: v.optional(
        v.custom(
          value => isFunction(Object(value).open) && isFunction(Object(value).use),
          'must be a ToolServerManager',
        ),
      ),
      authenticate: v.optional(func),
      allow: v.optional(
        v.array(
          v.pipe(
            v.string(),
            v.check(isAllowed, 'must be a host such as localhost:3000, or a range such as 10.0.0.0/8'),
          ),
          'must be an array of hosts and ranges',
        ),
      ),
      stdio: v.optional(
        v.strictObject({
          commands: v.array(
            v.pipe(v.string(), v.minLength(1, 'must not be empty')),
            'must be an array of programs',
          ),
        }),
      ),
    }),
  ],
  'must be true, false or an object of options',
)

/**
 * Fills in the defaults. Throws `invalid_options` if `authenticate` is missing in production, and there is no middleware that could
 * give administrators a role.
 */
export function resolveAdmin(
  { manager, authenticate, allow = [], stdio }: AdminOptions,
  { production, registry, middleware }: Pick<CoreSettings, 'production' | 'registry' | 'middleware'>,
): AdminSettings {
  if (authenticate === undefined && production && middleware.length === 0) {
    throw new ServableError(
      'invalid_options',
      '`admin` needs `admin.authenticate` in production: write ' +
        "`admin: { authenticate: bearerIdentity({ tokens: { [env.ADMIN_TOKEN]: 'admin' } }) }`, " +
        'or add `middleware` that gives administrators the role `admin`, or set NODE_ENV to `development` if this is not production',
    )
  }
  return {
    manager: manager ?? registry?.toolServers,
    authenticate,
    policy: { allow, commands: stdio?.commands ?? [] },
  }
}
