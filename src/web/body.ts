/**
 * Reads bodies within a bound.
 *
 * @module
 */

import { isServableError, ServableError } from '../base/errors.ts'
import { parseJson } from './json.ts'

/** Milliseconds in which a body must arrive, as a form must by default. */
const MAX_MS = 120_000

/** A request, or the response of another service. */
type Message = Pick<Request, 'headers' | 'body' | 'text'>

/**
 * The body as text. Throws `body_too_large` if more than `maxBytes` are declared or arrive, and then reads no further. Throws
 * `invalid_body` if the body is not UTF-8 or takes longer than two minutes. A body without a length is counted while it streams
 * in.
 */
export async function readText(request: Message, maxBytes: number): Promise<string> {
  const declared = request.headers.get('content-length')
  if (declared === null || !/^\d+$/.test(declared)) return readCounted(request.body, maxBytes)
  if (Number(declared) > maxBytes) throw tooLarge(maxBytes)
  const text = await textInTime(request)
  // HTTP servers enforce the declared length. A request made in code may have a longer body.
  if (isLonger(text, maxBytes)) throw tooLarge(maxBytes)
  if (text.includes(REPLACEMENT) && hasReplaced(text, Number(declared))) throw notUtf8()
  return text
}

function textInTime(request: Message): Promise<string> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(tooSlow()), MAX_MS)
    const end = () => clearTimeout(timer)
    request.text().catch(throwUnreadable).then(resolve, reject).then(end)
  })
}

/** The character with which decoders replace bytes that are not UTF-8. */
const REPLACEMENT = '\uFFFD'

/**
 * Whether a decoder has replaced bytes. The replacement has three bytes, so the text is longer than the body was. One case goes
 * undetected and stays replaced: a character of four bytes without its last one looks like a replacement that the client sent.
 * Reading bytes instead of text would detect it, but costs a sixth of a short request on Node.
 */
function hasReplaced(text: string, length: number): boolean {
  const { byteLength } = new TextEncoder().encode(text)
  const mark = 3
  return byteLength !== length && byteLength + mark !== length
}

/** Bytes that are not UTF-8 are an error (RFC 8259, section 8.1), and are not replaced. */
const STRICT = { fatal: true, ignoreBOM: false }

function notUtf8(cause?: unknown): ServableError {
  return new ServableError('invalid_body', 'The body must be UTF-8', { cause })
}

function decode(decoder: TextDecoder, bytes?: Uint8Array, more?: { readonly stream: boolean }): string {
  try {
    return decoder.decode(bytes, more)
  } catch (cause) {
    throw notUtf8(cause)
  }
}

/** Whether text has more bytes than `maxBytes` in UTF-8. A UTF-16 unit has at most three bytes. */
export function isLonger(text: string, maxBytes: number): boolean {
  if (text.length * 3 <= maxBytes) return false
  return text.length > maxBytes || new TextEncoder().encode(text).byteLength > maxBytes
}

/** The body as JSON. Throws `invalid_body` if it is not JSON, and the errors of {@link parseJson} and {@link readText}. */
export async function readJson(request: Message, maxBytes: number): Promise<unknown> {
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
  const decoder = new TextDecoder('utf-8', STRICT)
  let text = ''
  let size = 0
  let isLate = false
  const leave = () => void reader.cancel().then(undefined, () => {})
  const timer = setTimeout(() => {
    isLate = true
    leave()
  }, MAX_MS)
  const read = () => reader.read().catch(throwUnreadable)
  try {
    for (let item = await read(); !item.done; item = await read()) {
      size += item.value.byteLength
      if (size > maxBytes) throw tooLarge(maxBytes)
      text += decode(decoder, item.value, { stream: true })
    }
    if (isLate) throw tooSlow()
    return text + decode(decoder)
  } catch (error) {
    leave()
    throw error
  } finally {
    clearTimeout(timer)
  }
}

function tooSlow(): ServableError {
  return new ServableError('invalid_body', `The body took longer than ${MAX_MS} ms to arrive`)
}

function tooLarge(maxBytes: number): ServableError {
  return new ServableError('body_too_large', `The body must have at most ${maxBytes} bytes`)
}

/** The client left early, or the body was read before. */
function throwUnreadable(cause: unknown): never {
  throw new ServableError('invalid_body', 'The body could not be read to its end', { cause })
}
