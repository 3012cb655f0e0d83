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
import { IDENTITY_RULE, type Identity, isIdentity, type Platform, platform } from './platform.ts'
import type { Findable, Match } from './router.ts'
import type { KeyReader } from './security/key-headers.ts'
import { type Scope, scopeOf } from './security/scopes.ts'
import { credentialsIn } from './security/secrets.ts'
import { continueTrace } from './trace.ts'

/** The part of the service that a request is for: of a plugin its name. `router` also stands for paths that match nothing. */
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
  /** The id of the request: the client's `x-request-id` where it is well formed, else a UUID. */
  readonly requestId: string
  /** Path parameters, percent-decoded. */
  readonly params: Readonly<Record<string, string>>
  identity?: Identity | undefined
  /** The part has an `authenticate` of its own, which decides who may use it. */
  readonly decidesItself: boolean
  /**
   * Ready-made authentication asks nobody here, since the answer tells nothing that is to be kept: agent cards, a health check,
   * the page of the documentation without its document (a browser that opens it, and its files), and what decides by itself.
   */
  readonly isOpen: boolean
  /** The `traceparent` of the request, where it came with one (W3C Trace Context). */
  readonly traceparent: string | undefined
  /** The client's address, without a port, where the runtime or the option `trustProxy` vouches for it. */
  readonly ip: string | undefined
  /** Keeps the runtime alive until the promise settles; does nothing where the runtime needs no such call. */
  readonly waitUntil: (promise: Promise<unknown>) => void
  readonly log: Log
  /** Set on the response, whoever makes it: an error has them too. */
  readonly responseHeaders: Headers
}

/** Whether a health check asks no more than whether requests are served: open to all, and not counted. */
export function isProbe(request: Request, { part }: Context): boolean {
  return part === 'health' && !request.url.includes('?')
}

/** What is known of whoever is connected, be it a proxy. */
export function connectionOf(context: Context): Pick<RequestState, 'peer' | 'unproven'> {
  return context instanceof RequestState ? context : { peer: context.ip, unproven: undefined }
}

/** Wraps every request of every part: answers itself, or calls `next` and passes its response on. */
export type Middleware = (
  request: Request,
  context: Context,
  next: () => Promise<Response>,
) => Response | Promise<Response>

/** Answers a request whose route is known. */
export type Endpoint = (request: Request, context: RequestState) => Answer | Promise<Answer>

/** A route: what it answers, where, and for which part. */
export interface Route extends Findable {
  readonly part: Part
  /** What a key needs for it. Default: what the table of `scopes.ts` says of its part and method. */
  readonly scope?: Scope | undefined
  /** Ready-made authentication asks nobody here, whatever the method: no answer tells what is to be kept. */
  readonly isOpen?: boolean
  /** Whether the answer tells this request nothing that is to be kept. Default: it does. */
  readonly isOpenTo?: (request: Request) => boolean
  /** Who may call it across origins; null for nobody. Default: as the handler has it. */
  readonly cors?: Cors | null
  /** The option that says who may call it across origins, where that is not the handler's: for an error. */
  readonly corsOption?: string
  /** A `GET` opens a connection: from a page of another origin it is refused as what changes something is. */
  readonly opensConnection?: boolean
  /** Hosts under which it is reached, besides those of the handler. In lower case. */
  readonly hosts?: readonly string[] | undefined
  /** It has an `authenticate` of its own, which decides who may use it. */
  readonly decidesItself?: boolean
  /** The middleware that is asked again at the handshake of a socket, and may leave its decision to that. */
  readonly askedAtHandshake?: readonly Middleware[]
  /** Answers errors in the form of its protocol, whoever made them: gets the answer with the problem. Default: as it is. */
  readonly toError?: (problem: Response) => Response | Promise<Response>
  readonly endpoint: Endpoint
}

/** A path below which everything is of one part, whether there is a route or not. */
export type Territory = Pick<Route, 'path' | 'part' | 'isOpen' | 'cors' | 'toError'>

/** Where a request leads. */
export type RouteMatch = Match<Route, Territory>

/** What an endpoint gives. */
export type Answer = Response | Reply

const REQUEST_ID = /^[\w.:-]{1,128}$/

/** What the contexts of all requests of a handler have in common. */
export interface RequestTools {
  readonly log: Log
  /** Finds the client's address. */
  readonly addressOf: AddressReader
  /** To keep the keys of a failed request out of the log. */
  readonly readKeys: KeyReader
  /** Stands for the handler: by it a plugin that several handlers have finds what is of this one. */
  readonly handler: object
}

/** The context as the handler itself keeps it, from the first look at the request to the last at its response. */
export class RequestState implements Context {
  readonly requestId: string
  readonly #request: Request
  readonly #arrivedAt = performance.now()
  /** Where the request leads; undefined for nothing, and until it is known. */
  match: RouteMatch
  readonly log: Log
  readonly handler: object
  readonly #platform: Platform
  readonly #addressOf: AddressReader
  readonly #readKeys: KeyReader
  /** Null until somebody asks for it. */
  #ip: string | undefined | null = null
  readonly traceparent: string | undefined
  #identity: Identity | undefined
  /** Who asks is found out at the handshake of the socket that the request is for. */
  #isUndecided = false
  /** The run that the request started or is about, once there is one. */
  runId: string | undefined
  /** The method that the request calls, where its protocol has methods and this is one of them; and the code of its error. */
  rpc: { readonly method?: string; readonly code?: string } | undefined
  /** Who alone reads that run, where the request has started it for an identity. */
  #runOwner: string | null = null
  /** What was set for the response, where anything was. */
  setHeaders: Headers | undefined

