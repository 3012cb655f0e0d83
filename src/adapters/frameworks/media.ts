/**
 * Reads the parts of an input for frameworks.
 *
 * @module
 */

import type { ContentPart } from '../../agents/contract.ts'

/** A part whose data is base64 or a URL. */
export type MediaPart = Extract<ContentPart, { readonly mimeType?: unknown }>

/** Whether the data is a URL (`data:` included) and not base64. */
export function isUrl(data: string): boolean {
  return /^(https?:|data:)/i.test(data)
}

/** The first base64 characters of image formats. */
const IMAGES: ReadonlyMap<string, string> = new Map([
  ['iVBORw0KGgo', 'image/png'],
  ['/9j/', 'image/jpeg'],
  ['R0lGOD', 'image/gif'],
  ['UklGR', 'image/webp'],
])

/** The given media type, or the one recognized from the data; else the kind with any subtype: `image/*`. */
export function mediaTypeOf({ type, mimeType, data }: MediaPart): string {
  const known = mimeType ?? /^data:([^;,]+)/i.exec(data)?.[1]
  if (known !== undefined) return known
  const shown = type === 'image' ? [...IMAGES].find(([start]) => data.startsWith(start)) : undefined
  return shown?.[1] ?? `${type}/*`
}

/** The data as a URL. Base64 becomes a `data:` URL. */
export function urlOf(part: MediaPart): string {
  return isUrl(part.data) ? part.data : `data:${mediaTypeOf(part)};base64,${part.data}`
}

/** The subtype, which OpenAI calls the format: `wav` for `audio/wav`. */
export function formatOf(part: MediaPart): string {
  const subtype = mediaTypeOf(part).split('/', 2)[1] ?? ''
  return subtype === 'mpeg' ? 'mp3' : subtype.replace(/^x-/, '')
}

/** The base64 of a `data:` URL. Other data stays as it is. */
export function dataOf({ data }: Pick<MediaPart, 'data'>): string {
  return /^data:[^,]*;base64,(.*)$/is.exec(data)?.[1] ?? data
}
