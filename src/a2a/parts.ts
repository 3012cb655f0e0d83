/**
 * Converts A2A messages to inputs of runs, and outputs of runs to A2A parts.
 *
 * @module
 */

import type { ContentPart, RunInput } from '../agents/contract.ts'
import type { Message, Part } from './model.ts'

/** The input of a run: a string if the message contains only text, otherwise its parts. */
export function toRunInput(message: Message): RunInput {
  const parts = message.parts.map(toContentPart)
  const texts = parts.flatMap(part => (part.type === 'text' ? [part.text] : []))
  return texts.length === parts.length ? texts.join('\n') : parts
}

function toContentPart({ text, raw, url, data, mediaType, filename }: Part): ContentPart {
  if (text !== undefined) return { type: 'text', text }
  const content = raw ?? url
  if (content === undefined) return { type: 'data', data }
  const mimeType = mediaType ?? 'application/octet-stream'
  const kind = mimeType.split('/', 1)[0]
  if (kind === 'image' || kind === 'audio') return { type: kind, data: content, mimeType }
  return { type: 'file', data: content, mimeType, filename }
}

/** Parts of an artifact or a message. */
export function toParts(parts: readonly ContentPart[]): Part[] {
  return parts.map(toPart)
}

function toPart(part: ContentPart): Part {
  if (part.type === 'text') return { text: part.text }
  if (part.type === 'data') return { data: part.data }
  const mediaType = part.mimeType
  const filename = part.type === 'file' ? part.filename : undefined
  return { ...contentOf(part.data), ...(mediaType && { mediaType }), ...(filename && { filename }) }
}

/** The content of a part. `data` is base64 or a URL. A `data:` URL contains its base64 (RFC 2397). */
function contentOf(data: string): Part {
  const [, mediaType, raw] = /^data:([^;,]+)?(?:;[^,]*)?;base64,(.*)$/s.exec(data) ?? []
  if (raw !== undefined) return { raw, ...(mediaType && { mediaType }) }
  return /^[a-z][a-z0-9+.-]*:/i.test(data) ? { url: data } : { raw: data }
}
