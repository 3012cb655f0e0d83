/**
 * The context of a request, for middleware and routes.
 *
 * @module
 */

import { ServableError } from '../base/errors.ts'
import { refOf } from '../runs/stored/record.ts'
import type { Cors } from '../web/cors.ts'
import type { AddressReader } from '../web/ip-address.ts'
import { Reply, toResponse } from '../web/reply.ts'
import { checkResponse } from '../web/response.ts'
import { logThrown } from './failure-log.ts'
import type { Log, LogEntry } from './log.ts'
import { IDENTITY_RULE, type Identity, isIdentity, type Platform, platform, withTenant } from './platform.ts'
import type { Findable, Match } from './router.ts'
import type { KeyReader } from './security/key-headers.ts'
import type { May, Right } from './security/rights.ts'
import { type AccessScope, scopeOf } from './security/scopes.ts'
import { credentialsIn } from './security/secrets.ts'

/** The part of the service that a request is for; for a plugin its name. `router` also stands for paths that match nothing. */
export type Part =
  | 'router'
  | 'runs'
  | 'a2a'
  | 'card'
  | 'socket'
  | 'metrics'
  | 'docs'
  | 'admin'
  | 'health'
  | (string & {})

/** The context of one request. Middleware may set `identity`; everything else is read-only. */
export interface Context {
  readonly part: Part
  /** The id of the request: the client's `x-request-id` if it is well formed, else a UUID. */
  readonly requestId: string
  /** Path parameters, percent-decoded. */
  readonly params: Readonly<Record<string, string>>
  identity?: Identity | undefined
  /** Whether the part has an `authenticate` of its own, which decides who may use it. */
  readonly decidesItself: boolean
  /**
   * Whether ready-made authentication lets every request pass, since the answer has nothing secret: agent cards, a health check,
   * the page of the documentation without its document (a browser that opens it, and its files), and parts that decide
   * themselves.
   */
  readonly isOpen: boolean
  /** The `traceparent` of the request, if it has one (W3C Trace Context). */
  readonly traceparent: string | undefined
  /** The client's address, without a port, if the runtime or the option `trustProxy` vouches for it. */
  readonly ip: string | undefined
  /** Keeps the runtime alive until the promise settles. Does nothing if the runtime needs no such call. */
  readonly waitUntil: (promise: Promise<unknown>) => void
  readonly log: Log
  /** Headers to set on the response, whoever makes it, and on errors. */
  readonly responseHeaders: Headers
}

/** Whether a health check asks only if requests are served: it is open to all, and not counted. */
export function isProbe(request: Request, { part }: Context): boolean {
  return part === 'health' && !request.url.includes('?')
}

/** The address of the connection's other end, which may be a proxy. */
export function connectionOf(context: Context): Pick<RequestState, 'peer' | 'unproven'> {
  return context instanceof RequestState ? context : { peer: context.ip, unproven: undefined }
}

/** Wraps every request of every part. It answers by itself, or calls `next` and passes its response on. */
export type Middleware = (
  request: Request,
  context: Context,
  next: () => Promise<Response>,
) => Response | Promise<Response>

/** Answers a request of a known route. */
export type Endpoint = (request: Request, context: RequestState) => EndpointResult | Promise<EndpointResult>

/** A route: its endpoint, its path, and its part. */
export interface Route extends Findable {
  readonly part: Part
  /** The scope that a key needs. Default: the one in the table of `scopes.ts` for its part and method. */
  readonly scope?: AccessScope | undefined
  /** Whether ready-made authentication lets every request pass, with any method, since no answer has anything secret. */
  readonly isOpen?: boolean
  /** Whether the answer to this request has nothing secret. Default: it may have. */
  readonly isOpenTo?: (request: Request) => boolean
  /** The origins that may call it; null for none. Default: the handler's. */
  readonly cors?: Cors | null
  /** The option that sets these origins, for an error, if it is not the handler's. */
  readonly corsOption?: string
  /**
   * Whether a `GET` opens a connection. From a page of another origin it is then refused, as requests that change something are.
   */
  readonly opensConnection?: boolean
  /** Hosts under which it can be reached, besides those of the handler. In lower case. */
  readonly hosts?: readonly string[] | undefined
  /** Whether it has an `authenticate` of its own, which decides who may use it. */
  readonly decidesItself?: boolean
  /** The middleware that runs again at the handshake of a socket, and may leave its decision to the handshake. */
  readonly askedAtHandshake?: readonly Middleware[]
  /** Converts error responses to its protocol's form. It gets the response with the problem. Default: unchanged. */
  readonly toError?: (problem: Response) => Response | Promise<Response>
  readonly endpoint: Endpoint
}

/** A path below which every path belongs to one part, whether there is a route or not. */
export type Territory = Pick<Route, 'path' | 'part' | 'isOpen' | 'cors' | 'toError'>

/** The result of matching a request. */
export type RouteMatch = Match<Route, Territory>

