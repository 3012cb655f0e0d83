/**
 * The fetch for remote agents. It reaches only allowed addresses, adds credentials, and limits what it reads.
 *
 * @module
 */

import { nameResolver } from '../../base/environment.ts'
import { isServableError, messageOf, ServableError } from '../../base/errors.ts'
import { parseJson } from '../../web/json.ts'
import { senderTo } from '../../web/outbound.ts'
import { discard } from '../../web/reply.ts'
import { MIN_SECRET, partsOf, secretsIn } from '../../web/secrets.ts'
import { failed, LostError, unfit } from './failure.ts'
import type { RemoteRequest, RemoteSettings } from './options.ts'

/** The run for which requests are sent. */
export type RequestingRun = Omit<RemoteRequest, 'url' | 'method' | 'signal'>

/** The fetch of one run. */
export interface RemoteFetch {
  (url: string | URL, init?: RequestInit): Promise<Response>
  /** The values of the headers that were sent so far, and the secrets. */
  values(): readonly string[]
  /** The secrets in these headers and in the address. The list is a new one once there are more secrets. */
  secrets(): readonly string[]
  /** How many requests were sent so far. A request that waits for its credentials does not count. */
  sent(): number
}

/** Most redirects that a request without a body follows. */
const MAX_REDIRECTS = 3

/** Most values that are remembered. Past it the oldest are dropped. */
const MAX_VALUES = 50

/** Statuses of a service that is overloaded, or that its proxy cannot reach. */
const BUSY: ReadonlySet<number> = new Set([429, 502, 503, 504])

/** Makes the fetch of one run. It sends `traceparent` with each request. */
export function remoteFetch(
  settings: RemoteSettings,
  requestingRun: RequestingRun,
  traceparent: string | undefined,
): RemoteFetch {
  let values: readonly string[] = []
  let secrets: readonly string[] = []
  // It is not called as a member of the settings, because runtimes refuse to call `fetch` with another `this`.
  const { fetch } = settings
  const resolve = nameResolver()
  let sent = 0
  let left = settings.maxStreamBytes
  const take = (bytes: number) => {
    left -= bytes
    if (left < 0) throw unfit(`sent more than ${settings.maxStreamBytes} bytes in streams`)
  }

  const headersFor = async (url: URL, method: string, init: RequestInit, signal: AbortSignal) => {
    const headers = new Headers(init.headers)
    if (traceparent !== undefined) headers.set('traceparent', traceparent)
    const own = new Headers(await headersIn({ ...requestingRun, url: url.href, method, signal }, settings))
    for (const [name, value] of own) headers.set(name, value)
    const pieces = [...own.values()].flatMap(value => [value, ...value.split(' ')])
    const found = secretsIn([...partsOf(settings.url), ...own])
    values = withNew(values, [...pieces.filter(({ length }) => length >= MIN_SECRET), ...found])
    secrets = withNew(secrets, found)
    return headers
  }

  const call = async (address: string | URL, init: RequestInit = {}, redirects = 0): Promise<Response> => {
    const url = new URL(address)
    checkOrigin(url, settings)
    const send = await senderTo(url, { allow: settings.allow, resolve }, 'invalid_agent_response').catch(
      refused,
    )
    const { method = 'GET' } = init
    const limit = timeLimit(init.signal ?? undefined, settings.requestTimeoutMs)
    try {
      const headers = await headersFor(url, method, init, limit.signal)
      sent++
      const request: RequestInit = { ...init, headers, redirect: 'manual', signal: limit.signal }
      const response = await (fetch?.(url, request) ?? send(request)).catch(limit.explain)
      const next = response.headers.get('location')
      if (response.status >= 300 && response.status < 400 && response.status !== 304) {
        discard(response)
        if (method !== 'GET' || next === null || redirects === MAX_REDIRECTS)
          throw failed(
            `The remote agent answered with the redirect ${response.status}, which is not followed`,
          )
        return await call(new URL(next, url), init, redirects + 1)
      }
      if (BUSY.has(response.status)) {
        discard(response)
        throw new LostError(`it answered ${response.status}`)
      }
      return isStream(response)
        ? watched(response, settings.silenceMs, init.signal ?? undefined, take)
        : await whole(response, settings.maxBytes).catch(limit.explain)
    } finally {
      limit.clear()
    }
  }
  return Object.assign((url: string | URL, init?: RequestInit) => call(url, init), {
    values: () => values,
    secrets: () => secrets,
    sent: () => sent,
  })
}

