/**
 * Reads `multipart/form-data` (RFC 7578) within limits. It counts the body while it streams in, and stops it before it is
 * parsed as a whole.
 *
 * @module
 */

import { isServableError, ServableError } from '../base/errors.ts'

/** The limits of a form. */
export interface FormBounds {
  readonly maxBytes: number
  /** Most fields and files together. They are counted before any is made: half a million empty ones fit into 32 MiB. */
  readonly maxParts: number
  /** Most milliseconds until the form has arrived. */
  readonly timeoutMs: number
  /** Watches the form arrive. A `ServableError` that it throws stops the reading. */
  readonly watcher?: FormWatcher | undefined
}

/** Watches a form arrive. */
export interface FormWatcher {
  /** Adds the number of bytes that have arrived. */
  add(bytes: number): void
  /** Called once a second, even while no bytes arrive. */
  check(): void
}

/** Whether the body is declared as a form with files. */
export function isMultipart(request: Request): boolean {
  return /^\s*multipart\/form-data\s*(;|$)/i.test(request.headers.get('content-type') ?? '')
}

/**
 * The form. Throws `body_too_large`. Throws `invalid_body` if the body is not a form, has too many parts, is cut off or takes
 * too long. This code detects a form that is cut off, since Deno's parser accepts an end at any boundary.
 */
export async function readForm(request: Request, bounds: FormBounds): Promise<FormData> {
  declaredSize(request, bounds.maxBytes)
  if (request.body === null) throw new ServableError('invalid_body', 'The body must be a form: it is empty')
  const type = request.headers.get('content-type') ?? ''
  const boundary = boundaryIn(type)
  const { body, failure, stop } = counted(request.body, `--${boundary}`, bounds)
  try {
    // The parser gets the boundary that was counted. If a type has two, the parser might choose the other one.
    const headers = { 'content-type': `multipart/form-data; boundary="${boundary}"` }
    return await new Response(body, { headers }).formData()
  } catch (cause) {
    const why = failure()
    if (why !== undefined) throw why
    if (isServableError(cause)) throw cause
    throw new ServableError('invalid_body', 'The body must be a well-formed multipart form', { cause })
  } finally {
    stop()
  }
}

/** The declared size of a body in bytes; 0 if it is not declared. Throws `body_too_large`. */
export function declaredSize(request: Request, maxBytes: number): number {
  const declared = Number(request.headers.get('content-length') ?? 0)
  if (declared > maxBytes) throw tooLarge(maxBytes)
  // A length that is not a number counts as not declared.
  return Math.max(0, declared) || 0
}

/** Most characters of a boundary (RFC 2046, section 5.1.1). */
const MAX_BOUNDARY = 70

/** A boundary that needs no escape inside quotes and has the same bytes in a body. */
const BOUNDARY = new RegExp(`^[ !#-[\\]-~]{1,${MAX_BOUNDARY}}$`)

/**
 * The delimiter without its two dashes, which comes before each part and at the end (RFC 2046, section 5.1.1). Throws
 * `invalid_body` without a boundary.
 */
function boundaryIn(type: string): string {
  const [, quoted, token = ''] = /;\s*boundary=(?:"([^"]*)"|([^\s;]*))/i.exec(type) ?? []
  const boundary = quoted ?? token
  if (BOUNDARY.test(boundary)) return boundary
  const text = `The content type must have a \`boundary\` of 1 to ${MAX_BOUNDARY} characters`
  throw new ServableError('invalid_body', text)
}

/** Milliseconds between two checks of the watcher. */
const CHECK_MS = 1000

/**
 * The same bytes. The stream fails if there are too many bytes or parts, after the time-out, if the watcher throws, or if the
 * last delimiter is missing.
 */
function counted(
  body: ReadableStream<Uint8Array>,
  delimiter: string,
  { maxBytes, maxParts, timeoutMs, watcher }: FormBounds,
) {
  const reader = body.getReader()
  const end = `${delimiter}--`
  const partsIn = createPartCounter(delimiter)
  const last = createTail(end.length + 8)
  let failure: ServableError | undefined
  let size = 0
  let fail: ((error: ServableError) => void) | undefined
  const give = (error: ServableError) => {
    failure ??= error
    void reader.cancel().then(undefined, () => {})
    fail?.(failure)
  }
  /** Calls the watcher. Returns whether reading continues. */
  const goesOn = (notify: () => void) => {
    try {
      notify()
    } catch (error) {
      give(isServableError(error) ? error : new ServableError('internal_error', 'The form cannot be read'))
    }
    return failure === undefined
  }
  const checks = watcher && setInterval(() => goesOn(() => watcher.check()), CHECK_MS)
  const timer = setTimeout(
    () => give(new ServableError('invalid_body', `The form took longer than ${timeoutMs} ms to arrive`)),
    timeoutMs,
  )
  const stream = new ReadableStream<Uint8Array>({
    start(controller) {
      fail = error => controller.error(error)
    },
    async pull(controller) {
      const { done, value } = await reader.read()
      if (failure !== undefined) return
      if (done && last.text().trimEnd().endsWith(end)) return controller.close()
      if (done)
        return give(new ServableError('invalid_body', 'The form is cut off: its last boundary is missing'))
      last.add(value)
      size += value.byteLength
      if (size > maxBytes) give(tooLarge(maxBytes))
      else if (partsIn(value) > maxParts) give(tooManyParts(maxParts))
      else if (goesOn(() => watcher?.add(value.byteLength))) controller.enqueue(value)
    },
    cancel: reason => reader.cancel(reason),
  })
  const stop = () => {
    clearTimeout(timer)
    if (checks !== undefined) clearInterval(checks)
  }
  return { body: stream, failure: () => failure, stop }
}

const LINE_FEED = 10

/** Counts the parts that have begun so far: the lines that begin with the delimiter, except the last line. */
function createPartCounter(delimiter: string): (chunk: Uint8Array) => number {
  const pattern = new TextEncoder().encode(`\n${delimiter}`)
  // The first line needs no line break before it.
  let matched = 1
  let lines = 0
  return chunk => {
    for (const byte of chunk) {
      // The pattern has a line feed only at its start. So after a mismatch only a line feed can begin a new match.
      if (byte === pattern[matched]) matched++
      else matched = byte === LINE_FEED ? 1 : 0
      if (matched < pattern.length) continue
      lines++
      matched = 0
    }
    return lines - 1
  }
}

/** Keeps the last bytes of a stream. */
function createTail(length: number) {
  const bytes = new Uint8Array(length)
  return {
    add(chunk: Uint8Array): void {
      const last = chunk.subarray(-length)
      bytes.copyWithin(0, last.length)
      bytes.set(last, length - last.length)
    },
    text: () => new TextDecoder('latin1').decode(bytes),
  }
}

function tooManyParts(maxParts: number): ServableError {
  return new ServableError('invalid_body', `A form may have at most ${maxParts} fields and files`)
}

function tooLarge(maxBytes: number): ServableError {
  return new ServableError('body_too_large', `The form must have at most ${maxBytes} bytes`)
}
