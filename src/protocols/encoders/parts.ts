/**
 * Files of messages, as the protocols of pages name them: a media type and a URL or base64.
 *
 * @module
 */

import type { ContentPart } from '../../agents/contract.ts'

/**
 * The part of a file: an image, audio, or any other; none of an empty one. `data` is base64 or a URL. A media type may have parameters,
 * or be none.
 */
export function partsOfFile(data: string, mediaType: string, filename?: string): ContentPart[] {
  if (data === '') return []
  const [mimeType = ANY] = /^[\w.+-]+\/[\w.+*-]+/.exec(mediaType) ?? []
  const [type] = mimeType.split('/', 1)
  if (type === 'image' || type === 'audio') return [{ type, data, mimeType }]
  return [{ type: 'file', data, mimeType, ...(filename !== undefined && { filename }) }]
}

/** The media type of a file of which nothing is known. */
export const ANY = 'application/octet-stream'

/** The URL of a file: a `data:` URL where it is base64. */
export function urlOf(data: string, mimeType: string): string {
  return ADDRESS.test(data) ? data : `data:${mimeType};base64,${data}`
}

/** Whether the data of a file is its address, and not base64. */
export function isAddress(data: string): boolean {
  return ADDRESS.test(data)
}

/** A URL, or the address of a file of a run without an origin: base64 has no hyphen. */
const ADDRESS = /^([a-z][\w+.-]*:|\/.{0,200}runs\/\w{8}-)/i
