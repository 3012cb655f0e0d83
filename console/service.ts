/**
 * The service that the page belongs to: where it is, who asks, and the client. Credentials stay in memory, or for this tab in
 * `sessionStorage` if the user says so. They are never in an address.
 *
 * @module
 */

import { computed, signal } from '@preact/signals'
import { type Client, createClient, ServableClientError } from '../src/client/index.ts'
import type { ConsoleConfig } from '../src/features/console/config.ts'
import type { Ask } from '../src/http/security/page-credentials.ts'

export type { Ask } from '../src/http/security/page-credentials.ts'

/** The element that the page is drawn in. What differs between deployments is in its attributes. */
export const page: HTMLElement = document.getElementById('console')!

/** The title that the deployment gives the page. */
export const TITLE: string = page.dataset.title ?? 'servable'

/** The credentials that the service may ask for. */
export const ASKS: readonly Ask[] = JSON.parse(page.dataset.asks ?? '[]')

/** The address of the service with its prefix, without a slash at its end. */
export const BASE: string = new URL('.', location.href).href.replace(/\/$/, '')

/** Where the page stands with the service. */
export type Standing =
  | { readonly is: 'loading' }
  /** Credentials are needed. `isRefused`: those that were given are not accepted. */
  | { readonly is: 'asking'; readonly isRefused: boolean }
  | { readonly is: 'failed'; readonly why: string }
  | { readonly is: 'ready'; readonly config: ConsoleConfig }

export const standing = signal<Standing>({ is: 'loading' })

/** What the service said of itself. Only screens ask, which are drawn once it is known. */
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

/** The client that all screens use. */
export const client: Client = createClient({
  baseUrl: BASE,
  headers: () => credentials.value,
})

/**
 * Sends the service what the client has no method for. Headers of `init` win over the credentials. Throws a `ServableClientError` as the
 * client does.
 */
export async function send(path: string, init: RequestInit = {}): Promise<Response> {
  const headers = new Headers({ ...credentials.value })
  for (const [name, value] of new Headers(init.headers)) headers.set(name, value)
  const response = await fetch(addressOf(path), { ...init, headers })
  if (response.ok) return response
  const { code = 'invalid_response', detail, title } = Object(await response.json().catch(() => undefined))
  throw new ServableClientError(code, String(detail ?? title ?? response.statusText), {
    status: response.status,
  })
}

/** The same, for an answer of JSON. */
export async function ask<T>(path: string, init?: RequestInit): Promise<T> {
  return (await send(path, init)).json()
}

/** The address of a path: of one below the prefix, or of one that the service has told. */
export function addressOf(path: string): string {
  const { prefix = '' } = standing.value.is === 'ready' ? standing.value.config : {}
  const below = prefix !== '' && path.startsWith(`${prefix}/`) ? path.slice(prefix.length) : path
  return below === path && prefix !== '' && isTold(path) ? new URL(path, location.href).href : BASE + below
}

/** Paths outside of the prefix: agent cards and other protocols. */
function isTold(path: string): boolean {
  return Object.values(config.value.links).some(link => link === path) || path.includes('/.well-known/')
}

/** Reads what the service says of itself, with the credentials that are known. */
export async function loadConfig(): Promise<void> {
  const hasCredentials = Object.keys(credentials.value).length > 0
  if (!hasCredentials && page.dataset.asksFirst !== undefined) {
    standing.value = { is: 'asking', isRefused: false }
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

/** Forgets the credentials, and all that the page has shown with them. */
export function logOut(): void {
  sessionStorage.removeItem(KEPT)
  location.reload()
}

/** Whether there are credentials that can be forgotten. */
export const isLoggedIn = computed(() => Object.keys(credentials.value).length > 0)

/** The text of an error. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** The code of an error of the service; undefined for any other one. */
export function codeOf(error: unknown): string | undefined {
  return error instanceof ServableClientError ? error.code : undefined
}

/** Whether the service refuses a request, so that asking the same again is of no use. */
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
