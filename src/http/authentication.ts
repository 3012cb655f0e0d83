/**
 * Ready-made middleware that says who asks.
 *
 * @module
 */

import * as v from 'valibot'
import { isServableError, ServableError } from '../errors.ts'
import { headerName, isObject, validate } from '../validation.ts'
import { sha256 } from '../web/digest.ts'
import { problemResponse } from '../web/problem.ts'
import { isResponse } from '../web/response.ts'
import { type Context, isProbe, type Middleware } from './context.ts'
import { ANY_PROVIDER_HEADER } from './key-headers.ts'
import { type Identity, isIdentity } from './platform.ts'

/** Checks a token or key. Undefined and a throw refuse. */
export type VerifyCredential = (
  credential: string,
  request: Request,
) => Identity | undefined | Promise<Identity | undefined>

/** Who may come in: by a table of secrets and whose they are, or by a function. Exactly one of the two. */
export interface CredentialOptions {
  /** Identities by secret; an id alone will do. They are compared in constant time. */
  readonly tokens?: Readonly<Record<string, Identity | string>>
  readonly verify?: VerifyCredential
}

/** The options of {@link apiKeyAuth}. */
export interface ApiKeyOptions extends CredentialOptions {
  /** The header with the key. Default `x-service-key`. Never `x-api-key`, which is a model provider's here. */
  readonly header?: string
}

/**
 * Lets in whoever sends `Authorization: Bearer` with a token that is known (RFC 6750), as the identity that it stands for.
 * Agent cards and health are open; parts with an `authenticate` of their own are left to it; all else is refused.
 *
 * @example
 * createHandler({ middleware: [bearerAuth({ tokens: { [env.TOKEN]: 'ada' } })] })
 */
export function bearerAuth(options: CredentialOptions): Middleware {
  return authenticating('Bearer', findBearer(options, 'bearerAuth'))
}

/** The same for a key in a header of its own. */
export function apiKeyAuth(options: ApiKeyOptions): Middleware {
  const verify = verifierOf(options, 'apiKeyAuth', ApiKeySchema)
  const { header = 'x-service-key' } = options
  if (header.toLowerCase() === ANY_PROVIDER_HEADER) {
    throw new ServableError('invalid_options', '`apiKeyAuth`: `x-api-key` is for the key of a model provider')
  }
  return authenticating(`ApiKey header="${header}"`, async request => {
    const key = request.headers.get(header)
    return key === null || key === '' ? undefined : verify(key, request)
  })
}

/**
 * The same as a function, for parts with an `authenticate` of their own: `admin` and the metrics.
 *
 * @example
 * createHandler({ admin: { authenticate: bearerIdentity({ tokens: { [env.ADMIN_TOKEN]: 'admin' } }) } })
 */
export function bearerIdentity(
  options: CredentialOptions,
): (request: Request) => Promise<Identity | undefined> {
  return findBearer(options, 'bearerIdentity')
}

/** Finds whom the token of `Authorization: Bearer` stands for (RFC 6750, section 2.1). */
function findBearer(
  options: CredentialOptions,
  name: string,
): (request: Request) => Promise<Identity | undefined> {
  const verify = verifierOf(options, name)
  return async request => {
    const [, token] = /^Bearer +(\S+)\s*$/i.exec(request.headers.get('authorization') ?? '') ?? []
    return token === undefined ? undefined : verify(token, request)
  }
}

/**
 * Whom a part's own `authenticate` finds; its response, where it answers itself. Throws `unauthorized` where it finds nobody or
 * throws, and its `ServableError`.
 */
export async function identifyBy(
  authenticate: (request: Request) => unknown,
  request: Request,
): Promise<Identity | Response> {
  let answer: unknown
  try {
    answer = await authenticate(request)
  } catch (cause) {
    if (isServableError(cause)) throw cause
    throw new ServableError('unauthorized', 'Not authorized', { cause })
  }
  if (isResponse(answer) || isIdentity(answer)) return answer
  throw new ServableError('unauthorized', 'Not authorized')
}

function authenticating(
  challenge: string,
  identify: (request: Request) => Promise<Identity | undefined>,
): Middleware {
  return async (request, context, next) => {
    if (isOpen(request, context)) return next()
    const identity = await identify(request).catch(() => undefined)
    if (isIdentity(identity)) {
      context.identity = identity
      return next()
    }
    const error = new ServableError('unauthorized', 'Not authorized')
    return problemResponse(error, {
      requestId: context.requestId,
      production: true,
      headers: { 'www-authenticate': challenge },
    })
  }
}

function isOpen(request: Request, context: Context): boolean {
  return context.part === 'card' || context.decidesItself || isProbe(request, context)
}

/** A variable that is unset becomes one of these where it is the name of a field. */
const UNSET: ReadonlySet<string> = new Set(['', 'undefined', 'null'])

const TokensSchema = v.pipe(
  v.custom<Record<string, unknown>>(isObject, 'must be an object of secrets and whose they are'),
  v.check(
    tokens => Object.keys(tokens).every(token => !UNSET.has(token)),
    'must hold no empty or unset token: is a variable missing?',
  ),
  v.check(tokens => Object.keys(tokens).length > 0, 'must hold a token or more'),
  // Not field by field: an error must not name a token.
  v.check(
    tokens => Object.values(tokens).every(isSomebody),
    'must hold ids or identities, each an `id` that is text and not empty',
  ),
)

function isSomebody(who: unknown): boolean {
  return typeof who === 'string' ? who !== '' : isObject(who) && isIdentity(who)
}

const CredentialSchema = v.strictObject({
  tokens: v.optional(TokensSchema),
  verify: v.optional(v.custom<VerifyCredential>(value => typeof value === 'function', 'must be a function')),
})

const ApiKeySchema = v.strictObject({ ...CredentialSchema.entries, header: v.optional(headerName) })

function verifierOf(
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
    // All of them, whichever it is: how long it takes tells nothing.
    for (const [digest, identity] of await digests) if (isSame(digest, given)) found = identity
    return found
  }
}

function toIdentity(who: Identity | string): Identity {
  return typeof who === 'string' ? { id: who } : who
}

/** Compares two digests, to their ends. */
function isSame(a: string, b: string): boolean {
  let difference = a.length ^ b.length
  for (let index = 0; index < a.length; index++) difference |= a.charCodeAt(index) ^ b.charCodeAt(index)
  return difference === 0
}
