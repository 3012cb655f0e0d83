/**
 * Answers with a file. Browsers save it and never show it.
 *
 * @module
 */

import { ServableError } from '../../base/errors.ts'
import { dispositionOf } from './content.ts'
import type { FileMetadata } from './documents.ts'
import type { FileBytes } from './store.ts'

/** A file to answer with. */
export interface FileAnswer extends FileMetadata {
  readonly digest: string
  readonly size: number
  /** Undefined if it is deleted. */
  read(): Promise<FileBytes | undefined>
}

/** The response to a request for a file: all of it, one range, or 304. Throws `file_not_found`. */
export async function respondWith(request: Request, file: FileAnswer): Promise<Response> {
  const { digest, size, mimeType, filename } = file
  const etag = `"${digest}"`
  const headers = new Headers({
    'content-type': mimeType,
    'content-disposition': dispositionOf(filename),
    'x-content-type-options': 'nosniff',
    'content-security-policy': 'sandbox',
    'cache-control': 'private, immutable',
    'accept-ranges': 'bytes',
    etag,
  })
  if (isKnown(request.headers.get('if-none-match'), etag)) {
    headers.delete('content-type')
    return new Response(null, { status: 304, headers })
  }
  const range = rangeOf(request, etag, size)
  const [from, to] = range ?? [0, size]
  headers.set('content-length', String(to - from))
  if (range !== undefined) headers.set('content-range', `bytes ${from}-${to - 1}/${size}`)
  const status = range === undefined ? 200 : 206
  if (request.method === 'HEAD') return new Response(null, { status, headers })
  const bytes = await file.read()
  if (bytes === undefined) throw missing()
  return new Response(range === undefined ? bytes : part(bytes, from, to), { status, headers })
}

/** The error for a missing file. */
export function missing(): ServableError {
  return new ServableError('file_not_found', 'The run has no such file')
}

/** Whether the client already has the file (RFC 9110, section 13.1.2). */
function isKnown(field: string | null, etag: string): boolean {
  const known = (field ?? '').split(',').map(text => text.trim().replace(/^W\//, ''))
  return known.includes(etag) || known.includes('*')
}

/** The first byte and the one after the last of a valid range. Any other range is ignored. */
function rangeOf({ headers }: Request, etag: string, size: number): readonly [number, number] | undefined {
  const [, first, last] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(headers.get('range') ?? '') ?? []
  if (first === undefined || last === undefined || (headers.get('if-range') ?? etag) !== etag)
    return undefined
  const from = first === '' ? Math.max(0, size - Number(last || '0')) : Number(first)
  const to = first === '' || last === '' ? size : Math.min(size, Number(last) + 1)
  return from < to ? [from, to] : undefined
}

function part(bytes: FileBytes, from: number, to: number): FileBytes {
  if (bytes instanceof Uint8Array) return bytes.subarray(from, to)
  let at = 0
  const cut = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      const piece = chunk.subarray(Math.max(0, from - at), Math.max(0, to - at))
      at += chunk.length
      if (piece.length > 0) controller.enqueue(piece)
      if (at >= to) controller.terminate()
    },
  })
  return bytes.pipeThrough(cut)
}
