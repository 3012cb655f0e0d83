import type { ContentPart, RunInput } from '../agents/contract.ts'
import { dataOf, isUrl, type MediaPart, mediaTypeOf, urlOf } from './media.ts'

/** A user message for LangChain. */
export interface LangChainMessage {
  readonly role: 'user'
  readonly content: string | readonly object[]
}

/** The input of a run as one user message. */
export function toLangChainMessage(input: RunInput): LangChainMessage {
  return { role: 'user', content: typeof input === 'string' ? input : input.map(toBlock) }
}

function toBlock(part: ContentPart): object {
  switch (part.type) {
    case 'text':
      return { type: 'text', text: part.text }
    case 'data':
      return { type: 'text', text: JSON.stringify(part.data) }
    case 'image':
      return { type: 'image_url', image_url: { url: urlOf(part) } }
    case 'audio':
    case 'file':
      return { type: part.type, mime_type: mediaTypeOf(part), ...sourceOf(part), ...metadataOf(part) }
  }
}

function sourceOf(part: MediaPart): object {
  const isAddress = isUrl(part.data) && !part.data.startsWith('data:')
  return isAddress ? { source_type: 'url', url: part.data } : { source_type: 'base64', data: dataOf(part) }
}

function metadataOf(part: MediaPart): object {
  if (part.type !== 'file' || part.filename === undefined) return {}
  return { metadata: { filename: part.filename, name: part.filename } }
}
