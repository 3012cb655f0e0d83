/**
 * The input of a run as messages of the AI SDK. Mastra and VoltAgent take them too.
 *
 * @module
 */

import type { ContentPart, RunInput } from '../agents/contract.ts'
import { mediaTypeOf } from './media.ts'

/** Text stays as it is. Parts become one message of the user. */
export function toAiInput(input: RunInput): unknown {
  return typeof input === 'string' ? input : [{ role: 'user', content: input.map(toAiPart) }]
}

function toAiPart(part: ContentPart): object {
  if (part.type === 'text') return { type: 'text', text: part.text }
  if (part.type === 'data') return { type: 'text', text: JSON.stringify(part.data) }
  const mediaType = mediaTypeOf(part)
  if (part.type === 'image') return { type: 'image', image: part.data, mediaType }
  const filename = part.type === 'file' ? part.filename : undefined
  return { type: 'file', data: part.data, mediaType, ...(filename !== undefined && { filename }) }
}
