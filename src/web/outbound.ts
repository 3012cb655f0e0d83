/**
 * Sends requests to addresses that clients or other services supply.
 *
 * @module
 */

import {
  type HttpAnswer,
  type HttpClient,
  type HttpRequest,
  httpClient,
  type Lookup,
} from '../base/environment.ts'
import { type ErrorCode, ServableError } from '../base/errors.ts'
import { type AddressPolicy, checkAddress } from './address.ts'

/** Sends one request, as `fetch` does. It does not follow redirects. */
type Send = (init: RequestInit) => Promise<Response>

/** A request with its checked addresses and signal. */
interface Outgoing {
  readonly request: Request
  readonly body: Uint8Array | undefined
  /** The addresses that were checked. Undefined if the host is an address, or is allowed by its name. */
  readonly addresses: readonly string[] | undefined
  readonly signal: AbortSignal | undefined
  readonly code: ErrorCode
}

/** Milliseconds without a byte after which a connection is closed, if its caller has not given up before. */
const SILENCE_MS = 300_000

/** Statuses whose answers have no body. */
const EMPTY: ReadonlySet<number> = new Set([204, 205, 304])

/** Headers of the connection. A caller cannot set them: another length could hide a second request in the body. */
const OF_CONNECTION =
  'connection content-length expect keep-alive te trailer transfer-encoding upgrade'.split(' ')

/**
 * Checks an address, and returns a function that sends a request to it. Throws the errors of `checkAddress`. If the runtime has
 * an HTTP client that takes addresses, the request goes to a checked one. Such a request accepts no content coding, and reading
 * an answer that is encoded anyway fails with `code`. Otherwise `fetch` sends it.
 */
export async function senderTo(url: URL, policy: AddressPolicy, code: ErrorCode): Promise<Send> {
  const addresses = await checkAddress(url, policy)
  const client = httpClient(url.protocol)
  if (client === undefined) return async init => held(await fetch(url, { ...init, redirect: 'manual' }))
  return async ({ method = 'GET', headers, body: given = null, signal = null }) => {
    const request = new Request(url, { method, body: given, ...(headers && { headers }) })
    const body = given === null ? undefined : new Uint8Array(await request.arrayBuffer())
    signal?.throwIfAborted()
    return exchange(client, { request, body, addresses, signal: signal ?? undefined, code })
  }
}

/**
 * Returns the same answer, and makes its body keep it in memory. Deno forgets an answer of which only the body is read, and then
 * an abort of its request no longer ends the connection.
 */
function held(response: Response): Response {
  if (response.body) Object.defineProperty(response.body, 'response', { value: response })
  return response
}

/** Sends a request. Resolves with its answer as soon as the head has arrived. */
function exchange(
  client: HttpClient,
  { request, body, addresses, signal, code }: Outgoing,
): Promise<Response> {
  return new Promise((resolve, reject) => {
    const sent = client.request(new URL(request.url), {
      method: request.method,
      headers: headersOf(request, body),
      agent: false,
      timeout: SILENCE_MS,
      ...(addresses && { lookup: lookupOf(addresses) }),
    })
    let fail: (cause: unknown) => void = reject
    const end = (cause: unknown) => {
      signal?.removeEventListener('abort', leave)
      fail(cause)
      sent.destroy()
    }
    const leave = () => end(signal?.reason)
    signal?.addEventListener('abort', leave)
    // All errors need a listener until the connection is closed: an error without a listener ends the process.
    sent.on('error', end)
    sent.on('timeout', () => end(new Error(`The connection was silent for ${SILENCE_MS} ms`)))
    sent.on('close', () => reject(closed()))
    sent.on('response', answer => {
      answer.on('error', end)
      answer.on('close', () => end(closed()))
      try {
        const head = headOf(answer)
        const isEmpty = request.method === 'HEAD' || EMPTY.has(head.status)
        const body = isEmpty ? undefined : bodyOf(answer, sent, refusalOf(head.headers, code))
        if (body === undefined) sent.destroy()
        else fail = body.fail
        resolve(new Response(body?.stream ?? null, head))
      } catch (cause) {
        // A `Response` cannot have such a status or header.
        end(cause)
      }
    })
    sent.end(body)
  })
}

/** Returns the body of an answer, which is read as fast as its reader reads, and a function that makes it fail. */
function bodyOf(answer: HttpAnswer, sent: HttpRequest, refusal: ServableError | undefined) {
  let open: ReadableStreamDefaultController<Uint8Array> | undefined
  const fail = (cause: unknown) => {
    open?.error(cause)
    open = undefined
  }
  answer.pause()
  answer.on('data', chunk => {
    answer.pause()
    open?.enqueue(chunk)
  })
  answer.on('end', () => {
    open?.close()
    open = undefined
  })
  const stream = new ReadableStream<Uint8Array<ArrayBuffer>>(
    {
      start(controller) {
        open = controller
      },
      pull() {
        if (refusal === undefined) return void answer.resume()
        fail(refusal)
        sent.destroy()
      },
      cancel() {
        open = undefined
        sent.destroy()
      },
    },
    { highWaterMark: 0 },
  )
  return { stream, fail }
}

function headersOf({ headers }: Request, body: Uint8Array | undefined): Record<string, string> {
  const own = [...headers].filter(([name]) => !OF_CONNECTION.includes(name))
  return {
    accept: '*/*',
    'user-agent': 'servable',
    ...Object.fromEntries(own),
    'accept-encoding': 'identity',
    ...(body && { 'content-length': String(body.byteLength) }),
  }
}

/** A lookup that returns these addresses, even if the name has changed since. */
function lookupOf(addresses: readonly string[]): Lookup {
  const found = addresses.map(address => ({ address, family: address.includes(':') ? 6 : 4 }))
  return (_, { all }, done) => (all ? done(null, found) : done(null, found[0]!.address, found[0]!.family))
}

function headOf({ statusCode = 0, statusMessage = '', rawHeaders }: HttpAnswer) {
  const headers = new Headers()
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) headers.append(rawHeaders[at]!, rawHeaders[at + 1]!)
  return { status: statusCode, statusText: statusMessage, headers }
}

/** The error for an encoded body. Decoding it could give more bytes than its reader allows. */
function refusalOf(headers: Headers, code: ErrorCode): ServableError | undefined {
  const coding = headers.get('content-encoding')?.slice(0, 100) ?? ''
  if (/^(identity)?$/i.test(coding)) return undefined
  const text = `The answer has the content coding \`${coding}\`, although the request accepts none (\`accept-encoding: identity\`)`
  return new ServableError(code, text)
}

function closed(): Error {
  return new Error('The connection was closed before the answer was complete')
}
