/**
 * Reads request bodies within a bound.
 *
 * @module
 */

import { isServableError, ServableError } from '../errors.ts'
import { parseJson } from './json.ts'

/**
 * The body as text. Throws `body_too_large` if more than `maxBytes` are declared or arrive, and then reads no further. A body
 * without a length is counted while it streams in.
 */
export async function readText(request: Request, maxBytes: number): Promise<string> {
  const declared = request.headers.get('content-length')
  if (declared === null || !/^\d+$/.test(declared)) return readCounted(request.body, maxBytes)
  if (Number(declared) > maxBytes) throw tooLarge(maxBytes)
  const text = await request.text().catch(throwUnreadable)
  // HTTP servers enforce the declared length. A request made in code may have a longer body.
  if (isLonger(text, maxBytes)) throw tooLarge(maxBytes)
  return text
}

/** Whether text has more bytes than `maxBytes` in UTF-8. A UTF-16 unit has at most three bytes. */
export function isLonger(text: string, maxBytes: number): boolean {
  if (text.length * 3 <= maxBytes) return false
  return text.length > maxBytes || new TextEncoder().encode(text).byteLength > maxBytes
}

/** The body as JSON. Throws `invalid_body` if it is not JSON, and the errors of {@link parseJson} and {@link readText}. */
export async function readJson(request: Request, maxBytes: number): Promise<unknown> {
  const text = await readText(request, maxBytes)
  try {
    // JSON has no byte order mark, but a parser may ignore one (RFC 8259, section 8.1).
    return parseJson(text.startsWith('\uFEFF') ? text.slice(1) : text)
  } catch (cause) {
    if (isServableError(cause)) throw cause
    throw new ServableError('invalid_body', 'The body must be JSON', { cause })
  }
}

/** Throws `unsupported_media_type` unless the body is declared as JSON (RFC 8259, or a `+json` type of RFC 6839). */
export function requireJson(request: Request): void {
  const type = request.headers.get('content-type')
  if (type === 'application/json') return
  if (type !== null && /^\s*application\/([\w.-]+\+)?json\s*(;|$)/i.test(type)) return
  throw new ServableError('unsupported_media_type', 'The `content-type` must be `application/json`')
}

async function readCounted(body: ReadableStream<Uint8Array> | null, maxBytes: number): Promise<string> {
  if (body === null) return ''
  const reader = body.getReader()
  const decoder = new TextDecoder()
  let text = ''
  let size = 0
  const read = () => reader.read().catch(throwUnreadable)
  for (let item = await read(); !item.done; item = await read()) {
    size += item.value.byteLength
    if (size > maxBytes) {
      void reader.cancel().then(undefined, () => {})
      throw tooLarge(maxBytes)
    }
    text += decoder.decode(item.value, { stream: true })
  }
  return text + decoder.decode()
}

function tooLarge(maxBytes: number): ServableError {
  return new ServableError('body_too_large', `The body must have at most ${maxBytes} bytes`)
}

/** The client left early, or the body was read before. */
function throwUnreadable(cause: unknown): never {
  throw new ServableError('invalid_body', 'The body could not be read to its end', { cause })
}
