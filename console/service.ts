/**
 * The service of the page: its address, the credentials, and the client. Credentials stay in memory, or for this tab in
 * `sessionStorage` if the user chooses so. They are never in an address.
 *
 * @module
 */

import { computed, signal } from '@preact/signals'
import { type Client, createClient, ServableClientError } from '../src/client/index.ts'
import { withOwner } from '../src/client/sent.ts'
import type { ConsoleConfig } from '../src/features/console/plugin.ts'
import type { PageCredential } from '../src/http/security/page-credentials.ts'
import type { Right } from '../src/http/security/rights.ts'
import { route } from './route.ts'

export type { PageCredential } from '../src/http/security/page-credentials.ts'

/** The element that the page is rendered in. Its attributes have the settings of the deployment. */
export const page: HTMLElement = document.getElementById('console')!

/** The title of the page. */
export const TITLE: string = page.dataset.title ?? 'servable'

/** The credentials that the service may need. */
export const ASKS: readonly PageCredential[] = JSON.parse(page.dataset.asks ?? '[]')

/** Whether users log in with a provider. */
export const HAS_LOGIN: boolean = page.dataset.hasLogin !== undefined

/** The address of the service with its prefix, without a slash at its end. */
export const BASE: string = new URL('.', location.href).href.replace(/\/$/, '')

/** The state of the connection between page and service. */
export type Standing =
  | { readonly is: 'loading' }
  /** Credentials are needed, or the user wants to give some. `isRefused`: the given ones were refused. */
  | { readonly is: 'asking'; readonly isRefused?: boolean; readonly isOptional?: boolean }
  | { readonly is: 'failed'; readonly why: string }
  | { readonly is: 'ready'; readonly config: ConsoleConfig }

export const standing = signal<Standing>({ is: 'loading' })

/** The configuration of the service. Only screens read it, which are rendered after it is loaded. */
export const config = computed<ConsoleConfig>(() => {
  const now = standing.value
  if (now.is !== 'ready') throw new Error('The configuration is not known yet')
  return now.config
})

const KEPT = 'servable.console.credentials'

/** Headers of every request. */
const credentials = signal<Readonly<Record<string, string>>>(keptCredentials())

/** Keys of model providers for runs, by header. They are forgotten with the page. */
export const providerKeys = signal<Readonly<Record<string, string>>>({})

/** A client of the service, which changes its requests. */
function makeClient(change: (request: Request) => Request): Client {
  return createClient({
    baseUrl: BASE,
    headers: () => credentials.value,
    fetch: request => heard(fetch(change(request))),
  })
}

/** The client that all screens use. */
export const client: Client = makeClient(ofOwner)

/** A client for the runs of an owner. Without one, for the user's own. */
export function clientOf(owner: string | null | undefined): Client {
  return owner ? makeClient(request => withOwner(request, owner)) : makeClient(request => request)
}

/** The last request that told whether the service answers. */
export const answered = signal<{ readonly at: number; readonly isAnswer: boolean }>({
  at: Date.now(),
  isAnswer: true,
})

/** A gateway says with these that the service behind it does not answer. */
const GONE: readonly number[] = [502, 504]

/** Tells by a request whether the service answers. */
export async function heard(asked: Promise<Response>): Promise<Response> {
  const tell = (isAnswer: boolean) => {
    answered.value = { at: Date.now(), isAnswer }
  }
  try {
    const response = await asked
    tell(!GONE.includes(response.status))
    return response
  } catch (error) {
    // One who aborts a request has learned nothing.
    if (error instanceof TypeError) tell(false)
    throw error
  }
}

/** Names the owner of a run or a session that is somebody else's, as the address of the page does. */
function ofOwner(request: Request): Request {
  const owner = route.value.query.get('of')
  const isTheirs = /\/(runs|sessions)\/[^/]+/.test(new URL(request.url).pathname)
  return owner !== null && isTheirs ? withOwner(request, owner) : request
}

