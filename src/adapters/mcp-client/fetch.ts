/**
 * The fetch for tool servers. It reaches only allowed addresses, and limits what it reads.
 *
 * @module
 */

import { ServableError } from '../../base/errors.ts'
import type { AddressPolicy } from '../../web/address.ts'
import { senderTo } from '../../web/outbound.ts'

/** The limits of the fetch. */
export interface GuardOptions extends AddressPolicy {
  /** Most bytes of an answer. For a stream that stays open: most bytes a minute. */
  readonly maxBytes: number
  /** Called after each request. `failure` is the reason of a failure, for the operator of the service. Undefined on success. */
  readonly onAnswer: (failure: string | undefined) => void
}

/** The time in which a stream may have as many bytes as an answer. */
const WINDOW_MS = 60_000

/** Makes the fetch. It does not follow redirects: each redirect comes as a request of its own. */
export function guardedFetch(
  options: GuardOptions,
): (url: string | URL, init?: RequestInit) => Promise<Response> {
  return async (url, init = {}) => {
    const send = await senderTo(new URL(url), options, 'tool_server_failed')
    const { method = 'GET', headers, body, signal } = init
    const response = await send({
      method,
      ...(headers && { headers }),
      ...(body && { body }),
      ...(signal && { signal }),
    }).catch(cause => {
      if (!signal?.aborted) options.onAnswer('The tool server cannot be reached')
      throw cause
    })
    options.onAnswer(isRefusal(response) ? refusalOf(response) : undefined)
    const declared = Number(response.headers.get('content-length') ?? 0)
    if (declared > options.maxBytes) {
      void response.body?.cancel().then(undefined, () => {})
      throw tooLarge(options.maxBytes)
    }
    return bounded(response, options.maxBytes)
  }
}

function bounded(response: Response, maxBytes: number): Response {
  if (response.body === null) return response
  const isStream = response.headers.get('content-type')?.toLowerCase().startsWith('text/event-stream')
  let since = performance.now()
  let size = 0
  const counter = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      if (isStream && performance.now() - since > WINDOW_MS) {
        since = performance.now()
        size = 0
      }
      size += chunk.byteLength
      if (size > maxBytes) controller.error(tooLarge(maxBytes))
      else controller.enqueue(chunk)
    },
  })
  const { status, statusText, headers } = response
  return new Response(response.body.pipeThrough(counter), { status, statusText, headers })
}

function isRefusal({ status }: Response): boolean {
  return status === 401 || status === 403
}

/** The requirements of a server that refuses the client (RFC 9110, section 11.6.1; RFC 9728, section 5.1). */
function refusalOf({ status, headers }: Response): string {
  const challenge = headers.get('www-authenticate') ?? ''
  const parameter = (name: string) => {
    const [, quoted, plain] = new RegExp(`\\b${name}=(?:"([^"]*)"|([^\\s,]+))`, 'i').exec(challenge) ?? []
    return (quoted ?? plain)?.slice(0, 200)
  }
  const scope = parameter('scope')
  const metadata = parameter('resource_metadata')
  const error = parameter('error')
  return [
    `The tool server answered ${status}: it needs ${status === 401 ? 'an `authorization` header with a valid token' : 'a token with more rights'}`,
    error && `it says \`${error}\``,
    scope && `the scope is \`${scope}\``,
    metadata && `its metadata is at ${metadata}`,
  ]
    .filter(Boolean)
    .join('; ')
}

function tooLarge(maxBytes: number): ServableError {
  return new ServableError('tool_server_failed', `The tool server answered with more than ${maxBytes} bytes`)
}
