/**
 * Sessions of the revisions before 2026-07-28. They are not stored: their ids contain what their clients can do. Only the calls
 * at work are known here, so that a notification can cancel one. The notification must reach the process that does the work.
 *
 * @module
 */

import { deferred } from '../../base/wake.ts'
import { opensUrls, showsForms } from './asking.ts'
import { showsPages } from './era.ts'
import type { Fields } from './rpc.ts'

/** The header that carries the id of a session. */
export const SESSION = 'mcp-session-id'

/** Most characters of a session's id that are kept. */
const MAX_SESSION_ID = 100

/** The ends of a session's id, in this order: if the client shows pages, if it shows forms, and if it opens addresses. */
const PAGES = '.pages'
const FORMS = '.forms'
const URLS = '.urls'

/** Most sessions of which this process knows subscriptions and log levels, and most of one client. The oldest are forgotten. */
const MAX_SESSIONS = 10_000
const MAX_OF_CLIENT = 100

/** Most characters of all addresses that a session has subscribed to. */
const MAX_ADDRESSES = 20_000

/** What a client has set for its session. It must reach the process that uses it. */
export interface SessionSettings {
  /** The addresses of resources that it subscribed to. */
  readonly uris: Set<string>
  /** Whether it wants messages of the level `info`. */
  logsInfo: boolean
  /** Whose session it is: an owner, or an address. */
  readonly client: string
}

/** Whether a session may subscribe to one more resource. */
export function hasRoomFor(uri: string, { uris }: SessionSettings): boolean {
  return [...uris, uri].reduce((length, each) => length + each.length, 0) <= MAX_ADDRESSES
}

/** The calls of sessions that are at work in this process. */
export class ActiveCalls {
  readonly #calls = new Map<string, (value?: undefined) => void>()
  readonly #settings = new Map<string, SessionSettings>()
  readonly #ofClients = new Map<string, Set<string>>()

  /** The settings of a request's session; undefined if there are none, or the request has no session. */
  settings({ headers }: Request): SessionSettings | undefined {
    return this.#settings.get(headers.get(SESSION) ?? '')
  }

  /** The same, made for a client if there are none. Undefined without a session. */
  settingsOf(request: Request, client: string): SessionSettings | undefined {
    const session = request.headers.get(SESSION)
    if (!session || session.length > MAX_SESSION_ID) return undefined
    const known = this.settings(request)
    if (known !== undefined) return known
    const own = this.#ofClients.get(client) ?? new Set<string>()
    if (own.size >= MAX_OF_CLIENT) this.#forget(own.values().next().value)
    else if (this.#settings.size >= MAX_SESSIONS) this.#forget(this.#settings.keys().next().value)
    const settings = { uris: new Set<string>(), logsInfo: false, client }
    this.#settings.set(session, settings)
    this.#ofClients.set(client, own.add(session))
    return settings
  }

  #forget(session = ''): void {
    const client = this.#settings.get(session)?.client ?? ''
    this.#settings.delete(session)
    const own = this.#ofClients.get(client)
    own?.delete(session)
    if (own?.size === 0) this.#ofClients.delete(client)
  }

  /** The id of a new session. */
  begin(capabilities: Fields): string {
    const ends = [
      showsPages(capabilities) && PAGES,
      showsForms(capabilities) && FORMS,
      opensUrls(capabilities) && URLS,
    ]
    return [crypto.randomUUID(), ...ends].filter(Boolean).join('')
  }

  /** What the client of a request can ask a person. */
  capabilities({ headers }: Request): Fields {
    const [, form, url] = /(\.forms)?(\.urls)?$/.exec(headers.get(SESSION) ?? '') ?? []
    return form || url ? { elicitation: { ...(form && { form: {} }), ...(url && { url: {} }) } } : {}
  }

  /** Whether the client of a request shows pages. */
  showsPages({ headers }: Request): boolean {
    return /\.pages(\.forms)?(\.urls)?$/.test(headers.get(SESSION) ?? '')
  }

  /**
   * Adds a call. `onCancel` runs in the context of the request that began the call, because on Workers no other request may use
   * the call's objects. Returns a function to call when the call is over.
   */
  track(request: Request, id: unknown, onCancel: () => void): () => void {
    const key = keyOf(request, id)
    if (key === undefined) return () => {}
    const { promise, resolve } = deferred<void>()
    void promise.then(onCancel)
    this.#calls.set(key, resolve)
    return () => {
      // A later call may have the same id.
      if (this.#calls.get(key) === resolve) this.#calls.delete(key)
    }
  }

  /** Cancels a call, if it is at work here. */
  cancel(request: Request, id: unknown): void {
    this.#calls.get(keyOf(request, id) ?? '')?.()
  }
}

/** The key of a call. It contains the random id of its session, so no other client can cancel the call. */
function keyOf({ headers }: Request, id: unknown): string | undefined {
  const session = headers.get(SESSION)
  return session ? `${session} ${JSON.stringify(id)}` : undefined
}
