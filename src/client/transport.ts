/**
 * Sends requests and tells what their answers mean. One request, one try: who may try again decides who calls.
 *
 * @module
 */

import { discard, readText } from './body.ts'
import { ServableClientError } from './error.ts'
import type { CallOptions, ClientOptions, HeaderFields } from './options.ts'
import { problemOf } from './problem.ts'
import { linkSignal, orAbort } from './signal.ts'
import { createTries, repeat } from './tries.ts'

/** The options of a client with their defaults. */
export type Settings = Readonly<
  Required<Pick<ClientOptions, 'maxTries' | 'retryDelayMs' | 'silenceMs' | 'maxLength'>>
>

/** A request. */
export interface Outgoing {
  readonly method: 'GET' | 'POST'
  /** Below `baseUrl`. */
  readonly path: string
  /** To be sent as JSON. */
  readonly body?: unknown
  readonly headers?: HeaderFields
  readonly options?: CallOptions | undefined
  /** The headers of the caller, where the request is to have those of an earlier one. */
  readonly fields?: Headers | undefined
  /** Statuses that are no failure, beside those of 200 to 299. */
  readonly accepts?: number
}

/** Sends requests. */
export interface Transport {
  readonly settings: Settings
  /** The headers of the caller for a request. Throws `invalid_options` for what no header can be. */
  fields(options?: CallOptions): Promise<Headers>
  /** Sends once. Throws `network_error`, the service's own code, or `invalid_response`. */
  send(outgoing: Outgoing, signal: AbortSignal): Promise<Response>
  /** Reads an answer as JSON. */
  json<T>(response: Response, signal: AbortSignal): Promise<T>
  /** Sends, reads the answer, and does so again where `isSafe`. */
  ask<T>(outgoing: Outgoing, isSafe?: boolean): Promise<T>
}

/** Makes the transport of a client. Throws `invalid_options`. */
export function createTransport(options: ClientOptions): Transport {
  const base = baseOf(options.baseUrl)
  const { fetch = (request: Request) => globalThis.fetch(request) } = options
  const { maxTries = 6, retryDelayMs = 250, silenceMs = 30_000, maxLength = 64 * 1024 * 1024 } = options
  const settings = { maxTries, retryDelayMs, silenceMs, maxLength }

  async function fields(call: CallOptions = {}): Promise<Headers> {
    const own = typeof options.headers === 'function' ? await options.headers() : options.headers
    const apiKey = call.apiKey ?? options.apiKey
    const headers = new Headers()
    const all = [own, apiKey && { 'x-api-key': apiKey }, options.keys, call.keys, call.headers]
    for (const [name, value] of all.flatMap(each => Object.entries(each || {})))
      setField(headers, name, value)
    return headers
  }

  async function send(outgoing: Outgoing, signal: AbortSignal): Promise<Response> {
    const { method, path, body, accepts } = outgoing
    signal.throwIfAborted()
    const headers = new Headers(outgoing.fields ?? (await orAbort(fields(outgoing.options), signal)))
    const secrets = [...headers.values()]
    for (const [name, value] of Object.entries(outgoing.headers ?? {})) headers.set(name, value)
    if (body !== undefined) headers.set('content-type', 'application/json')
    const request = new Request(`${base}${path}`, {
      method,
      headers,
      body: body === undefined ? null : JSON.stringify(body),
      redirect: 'manual',
      signal,
    })
    const sent = async () => fetch(request)
    const response = await orAbort(sent(), signal, discard).catch(cause => {
      signal.throwIfAborted()
      throw new ServableClientError('network_error', `\`${method} ${path}\` got no answer`, { cause })
    })
    if (response.ok || response.status === accepts) return response
    throw await problemOf(response, secrets, { ...settings, signal })
  }

  async function json<T>(response: Response, signal: AbortSignal): Promise<T> {
    const text = await readText(response, { ...settings, silenceMs: Number.POSITIVE_INFINITY, signal })
    try {
      const value: unknown = JSON.parse(text)
      if (typeof value === 'object' && value !== null) return value as T
    } catch {
      // Told below.
    }
    throw notOurs(response, 'JSON')
  }

  async function ask<T>(outgoing: Outgoing, isSafe = true): Promise<T> {
    const link = linkSignal(outgoing.options ?? {})
    const once = async () => json<T>(await send(outgoing, link.signal), link.signal)
    try {
      return await (isSafe ? repeat(createTries(settings, link.signal), once) : once())
    } finally {
      link.unlink()
    }
  }

  return { settings, fields, send, json, ask }
}

/** The error of an answer that is not what the service would say. */
export function notOurs({ status }: Response, expected: string): ServableClientError {
  const message = `The answer is no ${expected}: is \`baseUrl\` the address of the service, with its prefix?`
  return new ServableClientError('invalid_response', message, { status })
}

/** The text of a failure could hold the value, so it is told to nobody. */
function setField(headers: Headers, name: string, value: string): void {
  try {
    headers.set(name, value)
  } catch {
    throw new ServableClientError(
      'invalid_options',
      `The header \`${name}\` cannot be sent: see its characters`,
    )
  }
}

function baseOf(text: string): string {
  const url = parse(text)
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    throw new ServableClientError(
      'invalid_options',
      '`baseUrl` must be an address such as `https://example.org/api`',
    )
  }
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') {
    throw new ServableClientError(
      'invalid_options',
      '`baseUrl` must have no user, password, query or hash: give credentials as `headers`',
    )
  }
  return url.href.replace(/\/+$/, '')
}

function parse(text: string): URL | undefined {
  // Only browsers have a page that an address can be relative to.
  const { location } = globalThis as { location?: { href: string } }
  try {
    return new URL(text, location?.href)
  } catch {
    return undefined
  }
}
