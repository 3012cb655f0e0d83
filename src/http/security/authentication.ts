/**
 * Ready-made middleware that authenticates users.
 *
 * @module
 */

import * as v from 'valibot'
import { isServableError, ServableError, shouldLog } from '../../base/errors.ts'
import { headerName, isObject, validate } from '../../base/validation.ts'
import { isSame, sha256 } from '../../web/digest.ts'
import { problemResponse } from '../../web/problem.ts'
import { isResponse } from '../../web/response.ts'
import { type Context, type Middleware, RequestState } from '../context.ts'
import { IDENTITY_RULE, type Identity, isIdentity } from '../platform.ts'
import { type Credential, schemeNameOf, withCredential } from './credential.ts'
import { ANY_PROVIDER_HEADER } from './key-headers.ts'

/**
 * Checks a token or key. Undefined and a throw refuse it. If a socket's client sent it in `auth.token`, `request` is the first
 * request of the connection. It then has no headers except `authorization`, `cookie`, `origin`, `user-agent` and that of the
 * credential.
 */
export type VerifyCredential = (
  credential: string,
  request: Request,
) => Identity | undefined | Promise<Identity | undefined>

/** The accepted credentials: a table of tokens, or a function. Exactly one of the two. */
export interface CredentialOptions {
  /** Identities by token; an id alone is enough. Tokens are compared in constant time. */
  readonly tokens?: Readonly<Record<string, Identity | string>>
  readonly verify?: VerifyCredential
}

/** The options of {@link apiKeyAuth}. */
export interface ApiKeyOptions extends CredentialOptions {
  /** The header with the key. It cannot be `x-api-key`, which carries the key of a model provider. Default: `x-service-key`. */
  readonly header?: string
}

/**
 * Lets in requests with `Authorization: Bearer` and a known token (RFC 6750), with the identity of the token. It refuses all
 * other requests, with two exceptions. Parts without anything secret are open (`context.isOpen`): agent cards, health, the
 * documentation page without its document. Parts with an `authenticate` of their own decide themselves. A client of the event
 * socket that cannot send headers sends the token as `auth.token` at its handshake.
 *
 * @example
 * createHandler({ middleware: [bearerAuth({ tokens: { [env.TOKEN]: 'ada' } })] })
 */
export function bearerAuth(options: CredentialOptions): Middleware {
  return authenticating(refusingThrown(verifierOf(options, 'bearerAuth')), BEARER)
}

/**
 * Lets in requests with a known key in a header of its own; otherwise like {@link bearerAuth}. At a socket's handshake the key
 * is `auth.token`, since `auth.apiKey` is the key of a model provider.
 */
export function apiKeyAuth(options: ApiKeyOptions): Middleware {
  const verify = verifierOf(options, 'apiKeyAuth', ApiKeySchema)
  return authenticating(refusingThrown(verify), inHeader(options.header, 'apiKeyAuth'))
}

/** A token of `Authorization: Bearer`. */
export const BEARER: Credential = {
  challenge: 'Bearer',
  name: 'bearer',
  scheme: { type: 'http', scheme: 'bearer', description: 'Token for this service' },
  read: bearerIn,
  write: (headers, token) => headers.set('authorization', `Bearer ${token}`),
}

/**
 * A key in a header of its own. Throws `invalid_options` for the header of provider keys. `name` is the option's owner in the
 * error.
 */
export function inHeader(header = 'x-service-key', name: string): Credential {
  if (header.toLowerCase() === ANY_PROVIDER_HEADER) {
    throw new ServableError(
      'invalid_options',
      `\`${name}\`: \`x-api-key\` is for provider keys: choose another \`header\``,
    )
  }
  return {
    challenge: `ApiKey header="${header}"`,
    name: schemeNameOf(header),
    scheme: { type: 'apiKey', in: 'header', name: header, description: 'Key for this service' },
    read: headers => headers.get(header) || undefined,
    write: (headers, key) => headers.set(header, key),
  }
}

/**
 * Checks bearer tokens as a function, for parts with an `authenticate` of their own: `admin` and the metrics.
 *
 * @example
 * createHandler({ admin: { authenticate: bearerIdentity({ tokens: { [env.ADMIN_TOKEN]: 'admin' } }) } })
 */
export function bearerIdentity(
  options: CredentialOptions,
): (request: Request) => Promise<Identity | undefined> {
  const verify = verifierOf(options, 'bearerIdentity')
  return async request => {
    const token = bearerIn(request.headers)
    return token === undefined ? undefined : verify(token, request)
  }
}

/** The token of `Authorization: Bearer` (RFC 6750, section 2.1). */
export function bearerIn(headers: Headers): string | undefined {
  return /^Bearer +(\S+)\s*$/i.exec(headers.get('authorization') ?? '')?.[1]
}

/**
 * Runs a part's own `authenticate`. Returns the identity, or its response. Throws its `ServableError`, and `unauthorized` if it
 * returns no identity or throws another error, which is logged.
 */
export async function identifyBy(
  authenticate: (request: Request) => unknown,
  request: Request,
  context: Context,
): Promise<Identity | Response> {
  let answer: unknown
  try {
    answer = await authenticate(request)
  } catch (cause) {
    if (isServableError(cause)) throw cause
    logFailure(cause, request, context)
    throw new ServableError('unauthorized', 'Not authorized', { cause })
  }
  if (isResponse(answer) || isIdentity(answer)) return answer
  logInvalidIdentity(answer, request, context)
  throw new ServableError('unauthorized', 'Not authorized')
}

