/**
 * The files of the page. Their names change with their content, so browsers can cache them. Each is compressed once, on its first
 * request.
 *
 * @module
 */

import { ServableError } from '../../base/errors.ts'

/** A built file. */
export interface BuiltFile {
  /** The media type. */
  readonly type: string
  readonly text: string
}

/** `encodeBody` tells a compressing host that the body is compressed already. Other hosts ignore it. */
interface EncodedInit extends ResponseInit {
  readonly encodeBody?: 'manual'
}

/** Answers with the file of that name. Throws `not_found`. */
export function filesOf(
  files: Readonly<Record<string, BuiltFile>>,
): (request: Request, name: string) => Promise<Response> {
  const compressed = new Map<string, Promise<ArrayBuffer>>()
  const compressedOf = (name: string, text: string) => {
    let bytes = compressed.get(name)
    if (bytes === undefined) {
      bytes = gzip(text)
      compressed.set(name, bytes)
    }
    return bytes
  }
  return async (request, name) => {
    const file = Object.hasOwn(files, name) ? files[name] : undefined
    if (file === undefined) throw new ServableError('not_found', 'There is no such file of the console')
    const headers = {
      'content-type': file.type,
      'cache-control': 'public, max-age=31536000, immutable',
      'x-content-type-options': 'nosniff',
      'cross-origin-resource-policy': 'same-origin',
      vary: 'accept-encoding',
    }
    if (!takesGzip(request.headers.get('accept-encoding'))) return new Response(file.text, { headers })
    const init: EncodedInit = { headers: { ...headers, 'content-encoding': 'gzip' }, encodeBody: 'manual' }
    return new Response(await compressedOf(name, file.text), init)
  }
}

/** Whether a client accepts gzip (RFC 9110, section 12.5.3). */
export function takesGzip(accepted: string | null): boolean {
  const codings = (accepted ?? '')
    .toLowerCase()
    .split(',')
    .map(each => each.split(';').map(part => part.trim()))
  const found = codings.find(([name]) => name === 'gzip') ?? codings.find(([name]) => name === '*')
  return found !== undefined && !/^q=0(\.0*)?$/.test(found[1] ?? '')
}

function gzip(text: string): Promise<ArrayBuffer> {
  const stream = new Blob([text]).stream().pipeThrough(new CompressionStream('gzip'))
  return new Response(stream).arrayBuffer()
}
