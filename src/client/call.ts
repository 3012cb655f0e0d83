/**
 * Sends requests and interprets their answers. Each request is one try. The caller decides on another try.
 *
 * @module
 */

import { discard, parseObject, readText, type StreamOptions } from './body.ts'
import { mayPass, ServableClientError } from './error.ts'
import type { CallOptions, ClientOptions, HeaderFields } from './options.ts'
import { notOurs, problemOf } from './problem.ts'
import { attempt, setAll } from './sent.ts'
import { type LinkedSignal, linkSignal, orAbort, sleep } from './signal.ts'

/** The parts of a request besides its path. */
export interface RequestParts {
  /** Default GET. */
  readonly method?: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  /** Sent as JSON. */
  readonly body?: object
  readonly headers?: HeaderFields
  /** The caller's headers of an earlier request, to be sent again. */
  readonly fields?: Headers
  /** A status outside 200 to 299 that is not a failure. */
  readonly accepts?: number
}

/** One call of a client. Its requests share one signal and one count of tries. Unlink it at the end. */
export interface ClientCall extends LinkedSignal, StreamOptions {
  readonly tries: Tries
  /** The caller's current headers. Throws `invalid_options` for an invalid header. */
  fields(): Promise<Headers>
  /** Sends once. Throws `network_error`, the service's own code, or `invalid_response`. */
  send(path: string, parts?: RequestParts): Promise<Response>
  /** Reads an answer as JSON, which must be an object or an array. */
  json<T>(response: Response): Promise<T>
}

/** Makes calls. */
export interface ClientCaller {
  /** Begins a call. */
  open(options?: CallOptions, maxTries?: number): ClientCall
  /** Does the work in a call of its own. Tries again if that may help. */
  within<T>(
    options: CallOptions | undefined,
    work: (call: ClientCall) => Promise<T>,
    maxTries?: number,
  ): Promise<T>
  /** Requests JSON in a call of its own. Tries again if that may help. */
  ask<T>(path: string, options?: CallOptions, parts?: RequestParts, maxTries?: number): Promise<T>
}

/** Makes the calls of a client. Throws `invalid_options`. */
export function createCaller(client: ClientOptions): ClientCaller {
  const base = baseOf(client.baseUrl)
  const {
    fetch = (request: Request) => globalThis.fetch(request),
    silenceMs = 30_000,
    maxLength = 2 ** 26,
  } = client

  function open(options: CallOptions = {}, maxTries: number = client.maxTries ?? 6): ClientCall {
    const link = linkSignal(options)
    const { signal } = link
    const tries = createTries(maxTries, client.retryDelayMs ?? 250, signal)
    const fields = () => orAbort(fieldsOf(client, options), signal)
    return {
      ...link,
      tries,
      silenceMs,
      maxLength,
      fields,
      onComment(comment) {
        // Only the service writes this comment, and not at once. So the connection works, and there are no messages.
        if (comment === 'keep-alive') tries.progress()
      },
      async send(path, { method = 'GET', body, headers, accepts, ...parts }: RequestParts = {}) {
        signal.throwIfAborted()
        const all = new Headers(parts.fields ?? (await fields()))
        const secrets = [...all.values()]
        setAll(all, { ...headers, 'content-type': body && 'application/json' })
        // A redirect could send the keys to another server.
        const init = {
          method,
          headers: all,
          body: body ? JSON.stringify(body) : null,
          redirect: 'manual',
          signal,
        } as const
        const request = new Request(base + path, init)
        const sent = (async () => fetch(request))()
        const response = await orAbort(sent, signal, discard).catch(cause => {
          throw new ServableClientError('network_error', `\`${method} ${path}\` got no answer`, { cause })
        })
        if (response.ok || response.status === accepts) return response
        throw await problemOf(response, secrets, signal, maxLength)
      },
      async json(response) {
        const value = parseObject(await readText(response, signal, maxLength))
        // The type is the service's contract.
        if (value) return value as never
        throw notOurs('no JSON', response)
      },
    }
  }

  const within: ClientCaller['within'] = async (options, work, maxTries) => {
    const call = open(options, maxTries)
    try {
      while (true) {
        try {
          return await work(call)
        } catch (error) {
          await call.tries.again(error)
        }
      }
    } finally {
      call.unlink()
    }
  }

  const ask: ClientCaller['ask'] = (path, options, parts, maxTries) =>
    within(options, async call => call.json(await call.send(path, parts)), maxTries)

  return { open, within, ask }
}

async function fieldsOf(client: ClientOptions, call: CallOptions): Promise<Headers> {
  const fields = new Headers()
  const { headers } = client
  const own = typeof headers === 'function' ? await headers() : headers
  const apiKey = { 'x-api-key': (call.apiKey ?? client.apiKey) || undefined }
  const all = [own, apiKey, client.keys, call.keys, call.headers]
  for (const source of all) setAll(fields, source)
  return fields
}

function baseOf(text: string): string {
  // Only browsers have a page that resolves a relative address.
  const { location } = globalThis as { location?: { href: string } }
  const message = '`baseUrl` must be an http(s) address without a query'
  return attempt(message, () => {
    const { href, origin, pathname } = new URL(text, location?.href)
    if (/^http/.test(href) && href === origin + pathname) return href.replace(/(?<!\/)\/+$/, '')
    throw message
  })
}

/** Most milliseconds between two tries, without a `Retry-After`. */
const MAX_DELAY_MS = 10_000
/** Most milliseconds of a `Retry-After` that the client waits for. A longer one ends the tries. */
const MAX_RETRY_AFTER_MS = 60_000

/** The tries of one call. */
interface Tries {
  /** Reports progress. The next failure counts as the first. */
  progress(): void
  /** Waits before the next try. Throws `error` if there is no next try. */
  again(error: unknown): Promise<void>
}

/** Counts tries without progress. */
function createTries(maxTries: number, delayMs: number, signal: AbortSignal): Tries {
  let failures = 0
  return {
    progress() {
      failures = 0
    },
    async again(error) {
      signal.throwIfAborted()
      if (!(error instanceof ServableClientError)) {
        // An error of another class comes from the caller: `headers` that throw, or an input that is not JSON.
        throw new ServableClientError('invalid_options', 'The request cannot be sent', { cause: error })
      }
      failures++
      const { retryAfter = 0 } = error
      // If `maxTries` is not a number, there is no second try.
      if (!mayPass(error) || !(failures < maxTries) || retryAfter > MAX_RETRY_AFTER_MS) throw error
      const delay = Math.min(MAX_DELAY_MS, delayMs * 2 ** (failures - 1))
      await sleep(Math.max(retryAfter, delay * (1 - Math.random() / 2)), signal)
    },
  }
}