/**
 * Sends a request that the client has no method for. Headers of `init` override the credentials. Throws a `ServableClientError`
 * like the client.
 */
export async function send(path: string, init: RequestInit = {}): Promise<Response> {
  const headers = new Headers({ ...credentials.value })
  for (const [name, value] of new Headers(init.headers)) headers.set(name, value)
  const response = await heard(fetch(addressOf(path), { ...init, headers })).catch(cause => {
    throw cause instanceof TypeError
      ? new ServableClientError('network_error', 'The service did not answer', { cause })
      : cause
  })
  if (response.ok) return response
  const {
    code = 'invalid_response',
    detail,
    title,
    issues = [],
  } = Object(await response.json().catch(() => undefined))
  throw new ServableClientError(code, String(detail ?? title ?? response.statusText), {
    status: response.status,
    issues,
  })
}

/** The same, for a JSON answer. */
export async function ask<T>(path: string, init?: RequestInit): Promise<T> {
  const response = await send(path, init)
  return response.status === 204 ? (undefined as T) : response.json()
}

/** A request with a method, and with a body as JSON if there is one. */
export function withBody(method: string, body?: object): RequestInit {
  return {
    method,
    ...(body && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
  }
}

/** The address of a path: one below the prefix, or one of the service's links. */
export function addressOf(path: string): string {
  const { prefix = '' } = standing.value.is === 'ready' ? standing.value.config : {}
  const below = prefix !== '' && path.startsWith(`${prefix}/`) ? path.slice(prefix.length) : path
  return below === path && prefix !== '' && isLinked(path) ? new URL(path, location.href).href : BASE + below
}

/** Whether a path is outside of the prefix: agent cards and other protocols. */
function isLinked(path: string): boolean {
  return Object.values(config.value.links).some(link => link === path) || path.includes('/.well-known/')
}

/** Loads the configuration with the known credentials. */
export async function loadConfig(): Promise<void> {
  const hasCredentials = Object.keys(credentials.value).length > 0
  if (!hasCredentials && page.dataset.asksFirst !== undefined) {
    standing.value = { is: 'asking' }
    return
  }
  try {
    const config = await ask<ConsoleConfig>('/console/config')
    standing.value = { is: 'ready', config }
  } catch (error) {
    const { status } = error as ServableClientError
    if (status === 401) standing.value = { is: 'asking', isRefused: hasCredentials }
    else standing.value = { is: 'failed', why: messageOf(error) }
  }
}

/** Uses credentials from now on. */
export async function logIn(given: Readonly<Record<string, string>>, isKept: boolean): Promise<void> {
  credentials.value = given
  await loadConfig()
  if (isKept && standing.value.is === 'ready') sessionStorage.setItem(KEPT, JSON.stringify(given))
}

/** Forgets the credentials, and everything that the page has shown with them. */
export async function logOut(): Promise<void> {
  sessionStorage.removeItem(KEPT)
  if (config.value.isLoggedIn) await send('/console/logout', { method: 'POST' }).catch(() => {})
  location.reload()
}

/** Whether the user may do something with what belongs to `owner`. Everyone may do all with their own. */
export function may(right: Right, owner?: string | null): boolean {
  const { identity, rights } = config.value
  return owner === undefined || owner === identity?.id || rights.includes(right)
}

/** Whether there is a login that can be ended. */
export const isLoggedIn = computed(() => config.value.isLoggedIn || Object.keys(credentials.value).length > 0)

/** The text of an error. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** The code of a service error. Undefined for any other error. */
export function codeOf(error: unknown): string | undefined {
  return error instanceof ServableClientError ? error.code : undefined
}

/** Whether the service refuses a request, so that repeating it is useless. */
export function isRefusal(error: unknown): boolean {
  const { status = 0 } = error instanceof ServableClientError ? error : {}
  return status >= 400 && status < 500 && status !== 429
}

function keptCredentials(): Readonly<Record<string, string>> {
  try {
    return JSON.parse(sessionStorage.getItem(KEPT) ?? '{}')
  } catch {
    return {}
  }
}