/** Returns the list with the new values, or the same list if there are none. */
function withNew(known: readonly string[], found: readonly string[]): readonly string[] {
  const news = found.filter(each => !known.includes(each))
  return news.length === 0 ? known : [...known, ...news].slice(-MAX_VALUES)
}

async function headersIn(request: RemoteRequest, { headers }: RemoteSettings): Promise<HeadersInit> {
  try {
    return (await headers?.(request)) ?? {}
  } catch (cause) {
    request.signal.throwIfAborted()
    if (isServableError(cause)) throw cause
    const text = `The function \`headers\` of the remote agent failed: ${messageOf(cause)}`
    throw new ServableError('agent_failed', text, { cause })
  }
}

/** Throws `provider_failed` for an origin to which no credentials may go. */
function checkOrigin({ origin }: URL, { origins }: RemoteSettings): void {
  if (origins.includes(origin)) return
  const shown = origin.slice(0, 200)
  throw failed(
    `The card of the remote agent names the origin \`${shown}\`: to allow it, add it to \`origins\``,
  )
}

/** The client cannot change the address of an agent's requests. So in production only the log has this text. */
function refused(cause: unknown): never {
  throw failed(`The remote agent is not reached: ${messageOf(cause)}`, cause)
}

/** A signal that fires with the caller's, and after so many milliseconds. */
function timeLimit(caller: AbortSignal | undefined, ms: number) {
  const controller = new AbortController()
  const timer = setTimeout(() => controller.abort(), ms)
  const signal = caller ? AbortSignal.any([caller, controller.signal]) : controller.signal
  return {
    signal,
    clear: () => clearTimeout(timer),
    /** Throws the reason of a failure: the caller's abort, or a `LostError`. */
    explain(cause: unknown): never {
      caller?.throwIfAborted()
      if (isServableError(cause)) throw cause
      const text = controller.signal.aborted ? `it did not answer in ${ms} ms` : 'it cannot be reached'
      throw new LostError(text, { cause })
    },
  }
}

function isStream({ ok, headers, body }: Response): boolean {
  const type = headers.get('content-type')?.toLowerCase()
  return ok && body !== null && type?.startsWith('text/event-stream') === true
}

/** Returns the response with its whole body, read within the limits. */
async function whole(response: Response, maxBytes: number): Promise<Response> {
  const { status, statusText, headers } = response
  const text = await readText(response, maxBytes)
  try {
    parseJson(text)
  } catch (cause) {
    // The reader handles a body that is not JSON, such as an error page.
    if (isServableError(cause)) throw unfit(`answered too much: ${cause.message}`)
  }
  // Some statuses have no body.
  return new Response(status === 204 || status === 304 ? null : text, { status, statusText, headers })
}

async function readText(response: Response, maxBytes: number): Promise<string> {
  const reader = response.body?.getReader()
  if (reader === undefined) return ''
  const tooLarge = () => {
    void reader.cancel().catch(() => {})
    return unfit(`answered more than ${maxBytes} bytes`)
  }
  if (Number(response.headers.get('content-length') ?? 0) > maxBytes) throw tooLarge()
  const decoder = new TextDecoder()
  let text = ''
  let size = 0
  for (let item = await reader.read(); !item.done; item = await reader.read()) {
    size += item.value.byteLength
    if (size > maxBytes) throw tooLarge()
    text += decoder.decode(item.value, { stream: true })
  }
  return text + decoder.decode()
}

/** Returns the stream with a limit on silence, past which it fails with `LostError`. `take` gets the number of bytes read. */
function watched(
  response: Response,
  silenceMs: number,
  signal: AbortSignal | undefined,
  take: (bytes: number) => void,
): Response {
  const reader = response.body!.getReader()
  const stop = () => void reader.cancel().catch(() => {})
  const leave = () => {
    signal?.removeEventListener('abort', stop)
    stop()
  }
  signal?.addEventListener('abort', stop)
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        let isSilent = false
        const timer = setTimeout(() => {
          isSilent = true
          stop()
        }, silenceMs)
        try {
          const { done, value } = await reader.read()
          signal?.throwIfAborted()
          if (isSilent) throw new LostError(`it was silent for ${silenceMs} ms`)
          if (done) {
            leave()
            return controller.close()
          }
          take(value.byteLength)
          controller.enqueue(value)
        } catch (cause) {
          leave()
          const isKnown = isServableError(cause) || cause instanceof LostError || signal?.aborted
          controller.error(isKnown ? cause : new LostError('its stream broke off', { cause }))
        } finally {
          clearTimeout(timer)
        }
      },
      cancel: leave,
    },
    { highWaterMark: 0 },
  )
  const { status, statusText, headers } = response
  return new Response(body, { status, statusText, headers })
}
