/**
 * Converts A2A messages to inputs of runs, and outputs of runs to A2A parts.
 *
 * @module
 */

import type { ContentPart, RunInput } from '../../agents/contract.ts'
import type { A2AFacts } from '../../agents/run-types.ts'
import type { Message, Part } from './model.ts'
import { isScript } from './wire/fields.ts'

/** The input of a run: a string if the message contains only text, otherwise its parts. */
export function toRunInput(message: Message): RunInput {
  const parts = message.parts.map(toContentPart)
  const texts = parts.flatMap(part => (part.type === 'text' ? [part.text] : []))
  return texts.length === parts.length ? texts.join('\n') : parts
}

function toContentPart({ text, raw, url, data, mediaType, filename, metadata }: Part): ContentPart {
  const facts = metadata && { metadata }
  if (text !== undefined) return { type: 'text', text, ...facts }
  const content = raw ?? url
  if (content === undefined) return { type: 'data', data, ...facts }
  const mimeType = mediaType ?? 'application/octet-stream'
  const kind = mimeType.split('/', 1)[0]
  if (kind === 'image' || kind === 'audio') return { type: kind, data: content, mimeType, ...facts }
  return { type: 'file', data: content, mimeType, filename, ...facts }
}

/** The metadata and extensions that an agent gives with parts. Missing ones are left out. */
export function factsOf({ metadata, extensions }: A2AFacts): A2AFacts {
  return { ...(metadata && { metadata }), ...(extensions && { extensions }) }
}

/** Parts of an artifact or a message. */
export function toParts(parts: readonly ContentPart[]): Part[] {
  return parts.map(toPart)
}

/** Converts text or parts of a run to A2A parts. */
export function partsOf(content: RunInput): Part[] {
  return typeof content === 'string' ? [{ text: content }] : toParts(content)
}

function toPart(part: ContentPart): Part {
  const facts = part.metadata && { metadata: part.metadata }
  if (part.type === 'text') return { text: part.text, ...facts }
  if (part.type === 'data') return { data: part.data, ...facts }
  // A script must not reach the client as a link, so it becomes text.
  if (isScript(part.data)) return { text: part.data, ...facts }
  const mediaType = part.mimeType
  const filename = part.type === 'file' ? part.filename : undefined
  return { ...contentOf(part.data), ...(mediaType && { mediaType }), ...(filename && { filename }), ...facts }
}

/** The content of a part. `data` is base64 or a URL. A `data:` URL contains its base64 (RFC 2397). */
function contentOf(data: string): Part {
  const [, mediaType, raw] = /^data:([^;,]+)?(?:;[^,]*)?;base64,(.*)$/s.exec(data) ?? []
  if (raw !== undefined) return { raw, ...(mediaType && { mediaType }) }
  return /^[a-z][a-z0-9+.-]*:/i.test(data) ? { url: data } : { raw: data }
}
