/**
 * Files of messages in the protocols of pages: a media type, and a URL or base64.
 *
 * @module
 */

import type { ContentPart } from '../../agents/contract.ts'

/**
 * The part of a file: an image, audio, or any other file. Empty for an empty file. `data` is base64 or a URL. A media type may
 * have parameters, or be invalid.
 */
export function partsOfFile(data: string, mediaType: string, filename?: string): ContentPart[] {
  if (data === '') return []
  const [mimeType = ANY] = /^[\w.+-]+\/[\w.+*-]+/.exec(mediaType) ?? []
  const [type] = mimeType.split('/', 1)
  if (type === 'image' || type === 'audio') return [{ type, data, mimeType }]
  return [{ type: 'file', data, mimeType, ...(filename !== undefined && { filename }) }]
}

/** The media type of a file of unknown type. */
export const ANY = 'application/octet-stream'

/** The URL of a file: a `data:` URL if the data is base64. */
export function urlOf(data: string, mimeType: string): string {
  return ADDRESS.test(data) ? data : `data:${mimeType};base64,${data}`
}

/** Whether the data of a file is its address, and not base64. */
export function isAddress(data: string): boolean {
  return ADDRESS.test(data)
}

/** Matches a URL, or the address of a run's file without an origin. Base64 has no hyphen. */
const ADDRESS = /^([a-z][\w+.-]*:|\/.{0,200}runs\/\w{8}-)/i
