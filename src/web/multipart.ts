/**
 * Reads `multipart/form-data` (RFC 7578) within a bound: the body is counted while it streams in, and cut off before it is
 * parsed whole.
 *
 * @module
 */

import { isServableError, ServableError } from '../errors.ts'

/** Bounds on a form. */
export interface FormBounds {
  readonly maxBytes: number
  /** Milliseconds that it may take to arrive. */
  readonly timeoutMs: number
}

/** Whether the body is declared as a form with files. */
export function isMultipart(request: Request): boolean {
  return /^\s*multipart\/form-data\s*(;|$)/i.test(request.headers.get('content-type') ?? '')
}

/**
 * The form. Throws `body_too_large`, or `invalid_body` for what is no form, is cut off or takes too long. That a form is
 * cut off is seen here: Deno's parser takes one that ends at any of its boundaries.
 */
export async function readForm(request: Request, { maxBytes, timeoutMs }: FormBounds): Promise<FormData> {
  const declared = Number(request.headers.get('content-length') ?? 0)
  if (declared > maxBytes) throw tooLarge(maxBytes)
  if (request.body === null) throw new ServableError('invalid_body', 'The body must be a form: it is empty')
  const type = request.headers.get('content-type') ?? ''
  const { body, failure, stop } = counted(request.body, closeDelimiter(type), maxBytes, timeoutMs)
  try {
    const headers = { 'content-type': type }
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

/** Most characters of a boundary (RFC 2046, 5.1.1). */
const MAX_BOUNDARY = 70

/** What a whole form ends with (RFC 2046, 5.1.1), but for white space. Throws `invalid_body` where no boundary is given. */
function closeDelimiter(type: string): string {
  const [, quoted, token = ''] = /;\s*boundary=(?:"([^"]*)"|([^\s;]*))/i.exec(type) ?? []
  const boundary = quoted ?? token
  if (boundary !== '' && boundary.length <= MAX_BOUNDARY) return `--${boundary}--`
  const text = `The content type must have a \`boundary\` of 1 to ${MAX_BOUNDARY} characters`
  throw new ServableError('invalid_body', text)
}

/** The same bytes, until they are too many, too late or end without `end`. */
function counted(body: ReadableStream<Uint8Array>, end: string, maxBytes: number, timeoutMs: number) {
  const reader = body.getReader()
  const last = createTail(end.length + 8)
  let failure: ServableError | undefined
  let size = 0
  let fail: ((error: ServableError) => void) | undefined
  const give = (error: ServableError) => {
    failure ??= error
    void reader.cancel().then(undefined, () => {})
    fail?.(failure)
  }
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
      else controller.enqueue(value)
    },
    cancel: reason => reader.cancel(reason),
  })
  return { body: stream, failure: () => failure, stop: () => clearTimeout(timer) }
}

/** Holds the last bytes of those that pass. */
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

function tooLarge(maxBytes: number): ServableError {
  return new ServableError('body_too_large', `The form must have ${maxBytes} bytes at the most`)
}
