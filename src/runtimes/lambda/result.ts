/** What Lambda gets of a response: its head, and its body in pieces or whole. */

import { createWake } from '../../base/wake.ts'

/** The part of Lambda's writable stream that is used. */
export interface ResponseStream {
  /** Returns false if the next piece has to wait for `drain`. */
  write(piece: string | Uint8Array): boolean
  end(): unknown
  on(event: 'drain' | 'error' | 'close', listener: () => void): unknown
}

/** The head of a response, as a function URL reads it. */
export interface Head {
  readonly statusCode: number
  readonly headers: Readonly<Record<string, string>>
  readonly cookies: readonly string[]
  /** REST APIs and load balancers read lists, and no `cookies`. */
  readonly multiValueHeaders?: Readonly<Record<string, readonly string[]>>
}

/** The answer to an event that is not streamed. */
export interface Result extends Head {
  readonly body: string
  readonly isBase64Encoded: boolean
}

/** The head of a response. `hasLists` for REST APIs and load balancers. */
export function headOf({ status, headers }: Response, hasLists: boolean): Head {
  const cookies = headers.getSetCookie()
  const fields = [...headers].filter(([name]) => name !== 'set-cookie')
  const lists = () => ({
    ...Object.fromEntries(fields.map(([name, value]) => [name, [value]])),
    ...(cookies.length > 0 && { 'set-cookie': cookies }),
  })
  return {
    statusCode: status,
    headers: Object.fromEntries(fields),
    cookies,
    ...(hasLists && { multiValueHeaders: lists() }),
  }
}

/** Reads a body until it ends, or the signal fires: then the rest is not asked for. */
async function* piecesOf(body: Response['body'], signal: AbortSignal): AsyncGenerator<Uint8Array> {
  if (body === null) return
  const reader = body.getReader()
  // A read that waits ends with it.
  const leave = () => void reader.cancel().catch(() => {})
  if (signal.aborted) leave()
  else signal.addEventListener('abort', leave, { once: true })
  try {
    for (let read = await reader.read(); !read.done; read = await reader.read()) yield read.value
  } finally {
    signal.removeEventListener('abort', leave)
    leave()
  }
}

/** Writes a body as it comes, no faster than Lambda takes it, and ends the stream. `leave` is called if it takes no more. */
export async function stream(
  body: Response['body'],
  to: ResponseStream,
  { signal, leave }: { readonly signal: AbortSignal; readonly leave: () => void },
): Promise<void> {
  const room = createWake()
  to.on('drain', room.fire)
  for (const event of ['error', 'close'] as const) to.on(event, leave)
  signal.addEventListener('abort', room.fire, { once: true })
  // Lambda's runtime sends the head before the first piece, even an empty one. Without a piece there would be none.
  to.write('')
  for await (const piece of piecesOf(body, signal)) {
    if (!to.write(piece) && !signal.aborted) await room.wait()
  }
  to.end()
}

/** The most bytes of a result that is not streamed: Lambda takes 6 MB of JSON, in which bytes are base64. */
const MAX_BYTES = 4_500_000

/** The answer, with the whole body. Undefined if the body is larger than 4.5 MB. */
export async function collect(
  response: Response,
  hasLists: boolean,
  signal: AbortSignal,
): Promise<Result | undefined> {
  const pieces: Uint8Array[] = []
  let length = 0
  for await (const piece of piecesOf(response.body, signal)) {
    pieces.push(piece)
    length += piece.length
    if (length > MAX_BYTES) return undefined
  }
  const bytes = Buffer.concat(pieces)
  const text = textOf(bytes)
  return {
    ...headOf(response, hasLists),
    body: text ?? bytes.toString('base64'),
    isBase64Encoded: text === undefined,
  }
}

/** The bytes as text, unless they are none. */
function textOf(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return undefined
  }
}
