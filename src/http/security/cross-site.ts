/**
 * Refuses requests that pages make their visitors' browsers send: a page of another origin sends a request with cookies and
 * without a preflight (cross-site request forgery), or has its own name resolved to this machine (DNS rebinding).
 *
 * @module
 */

import { ServableError } from '../../base/errors.ts'
import type { Cors } from '../../web/cors.ts'
import { askedHost, isAmong } from '../../web/host.ts'
import { addressIn, LOOPBACK_ADDRESS } from '../../web/ip-address.ts'
import type { RequestState, Route } from '../context.ts'

/** The settings of the check. */
export interface CrossSiteOptions {
  /** The origins that may call; undefined for none. */
  readonly cors: Cors | undefined
  readonly publicUrl: string | undefined
}

/**
 * Throws `cross_site_request` if a browser marks a request that changes something as sent by a page of another origin, unless
 * CORS allows that origin. Requests without a browser's mark pass, and so do those with a token in `Authorization`, which no page
 * can send without a preflight.
 */
export function checkCrossSite(
  request: Request,
  { opensConnection = false, cors: own, corsOption }: Pick<Route, 'opensConnection' | 'cors' | 'corsOption'>,
  { cors, publicUrl }: CrossSiteOptions,
): void {
  if (!changesSomething(request, opensConnection) || !isCrossSite(request, publicUrl) || hasToken(request))
    return
  if (cors !== undefined && letsIn(cors, request)) return
  throw new ServableError(
    'cross_site_request',
    `A page of another origin sent this request. ${own === null ? NO_CORS : fixOf(corsOption ?? '`cors`', cors)}`,
  )
}

/**
 * Whether a browser marks the request as sent by a page of another origin. If there is a `Sec-Fetch-Site`, it decides (W3C Fetch
 * Metadata, section 2.4), since the browser knows the address that it requested. Else an `Origin` other than the service's own
 * decides.
 */
export function isCrossSite({ headers, url }: Request, publicUrl: string | undefined): boolean {
  const site = headers.get('sec-fetch-site')
  if (site !== null) return site !== 'same-origin' && site !== 'none'
  const origin = headers.get('origin')
  return origin !== null && origin !== publicUrl && !isSameHost(origin, url)
}

/** Whether a browser marks the request as sent by a page of the service itself. */
export function isOfOwnPage(request: Request, publicUrl: string | undefined): boolean {
  const { headers } = request
  const site = headers.get('sec-fetch-site')
  return site === null ? headers.has('origin') && !isCrossSite(request, publicUrl) : site === 'same-origin'
}

/** Whether a request may change something. Safe methods do not (RFC 9110, section 9.2.1), except those that open a connection. */
function changesSomething({ method }: Request, opensConnection: boolean): boolean {
  if (method === 'OPTIONS') return false
  return opensConnection || (method !== 'GET' && method !== 'HEAD')
}

/** Compares hosts only: behind a proxy that ends TLS, the request's scheme is not the browser's. */
function isSameHost(origin: string, url: string): boolean {
  if (!URL.canParse(origin)) return false
  const { protocol, host } = new URL(origin)
  // Use the scheme of the origin, so that its default port equals none.
  const own = `${protocol}//${new URL(url).host}`
  return URL.canParse(own) && new URL(own).host === host
}

/** Schemes of credentials that a browser remembers and adds by itself, like cookies. */
const REMEMBERED = /^(basic|digest|negotiate|ntlm)\b/i

function hasToken({ headers }: Request): boolean {
  const credentials = headers.get('authorization') ?? ''
  return credentials !== '' && !REMEMBERED.test(credentials)
}

/** If any origin may call, it may only without credentials, so the request may have none that a browser adds by itself. */
function letsIn(cors: Cors, { headers }: Request): boolean {
  if (cors.isOpen) return !headers.has('cookie') && !headers.has('authorization')
  const origin = headers.get('origin')
  return origin !== null && cors.allows(origin)
}

/** The settings of the check of hosts. */
export interface HostOptions {
  /** Hosts of the service, besides names of this machine, in lower case; undefined if any host is allowed. */
  readonly allowedHosts: readonly string[] | undefined
  readonly production: boolean
}

/**
 * Throws `forbidden` if the other end of the connection is on this machine and requests an unknown host name: the browser takes a
 * page under that name for one of the service. An address is not a name, so it passes, and every browser sends `Host`. In
 * production `trustProxy` may show that the client is elsewhere.
 */
export function checkHost(
  request: Request,
  state: RequestState,
  { allowedHosts, production }: HostOptions,
): void {
  if (allowedHosts === undefined || !request.headers.get('host')) return
  const asked = askedHost(request)
  const { peer, unproven, match } = state
  const { hosts = [] } = match?.found === 'route' ? match.route : {}
  const isKnown = /(^|\.)localhost$/.test(asked.name) || addressIn(asked.name) !== undefined
  if (isKnown || isAmong(asked, [...allowedHosts, ...hosts])) return
  const addresses = production ? [peer, state.ip] : [peer]
  if ((production || !unproven) && !addresses.every(ip => LOOPBACK_ADDRESS.test(ip ?? ''))) return
  throw new ServableError(
    'forbidden',
    `The host \`${asked.name}\` is unknown: if it is the service's own, add it to \`allowedHosts\``,
  )
}

const NO_CORS = 'These routes refuse other origins: they have no CORS'

function fixOf(option: string, cors: Cors | undefined): string {
  if (cors?.isOpen)
    return `${option} allows any origin, but no credentials: name the origins that may send them`
  return `To allow it, add its origin to ${option}. If it is the service's own, set \`publicUrl\``
}

/**
 * Whether a browser opens a page (Fetch Metadata). Over plain HTTP these headers are missing, so a request for HTML counts.
 */
export function isNavigation({ headers }: Request): boolean {
  return headers.get('sec-fetch-mode') === 'navigate' || (headers.get('accept') ?? '').includes('text/html')
}