/** The result of an endpoint. */
export type EndpointResult = Response | Reply

const REQUEST_ID = /^[\w.:-]{1,128}$/

/** What the contexts of all requests of a handler share. */
export interface RequestTools {
  readonly log: Log
  /** Finds the client's address. */
  readonly addressOf: AddressReader
  /** Reads the keys of a failed request, to remove them from the log. */
  readonly readKeys: KeyReader
  /** Whether an identity has a right on the things of others. Undefined: nobody has. */
  readonly roles: { readonly may: May } | undefined
  /** Identifies the handler, so that a plugin of several handlers finds the state of this one. */
  readonly handler: object
}

/** The context as the handler itself uses it, from the start of the request until its response. */
export class RequestState implements Context {
  readonly requestId: string
  readonly #request: Request
  readonly #arrivedAt = performance.now()
  /** The match of the request; undefined for none, and until it is known. */
  match: RouteMatch
  readonly log: Log
  readonly handler: object
  readonly #roles: RequestTools['roles']
  readonly #platform: Platform
  readonly #addressOf: AddressReader
  readonly #readKeys: KeyReader
  /** Null until it is first read. */
  #ip: string | undefined | null = null
  readonly traceparent: string | undefined
  #identity: Identity | undefined
  /** Whether the identity is found at the handshake of the request's socket. */
  #isUndecided = false
  #subject: string | undefined
  /** Whether the request is about the things of everyone. */
  isOfEveryone = false
  /** Whether the identity is that of a user who has logged in with a page of the service. */
  isLoggedIn = false
  /** The run that the request started or is about, once there is one. */
  runId: string | undefined
  /** The called method, if the protocol has methods and this is one of them; and the code of its error. */
  rpc: { readonly method?: string; readonly code?: string } | undefined
  /** The identity that alone may read that run, if the request started it for one. */
  #runOwner: string | null = null
  /** The headers set for the response, if any. */
  setHeaders: Headers | undefined

  constructor(
    request: Request,
    platform: Platform,
    { log, addressOf, readKeys, roles, handler }: RequestTools,
  ) {
    this.#request = request
    this.#readKeys = readKeys
    const { headers } = request
    const given = headers.get('x-request-id')
    this.requestId = given !== null && REQUEST_ID.test(given) ? given : crypto.randomUUID()
    this.traceparent = continueTrace(headers.get('traceparent'))
    this.log = log
    this.handler = handler
    this.#roles = roles
    this.#platform = platform
    this.#addressOf = addressOf
  }

  /** Notes the run that the request has started. */
  started(runId: string): void {
    this.runId = runId
    this.#runOwner = this.owner
  }