  constructor(request: Request, platform: Platform, { log, addressOf, readKeys, handler }: RequestTools) {
    this.#request = request
    this.#readKeys = readKeys
    const { headers } = request
    const given = headers.get('x-request-id')
    this.requestId = given !== null && REQUEST_ID.test(given) ? given : crypto.randomUUID()
    this.traceparent = continueTrace(headers.get('traceparent'))
    this.log = log
    this.handler = handler
    this.#platform = platform
    this.#addressOf = addressOf
  }

  /** The request has started a run. */
  started(runId: string): void {
    this.runId = runId
    this.#runOwner = this.owner
  }

  /** The run's id as the log shows it. */
  get runRef(): string | undefined {
    return this.runId && refOf(this.runId, this.#runOwner)
  }

  /** What of the request must stand in no log. */
  secretsOf(request: Request): string[] {
    return [...Object.values(this.#readKeys(request.headers, undefined) ?? {}), ...credentialsIn(request)]
  }

  /** Tells the log of a throw that the request met. */
  tellThrown(event: string, thrown: unknown, request: Request, level: LogEntry['level'] = 'error'): void {
    const { requestId, part, runRef } = this
    const entry = { level, event, requestId, part, ...(runRef !== undefined && { runId: runRef }) }
    logThrown(this.log, entry, thrown, this.secretsOf(request))
  }

  /** Milliseconds since the request came. */
  get ageMs(): number {
    return performance.now() - this.#arrivedAt
  }

  get part(): Part {
    return this.#place?.part ?? 'router'
  }

  get responseHeaders(): Headers {
    this.setHeaders ??= new Headers()
    return this.setHeaders
  }

  /** What the route says of calls across origins, if anything. */
  get cors(): Cors | null | undefined {
    return this.#place?.cors
  }

  /** How the route answers errors, where it says. */
  get toError(): Route['toError'] {
    return this.#place?.toError
  }

  get decidesItself(): boolean {
    return this.#route?.decidesItself === true
  }

  get isOpen(): boolean {
    if (this.#place?.isOpen === true || this.decidesItself || isProbe(this.#request, this)) return true
    return this.#route?.isOpenTo?.(this.#request) === true
  }

  /**
   * Leaves the decision to the handshake of the socket that the request is for; false where this middleware is not asked again
   * there. Until then nobody asks, whoever else says so.
   */
  leaveToHandshake(middleware: Middleware): boolean {
    if (this.#route?.askedAtHandshake?.includes(middleware) !== true) return false
    this.#isUndecided = true
    return true
  }

  get #place(): Omit<Territory, 'path'> | undefined {
    return this.match?.found === 'path' ? this.match.at : this.match?.route
  }

  get #route(): Route | undefined {
    return this.match?.found === 'route' ? this.match.route : undefined
  }

  /** What a key needs for the request. What leads nowhere is refused like what reads. */
  get scope(): Scope {
    return (this.#route && scopeOf(this.#route)) ?? 'read'
  }

  get params(): Readonly<Record<string, string>> {
    return this.match?.found === 'route' ? this.match.params : {}
  }

  get identity(): Identity | undefined {
    return this.#identity
  }

  /** Throws `internal_error` for what is none. */
  set identity(identity: Identity | undefined) {
    if (identity !== undefined && !isIdentity(identity)) {
      throw new ServableError('internal_error', `The \`id\` of \`context.identity\` ${IDENTITY_RULE}`)
    }
    this.#identity = identity
  }

  /** Who owns what the request starts; null where nobody is identified. */
  get owner(): string | null {
    return this.#identity?.id ?? null
  }

  get ip(): string | undefined {
    if (this.#ip === null) this.#ip = this.#addressOf(this.#request.headers, this.#platform.ip)
    return this.#ip
  }

  /** The address of whoever is connected, be it a proxy's. */
  get peer(): string | undefined {
    return this.#platform.ip
  }

  get unproven(): Platform['unproven'] {
    return this.#platform.unproven
  }

  get isIsolated(): boolean {
    return this.#platform.isIsolated === true
  }

  /** What the runtime knows of the request, and who asks, for an endpoint that is a server of its own. */
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

  /** Makes the response of a reply. */
  respond(reply: Reply): Response {
    return this.#platform.respond?.(reply) ?? toResponse(reply)
  }
}

/** Folds middleware around an endpoint, the first outermost, once. Middleware sees responses only. */
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

/** Who may have given what is no response. */
export function answererOf({ part }: Context): string {
  return `middleware, or the endpoint of \`${part}\`,`
}

/** Throws `unsupported_operation` for a request that there is a reason to refuse. */
export function refusing(
  why: (request: RequestState) => string | undefined,
): (request: RequestState) => void {
  return request => {
    const reason = why(request)
    if (reason !== undefined) throw new ServableError('unsupported_operation', reason)
  }
}
