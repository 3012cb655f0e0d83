import type { ContentPart, RunInput } from '../../agents/contract.ts'
import { ServableError } from '../../base/errors.ts'
import type { EarlierMessage } from './history.ts'
import { dataOf, type MediaPart, mediaTypeOf } from './media.ts'

/**
 * The input of a run as the content of a user message of the Claude Agent SDK. The SDK takes no messages of the assistant, so
 * what came before is a text before the input. Throws `invalid_input` for what Claude cannot read.
 */
export function toClaudeContent(input: RunInput, earlier: readonly EarlierMessage[]): readonly object[] {
  const before = `What was said before in this conversation, as JSON: ${JSON.stringify(earlier)}`
  const own = typeof input === 'string' ? [textBlock(input)] : input.map(toBlock)
  return earlier.length === 0 ? own : [textBlock(before), ...own]
}

function textBlock(text: string): object {
  return { type: 'text', text }
}

function toBlock(part: ContentPart): object {
  if (part.type === 'text') return textBlock(part.text)
  if (part.type === 'data') return textBlock(JSON.stringify(part.data))
  const mediaType = mediaTypeOf(part)
  const title = part.type === 'file' && part.filename !== undefined && { title: part.filename }
  if (mediaType.startsWith('image/')) return { type: 'image', source: sourceOf(part, mediaType) }
  if (mediaType === 'application/pdf')
    return { type: 'document', source: sourceOf(part, mediaType), ...title }
  if (mediaType.startsWith('text/') && !/^https?:/i.test(part.data)) {
    const data = new TextDecoder().decode(Uint8Array.from(atob(dataOf(part)), each => each.charCodeAt(0)))
    return { type: 'document', source: { type: 'text', media_type: 'text/plain', data }, ...title }
  }
  throw new ServableError('invalid_input', `The Claude Agent SDK cannot read \`${mediaType}\``)
}

function sourceOf(part: MediaPart, mediaType: string): object {
  if (/^https?:/i.test(part.data)) return { type: 'url', url: part.data }
  return { type: 'base64', media_type: mediaType, data: dataOf(part) }
}