  /** The run's id as logs show it. */
  get runRef(): string | undefined {
    return this.runId && refOf(this.runId, this.#runOwner)
  }

  /** Secrets of the request that must not be logged. */
  secretsOf(request: Request): string[] {
    return [...Object.values(this.#readKeys(request.headers, undefined) ?? {}), ...credentialsIn(request)]
  }

  /** Logs an error of the request. */
  logThrown(event: string, thrown: unknown, request: Request, level: LogEntry['level'] = 'error'): void {
    const { requestId, part, runRef } = this
    const entry = { level, event, requestId, part, ...(runRef !== undefined && { runId: runRef }) }
    logThrown(this.log, entry, thrown, this.secretsOf(request))
  }

  /** Milliseconds since the request came. */
  get ageMs(): number {
    return performance.now() - this.#arrivedAt
  }

  get part(): Part {
    return this.#matched?.part ?? 'router'
  }

  get responseHeaders(): Headers {
    this.setHeaders ??= new Headers()
    return this.setHeaders
  }

  /** The route's setting for calls across origins, if it has one. */
  get cors(): Cors | null | undefined {
    return this.#matched?.cors
  }

  /** The route's conversion of errors, if it has one. */
  get toError(): Route['toError'] {
    return this.#matched?.toError
  }

  get decidesItself(): boolean {
    return this.#route?.decidesItself === true
  }

  get isOpen(): boolean {
    if (this.#matched?.isOpen === true || this.decidesItself || isProbe(this.#request, this)) return true
    return this.#route?.isOpenTo?.(this.#request) === true
  }

  /**
   * Leaves the decision to the handshake of the request's socket. Returns false if this middleware does not run again there.
   * Until then the request has no identity, whatever other middleware sets.
   */
  leaveToHandshake(middleware: Middleware): boolean {
    if (this.#route?.askedAtHandshake?.includes(middleware) !== true) return false
    this.#isUndecided = true
    return true
  }

  get #matched(): Omit<Territory, 'path'> | undefined {
    return this.match?.found === 'path' ? this.match.at : this.match?.route
  }

  get #route(): Route | undefined {
    return this.match?.found === 'route' ? this.match.route : undefined
  }

  /** The scope that a key needs for the request. Requests without a route need `read`. */
  get scope(): AccessScope {
    return (this.#route && scopeOf(this.#route)) ?? 'read'
  }

  get params(): Readonly<Record<string, string>> {
    return this.match?.found === 'route' ? this.match.params : {}
  }

  get identity(): Identity | undefined {
    return this.#identity
  }

  /** Throws `internal_error` for an invalid identity. */
  set identity(identity: Identity | undefined) {
    if (identity !== undefined && !isIdentity(identity)) {
      throw new ServableError(
        'internal_error',
        `The \`id\` of \`context.identity\` ${IDENTITY_RULE}. \`tenant\` needs letters, digits, _ . or -; \`roles\` an array`,
      )
    }
    this.#identity = identity && withTenant(identity)
  }

  /** Sets the identity of a user who has logged in with a page of the service. Ready-made authentication lets it pass. */
  logIn(identity: Identity): void {
    this.identity = identity
    this.isLoggedIn = true
  }

  /** Whose things the request is about: its sender's, or those of somebody for whom it acts. Null if nobody is identified. */
  get owner(): string | null {
    return this.#subject ?? this.#identity?.id ?? null
  }

  /** Whether it is about the things of somebody else. */
  get isForOther(): boolean {
    return this.#subject !== undefined && this.#subject !== this.#identity?.id
  }

  /** Makes the request one about the things of somebody else, or of everyone (undefined). */
  actFor(owner: string | undefined): void {
    this.#subject = owner
    this.isOfEveryone = owner === undefined
  }

  /** Whether the sender has a right on the things of an owner, or of all in its tenant if none is given. */
  may(right: Right, owner?: string | null): boolean {
    return this.#roles?.may(this.#identity, right, owner) === true
  }

  /** Whether the sender may read what the user of a run has said (undefined: all users): it is its own run, or it has the right to. */
  mayReadInputOf(owner: string | null | undefined): boolean {
    const isOwn = this.#subject === undefined && !this.isOfEveryone
    return isOwn || (owner !== undefined && owner === this.#identity?.id) || this.may('read_input', owner)
  }

  get ip(): string | undefined {
    if (this.#ip === null) this.#ip = this.#addressOf(this.#request.headers, this.#platform.ip)
    return this.#ip
  }

  /** The address of the connection's other end, which may be a proxy's. */
  get peer(): string | undefined {
    return this.#platform.ip
  }

  get unproven(): Platform['unproven'] {
    return this.#platform.unproven
  }

  get isIsolated(): boolean {
    return this.#platform.isIsolated === true
  }

  /** The runtime's facts and the identity, for an endpoint that is a server of its own. */
  get platform(): Platform {
    const { isIsolated, upgrade } = this.#platform
    return platform({
      ip: this.ip,
      isIsolated,
      identity: this.#isUndecided ? undefined : this.#identity,
      requestId: this.requestId,
      waitUntil: this.waitUntil,
      upgrade: upgrade && (handlers => this.#platform.upgrade?.(handlers)),
    })
  }

  get waitUntil(): Context['waitUntil'] {
    return promise => this.#platform.waitUntil?.(promise)
  }

  /** Makes the response of an answer. */
  respond(answer: EndpointResult): Response {
    if (!(answer instanceof Reply)) return answer
    return this.#platform.respond?.(answer) ?? toResponse(answer)
  }
}

/** Folds middleware around an endpoint once; the first is the outermost. Middleware gets responses only. */
export function compose(middleware: readonly Middleware[], endpoint: Endpoint): Endpoint {
  return middleware.reduceRight<Endpoint>(
    (inner, outer) => (request, context) =>
      outer(request, context, async () => {
        const answer = await inner(request, context)
        return answer instanceof Reply ? context.respond(answer) : checkResponse(answer, answererOf(context))
      }),
    endpoint,
  )
}

/** Names the possible sources of a value that is not a response. */
export function answererOf({ part }: Context): string {
  return `middleware, or the endpoint of \`${part}\`,`
}

/** Makes a check that throws `unsupported_operation` if `why` returns a reason. */
export function refusing(
  why: (request: RequestState) => string | undefined,
): (request: RequestState) => void {
  return request => {
    const reason = why(request)
    if (reason !== undefined) throw new ServableError('unsupported_operation', reason)
  }
}

/** The header of W3C Trace Context (level 1, section 3.2): the span of a request in a distributed trace. */
const TRACEPARENT = /^(?!ff)[0-9a-f]{2}-((?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2})(-|$)/

/**
 * The trace and the span of the caller, in the form of version 00. Undefined if there is none, or it is malformed. It names no
 * span of this service: a span that nobody records would break the trace in two.
 */
function continueTrace(traceparent: string | null): string | undefined {
  const [, context] = TRACEPARENT.exec(traceparent ?? '') ?? []
  return context && `00-${context}`
}

/** The id of a trace. */
export function traceIdOf(traceparent: string): string {
  return traceparent.slice(3, 35)
}
