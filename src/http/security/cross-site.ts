/**
 * What pages make their visitors' browsers send: a page of another origin sends a request with cookies and without a preflight
 * (cross-site request forgery), and a page has its own name resolved to this machine (DNS rebinding).
 *
 * @module
 */

import { ServableError } from '../../base/errors.ts'
import type { Cors } from '../../web/cors.ts'
import { askedHost, isAmong } from '../../web/host.ts'
import { addressIn, LOOPBACK_ADDRESS } from '../../web/ip-address.ts'
import type { RequestState, Route } from '../context.ts'

/** What the check needs to know of the deployment. */
export interface CrossSiteOptions {
  /** Who may call across origins; undefined where nobody may. */
  readonly cors: Cors | undefined
  readonly publicUrl: string | undefined
}

/**
 * Throws `cross_site_request` where a browser says that a page of another origin sent a request that changes something,
 * unless CORS lets that origin in. Requests of which no browser says anything pass, and so do those with a token in
 * `Authorization`, which no page can send without a preflight.
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
 * Whether a browser says that a page of another origin sent the request. `Sec-Fetch-Site` decides where it is there
 * (W3C Fetch Metadata, section 2.4), since the browser knows the address that it asked; else an `Origin` that is not the
 * service's own does.
 */
export function isCrossSite({ headers, url }: Request, publicUrl: string | undefined): boolean {
  const site = headers.get('sec-fetch-site')
  if (site !== null) return site !== 'same-origin' && site !== 'none'
  const origin = headers.get('origin')
  return origin !== null && origin !== publicUrl && !isSameHost(origin, url)
}

/** Safe methods change nothing (RFC 9110, section 9.2.1), but for those of the socket, which open connections. */
function changesSomething({ method }: Request, opensConnection: boolean): boolean {
  if (method === 'OPTIONS') return false
  return opensConnection || (method !== 'GET' && method !== 'HEAD')
}

/** Schemes may differ: behind a proxy that ends TLS, the request's is not the one that the browser asked with. */
function isSameHost(origin: string, url: string): boolean {
  if (!URL.canParse(origin)) return false
  const { protocol, host } = new URL(origin)
  // With the scheme of the origin, so that its default port is the same as none.
  const own = `${protocol}//${new URL(url).host}`
  return URL.canParse(own) && new URL(own).host === host
}

/** Schemes of credentials that a browser remembers, and adds by itself as it does with cookies. */
const REMEMBERED = /^(basic|digest|negotiate|ntlm)\b/i

function hasToken({ headers }: Request): boolean {
  const credentials = headers.get('authorization') ?? ''
  return credentials !== '' && !REMEMBERED.test(credentials)
}

/** Where any origin may call, it may without credentials: then nothing that a browser adds by itself may come along. */
function letsIn(cors: Cors, { headers }: Request): boolean {
  if (cors.isOpen) return !headers.has('cookie') && !headers.has('authorization')
  const origin = headers.get('origin')
  return origin !== null && cors.allows(origin)
}

/** What the check of hosts needs to know of the deployment. */
export interface HostOptions {
  /** Hosts of the service, besides names of this machine, in lower case; undefined where any will do. */
  readonly allowedHosts: readonly string[] | undefined
  readonly production: boolean
}

/**
 * Throws `forbidden` where whoever is connected is on this machine and asks for a host by an unknown name: the browser takes a page
 * under that name for one of the service. An address is no name, so it passes, and every browser sends `Host`. In production
 * `trustProxy` may say that the client is elsewhere.
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
