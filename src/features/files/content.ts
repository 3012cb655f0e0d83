/**
 * Reads the files in parts, with their media types and names.
 *
 * @module
 */

import type { ContentPart } from '../../agents/contract.ts'
import { breathe } from '../../base/wake.ts'
import { fromBase64 } from '../../web/base64.ts'

/** A part that may hold a file. */
export type FilePart = Extract<ContentPart, { readonly data: string; readonly mimeType?: unknown }>

/** The file of a part. */
export interface FileContent {
  readonly bytes: Uint8Array<ArrayBuffer>
  /** The media type of the part or of its `data:` URL. */
  readonly mimeType: string | undefined
}

/** Whether a part holds a file or its address. Parts come from other code. */
export function isFilePart(part: ContentPart): part is FilePart {
  const { type, data } = Object(part) as Partial<FilePart>
  return (type === 'image' || type === 'audio' || type === 'file') && typeof data === 'string'
}

/** The file of a part. Undefined if `data` is an address, or neither that nor base64. */
export async function contentOf({ data, mimeType }: FilePart): Promise<FileContent | undefined> {
  if (!/^data:/i.test(data)) {
    const bytes = await bytesOf(data)
    return bytes && { bytes, mimeType }
  }
  const comma = data.indexOf(',')
  const head = data.slice('data:'.length, comma)
  const given = mimeType ?? (head.split(';', 1)[0] || undefined)
  const bytes = /;\s*base64\s*$/i.test(head)
    ? await bytesOf(data.slice(comma + 1))
    : unescaped(data.slice(comma + 1))
  return comma === -1 || bytes === undefined ? undefined : { bytes, mimeType: given }
}

/** Characters of base64 to decode at once. Other work waits meanwhile. */
const AT_ONCE = 1024 * 1024

async function bytesOf(base64: string): Promise<Uint8Array<ArrayBuffer> | undefined> {
  const text = /\s/.test(base64) ? base64.replace(/\s+/g, '') : base64
  if (text.length <= AT_ONCE) return fromBase64(text)
  // Padding in the middle would be accepted at the end of a slice.
  const padding = text.indexOf('=')
  if (padding !== -1 && padding < text.length - 2) return undefined
  const bytes = new Uint8Array(Math.ceil(text.length / 4) * 3)
  let length = 0
  for (let at = 0; at < text.length; at += AT_ONCE) {
    const slice = fromBase64(text.slice(at, at + AT_ONCE))
    if (slice === undefined) return undefined
    bytes.set(slice, length)
    length += slice.length
    await breathe()
  }
  return bytes.subarray(0, length)
}

function unescaped(text: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return new TextEncoder().encode(decodeURIComponent(text))
  } catch {
    return undefined
  }
}

const TOKEN = "[\\w!#$%&'*+.^`|~-]+"
const MEDIA_TYPE = new RegExp(`^(?!.*\\*)${TOKEN}/${TOKEN}(;\\s?${TOKEN}=(${TOKEN}|"[\\w !#-'*-[\\]-~]*"))*$`)

/** A media type that is valid in a header. For any other value, `application/octet-stream`. */
export function mediaTypeOf(given: unknown): string {
  const isValid = typeof given === 'string' && given.length <= 200 && MEDIA_TYPE.test(given)
  return isValid ? given : 'application/octet-stream'
}

/** Most characters of a file's name. */
const MAX_NAME = 120

/** A safe file name: no path, no hidden characters, no dot at the beginning. */
export function fileNameOf(given: unknown): string {
  const text = typeof given === 'string' ? given : ''
  const safe = Array.from(text.slice(0, 4 * MAX_NAME), character =>
    UNSAFE.test(character) ? '_' : character,
  )
  return (
    safe
      .slice(0, MAX_NAME)
      .join('')
      .replace(/^[.\s]+/, '')
      .trimEnd() || 'file'
  )
}

/** Control characters, marks that change the text direction, unpaired surrogates, and characters with a meaning in paths. */
const UNSAFE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\\/:*?"<>|]/u

/** The header that makes a browser save a file (RFC 6266), with any name (RFC 8187). */
export function dispositionOf(name: string): string {
  const plain = name.replace(/[^\w.~ -]/g, '_')
  const escaped = encodeURIComponent(name).replace(/['()*]/g, character => {
    return `%${character.charCodeAt(0).toString(16).toUpperCase()}`
  })
  return `attachment; filename="${plain}"; filename*=UTF-8''${escaped}`
}