/** Checks a credential of a request. Undefined refuses it. */
export type CheckCredential = (
  credential: string,
  request: Request,
  context: Context,
) => Identity | undefined | Promise<Identity | undefined>

/** Refuses the credential if `verify` throws, and logs the error. */
export function refusingThrown(verify: VerifyCredential): CheckCredential {
  return async (credential, request, context) => {
    try {
      return await verify(credential, request)
    } catch (thrown) {
      logFailure(thrown, request, context)
      return undefined
    }
  }
}

/**
 * Makes the middleware of a credential. Clients get the errors of `verify`. `watch` may change the responses to admitted
 * requests.
 */
export function authenticating(
  verify: CheckCredential,
  credential: Credential,
  watch: (response: Response, context: Context) => Response = response => response,
): Middleware {
  const middleware: Middleware = async (request, context, next) => {
    if (context.isOpen) return next()
    const given = credential.read(request.headers)
    if (given === undefined && context instanceof RequestState && context.isLoggedIn) return next()
    // In a context that someone has wrapped, the decision cannot wait for the handshake.
    const mayWait = given === undefined && context instanceof RequestState
    if (mayWait && context.leaveToHandshake(middleware)) return next()
    const identity = given === undefined ? undefined : await verify(given, request, context)
    if (isIdentity(identity)) {
      context.identity = identity
      return watch(await next(), context)
    }
    logInvalidIdentity(identity, request, context)
    const error = new ServableError('unauthorized', 'Not authorized')
    return problemResponse(error, {
      requestId: context.requestId,
      production: true,
      headers: { 'www-authenticate': credential.challenge },
    })
  }
  return withCredential(middleware, credential)
}

/** Logs an identity with an invalid id. */
function logInvalidIdentity(answer: unknown, request: Request, context: Context): void {
  if (isObject(answer))
    logFailure(new TypeError(`The \`id\` of an identity ${IDENTITY_RULE}`), request, context)
}

/** Logs why a credential could not be checked. */
function logFailure(thrown: unknown, request: Request, context: Context): void {
  if (!shouldLog(thrown)) return
  if (!(context instanceof RequestState)) return
  context.logThrown('authenticate.failed', thrown, request, isOfToken(thrown) ? 'info' : 'error')
}

/**
 * Whether the error is about the client's token, which has expired or is forged, and so not a failure of the service. Libraries
 * name it by a code (`ERR_JWT_EXPIRED`) or by the name of the error (`TokenExpiredError`, `JwtTokenInvalid`).
 */
function isOfToken(thrown: unknown): boolean {
  const { name, code } = Object(thrown) as { readonly name?: unknown; readonly code?: unknown }
  return /JW[EST]|Token|NotBefore|NO_MATCHING/.test(`${String(name)} ${String(code)}`)
}

/** The names that a field gets from an unset variable. */
const UNSET: ReadonlySet<string> = new Set(['', 'undefined', 'null'])

const TokensSchema = v.pipe(
  v.custom<Record<string, unknown>>(isObject, 'must be an object of tokens and their owners'),
  v.check(
    tokens => Object.keys(tokens).every(token => !UNSET.has(token)),
    'must have no empty or unset token: is a variable missing?',
  ),
  v.check(tokens => Object.keys(tokens).length > 0, 'must have at least one token'),
  // One check for all fields: an error must not name a token.
  v.check(
    tokens => Object.values(tokens).every(isSomebody),
    `must give each token an identity, or its id, which ${IDENTITY_RULE}`,
  ),
)

function isSomebody(who: unknown): boolean {
  return isIdentity(typeof who === 'string' ? { id: who } : who)
}

const CredentialSchema = v.strictObject({
  tokens: v.optional(TokensSchema),
  verify: v.optional(v.custom<VerifyCredential>(value => typeof value === 'function', 'must be a function')),
})

/** Checks {@link ApiKeyOptions}. */
export const ApiKeySchema: v.GenericSchema<unknown> = v.strictObject({
  ...CredentialSchema.entries,
  header: v.optional(headerName),
})

/** Makes the function that checks a credential by the options. Throws `invalid_options`. */
export function verifierOf(
  options: CredentialOptions,
  name: string,
  schema: v.GenericSchema<unknown> = CredentialSchema,
): VerifyCredential {
  validate(schema, options, 'invalid_options', name)
  const { tokens, verify } = options
  if ((tokens === undefined) === (verify === undefined)) {
    throw new ServableError('invalid_options', `\`${name}\` needs either \`tokens\` or \`verify\``)
  }
  if (verify !== undefined) return verify
  const entries = Object.entries(tokens ?? {})
  let digests: Promise<(readonly [digest: string, identity: Identity])[]> | undefined
  return async credential => {
    digests ??= Promise.all(
      entries.map(async ([token, who]) => [await sha256(token), toIdentity(who)] as const),
    )
    const given = await sha256(credential)
    let found: Identity | undefined
    // Compare with all of them, so that the time reveals nothing.
    for (const [digest, identity] of await digests) if (isSame(digest, given)) found = identity
    return found
  }
}

function toIdentity(who: Identity | string): Identity {
  return typeof who === 'string' ? { id: who } : who
}
