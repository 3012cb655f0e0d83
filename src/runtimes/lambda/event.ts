/**
 * The request of an event: of a function URL and of HTTP APIs (payload format 2.0), of REST APIs (1.0), and of Application Load
 * Balancers.
 *
 * @module
 */

import { ServableError } from '../../base/errors.ts'
import { isHost } from '../../web/host.ts'

/** The part of an HTTP event that is used. What is in it may be a client's. */
export interface HttpEvent {
  /** Payload format 2.0. */
  readonly rawPath?: string
  readonly rawQueryString?: string
  readonly cookies?: readonly string[]
  /** Payload format 1.0, and load balancers. */
  readonly httpMethod?: string
  readonly path?: string
  readonly queryStringParameters?: Fields | null
  readonly multiValueQueryStringParameters?: Lists | null
  readonly multiValueHeaders?: Lists | null
  /** Both. */
  readonly headers?: Fields | null
  readonly body?: string | null
  readonly isBase64Encoded?: boolean
  readonly requestContext?: {
    readonly domainName?: string
    readonly http?: { readonly method: string; readonly sourceIp?: string }
    readonly identity?: { readonly sourceIp?: string }
    readonly elb?: object
  }
}

type Fields = Readonly<Record<string, string | undefined>>
type Lists = Readonly<Record<string, readonly string[] | undefined>>

const NO_HTTP =
  'The event is no HTTP request: `lambda` answers function URLs (payload format 2.0), API Gateway and load balancers. ' +
  'Give events of other sources to a function of their own'

/** Checks that an event is an HTTP request. Throws `invalid_request`. */
export function checkEvent(event: unknown): HttpEvent {
  const { rawPath, path, httpMethod, requestContext } = Object(event) as HttpEvent
  const isOurs =
    requestContext?.http === undefined
      ? typeof httpMethod === 'string' && typeof path === 'string'
      : typeof rawPath === 'string'
  if (!isOurs) throw new ServableError('invalid_request', NO_HTTP)
  return event as HttpEvent
}

/** Whether whoever sent the event takes no stream: load balancers and HTTP APIs read one JSON value. */
export function takesNoStream({ rawPath, requestContext }: HttpEvent): boolean {
  const { elb, domainName = '' } = requestContext ?? {}
  return elb !== undefined || (rawPath !== undefined && domainName.includes('.execute-api.'))
}

/** The client's address, as AWS saw it. A load balancer tells none: it adds the address to `X-Forwarded-For`. */
export function addressOf({ requestContext }: HttpEvent): string | undefined {
  return requestContext?.http?.sourceIp ?? requestContext?.identity?.sourceIp
}

/** Methods that no `Request` has (Fetch, section 2.2.1). */
const FORBIDDEN = /^(?:connect|trace|track)$/i

/** Makes the request. Throws `method_not_allowed`, or `invalid_header` for a header that is none. */
export function requestOf(event: HttpEvent, signal: AbortSignal): Request {
  const { httpMethod, requestContext, body, isBase64Encoded } = event
  const method = requestContext?.http?.method ?? httpMethod ?? 'GET'
  if (FORBIDDEN.test(method)) {
    throw new ServableError('method_not_allowed', `No request may have the method ${method.toUpperCase()}`)
  }
  const headers = headersOf(event)
  const hasBody = body !== undefined && body !== null && body !== '' && !/^(?:get|head)$/i.test(method)
  return new Request(urlOf(event, headers), {
    method,
    headers,
    signal,
    // Bytes, since a text would add a `content-type`.
    ...(hasBody && { body: new Uint8Array(Buffer.from(body, isBase64Encoded ? 'base64' : 'utf8')) }),
  })
}

/**
 * What is in no path (RFC 3986, section 3.3). HTTP APIs decode paths, others leave them as they came. `%` stays: nobody says which
 * of both it was.
 */
const NOT_IN_PATHS = /[?#\\\0- ]/g

/** The address that the client asked for. An invalid `Host` stays in the headers, where the handler refuses it. */
function urlOf(event: HttpEvent, headers: Headers): string {
  const { rawPath, path = rawPath ?? '', requestContext } = event
  const names = [headers.get('host'), requestContext?.domainName, 'localhost']
  const host = names.find(name => name && isHost(name))
  const protocol = headers.get('x-forwarded-proto') === 'http' ? 'http' : 'https'
  const escaped = (rawPath ?? path).replace(NOT_IN_PATHS, encodeURIComponent)
  const query = queryOf(event).replaceAll('#', '%23')
  return `${protocol}://${host}${escaped.startsWith('/') ? '' : '/'}${escaped}${query && `?${query}`}`
}

/** The query without `?`. API Gateway decodes it in format 1.0, load balancers do not. */
function queryOf(event: HttpEvent): string {
  const { rawQueryString, queryStringParameters, multiValueQueryStringParameters, requestContext } = event
  if (rawQueryString !== undefined) return rawQueryString
  const write = requestContext?.elb === undefined ? encodeURIComponent : String
  return pairsOf(queryStringParameters, multiValueQueryStringParameters)
    .map(([name, value]) => `${write(name.toWellFormed())}=${write(value.toWellFormed())}`)
    .join('&')
}

function headersOf({ headers, multiValueHeaders, cookies }: HttpEvent): Headers {
  const made = new Headers()
  for (const [name, value] of pairsOf(headers, multiValueHeaders)) {
    try {
      made.append(name, byteString(value))
    } catch {
      throw new ServableError(
        'invalid_header',
        'A header of the request has a name or a value that is not valid',
      )
    }
  }
  if (cookies !== undefined && cookies.length > 0) made.set('cookie', byteString(cookies.join('; ')))
  return made
}

/** Each name with each of its values. A list has what the single value has. */
function pairsOf(single: Fields | null | undefined, lists: Lists | null | undefined): [string, string][] {
  const all = Object.entries({ ...single, ...lists })
  return all.flatMap(([name, values]) =>
    [values ?? []].flat().map((value): [string, string] => [name, value]),
  )
}

/** A value as its bytes (Fetch, section 5.1): AWS reads UTF-8, and `Headers` takes characters of one byte. */
function byteString(text: string): string {
  return /^[\0-\xff]*$/.test(text) ? text : Buffer.from(text, 'utf8').toString('latin1')
}
