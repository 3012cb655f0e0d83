import { SSE_HEADERS, type SseSource, sseStream } from './sse.ts'

/** The body of a reply. */
export type ReplyBody = string | SseSource | null

/** Whether a reply is a stream. */
export function isStream(body: ReplyBody): body is SseSource {
  return typeof body === 'object' && body !== null
}

/** Fields by lower-case name. */
export type ReplyHeaders = Readonly<Record<string, string>>

/**
 * A response that is not made yet. Endpoints return it instead of a `Response`, so that a runtime may write it in a faster
 * way. `toResponse` works on every runtime.
 */
export class Reply {
  readonly body: ReplyBody
  readonly status: number
  readonly headers: ReplyHeaders

  constructor(body: ReplyBody, { status = 200, headers }: { status?: number; headers: ReplyHeaders }) {
    this.body = body
    this.status = status
    this.headers = headers
  }

  /** The same reply with more headers. */
  with(headers: ReplyHeaders): Reply {
    return new Reply(this.body, { status: this.status, headers: { ...this.headers, ...headers } })
  }
}

/** Releases an answer that will not be read. */
export function discard({ body }: Reply | Response): void {
  if (typeof body === 'object') void body?.cancel()?.then(undefined, () => {})
}

/** Makes the response of a reply. */
export function toResponse({ body, status, headers }: Reply): Response {
  return new Response(isStream(body) ? sseStream(body) : body, { status, headers })
}

/** A value as JSON. */
export function jsonReply(
  value: unknown,
  { status = 200, headers }: { status?: number; headers?: ReplyHeaders } = {},
): Reply {
  return new Reply(JSON.stringify(value), {
    status,
    headers: { 'content-type': 'application/json', ...headers },
  })
}

/** A stream of server-sent events. */
export function sseReply(source: SseSource, headers?: ReplyHeaders): Reply {
  return new Reply(source, { headers: { ...SSE_HEADERS, ...headers } })
}
