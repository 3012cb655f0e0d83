/**
 * Protects the endpoint as a resource of OAuth 2 (MCP, authorization; RFC 9728). Other servers issue the tokens. The deployment
 * checks them, and nothing passes them on.
 *
 * @module
 */

import * as v from 'valibot'
import { ServableError } from '../../base/errors.ts'
import { checkOptions, func, strings } from '../../base/schemas.ts'
import type { Core } from '../../core/built-in.ts'
import type { Route } from '../../http/context.ts'
import { type Identity, isIdentity } from '../../http/platform.ts'
import { bearerIn, identifyBy } from '../../http/security/authentication.ts'
import { jsonReply } from '../../web/reply.ts'
import { isResponse } from '../../web/response.ts'
import type { Guard, McpAuth } from './request.ts'

/** The identity of a token's owner. */
export interface TokenOwner extends Identity {
  /** The resources that the token is for (`aud`, RFC 9068, section 2.2). They must include this endpoint. */
  readonly audience: string | readonly string[]
}

/** How the endpoint is protected. */
export interface McpAuthOptions {
  /** The addresses of the servers that issue tokens. */
  readonly authorizationServers: readonly string[]
  /** The address of the endpoint, which is the audience of tokens. Default: `publicUrl` with the path. */
  readonly resource?: string | undefined
  /** The scopes that every call needs. Default: none. */
  readonly scopes?: readonly string[] | undefined
  /**
   * Returns the owner of a token, with the audience of the token. Undefined refuses the token. Default: the middleware of the
   * handler identifies the caller, and checks the audience.
   */
  readonly verify?:
    | ((token: string, request: Request) => TokenOwner | undefined | Promise<TokenOwner | undefined>)
    | undefined
}

const address = v.pipe(v.string(), v.url('must be an absolute URL'))

const OptionsSchema = v.strictObject({
  authorizationServers: v.pipe(v.array(address), v.minLength(1, 'must name at least one')),
  resource: v.optional(address),
  scopes: v.optional(strings),
  verify: v.optional(func),
})

const WELL_KNOWN = '/.well-known/oauth-protected-resource'

/**
 * Protects the endpoint, and publishes where clients get tokens. Throws `invalid_options`, also if neither `resource` nor the
 * handler's `publicUrl` gives the address of the endpoint.
 */
export function mcpAuth(options: McpAuthOptions): McpAuth {
  checkOptions('mcpAuth', OptionsSchema, options)
  return { guard: (path, core) => createGuard(options, path, core) }
}

function createGuard(
  { authorizationServers, scopes = [], verify, resource: given }: McpAuthOptions,
  path: string,
  { publicUrl }: Pick<Core, 'publicUrl'>,
): Guard {
  const resource = given ?? (publicUrl && publicUrl + path)
  if (!resource)
    throw new ServableError('invalid_options', '`mcpAuth` needs `resource`, or the handler `publicUrl`')
  const { origin, pathname } = new URL(resource)
  const scope = scopes.length > 0 ? `, scope="${scopes.join(' ')}"` : ''
  const challenge = (error = '') =>
    `Bearer ${error}resource_metadata="${origin}${WELL_KNOWN}${pathname === '/' ? '' : pathname}"${scope}`
  const document = {
    resource,
    authorization_servers: authorizationServers,
    scopes_supported: scopes,
    bearer_methods_supported: ['header'],
  }
  const identify = async (request: Request) => {
    const token = bearerIn(request.headers)
    const found = token === undefined ? undefined : await verify?.(token, request)
    if (!isIdentity(found) || [found.audience].flat().includes(resource)) return found
    throw new ServableError('unauthorized', 'The token is for another resource')
  }
  const metadata = (below: string): Route => ({
    ...{ method: 'GET', path: WELL_KNOWN + below, part: 'mcp', isOpen: true, cors: null },
    endpoint: () => jsonReply(document, { headers: { 'access-control-allow-origin': '*' } }),
  })
  return {
    decidesItself: verify !== undefined,
    routes: [metadata(pathname === '/' ? '' : pathname), ...(pathname === '/' ? [] : [metadata('')])],
    async check(request, state) {
      if (verify !== undefined) {
        const found = await identifyBy(identify, request, state)
        state.identity = isResponse(found) ? undefined : found
      }
      const { identity } = state
      if (identity === undefined) throw new ServableError('unauthorized', 'Not authorized')
      const missing = scopes.find(each => !identity.scopes?.includes(each))
      if (missing === undefined) return
      state.responseHeaders.set('www-authenticate', challenge('error="insufficient_scope", '))
      throw new ServableError('forbidden', `The token needs the scope \`${missing}\``)
    },
    challenge(answer) {
      if (answer.status === 401) answer.headers.set('www-authenticate', challenge())
      return answer
    },
  }
}
