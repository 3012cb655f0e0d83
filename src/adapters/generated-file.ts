import type { ContentPart, RunEvent } from '../agents/contract.ts'
import { type Fields, textIn } from './fields.ts'

/** A file that the model made, as an artifact; nothing where it is not told as base64 with its media type. */
export function* artifactOf(file: Fields): Generator<RunEvent> {
  const [data, mimeType] = [textIn(file.base64), textIn(file.mediaType)]
  if (data === undefined || mimeType === undefined) return
  yield {
    type: 'artifact',
    artifactId: crypto.randomUUID(),
    parts: [toPart(data, mimeType)],
    lastChunk: true,
  }
}

function toPart(data: string, mimeType: string): ContentPart {
  const kind = mimeType.split('/', 1)[0]
  if (kind === 'image' || kind === 'audio') return { type: kind, data, mimeType }
  return { type: 'file', data, mimeType }
}
