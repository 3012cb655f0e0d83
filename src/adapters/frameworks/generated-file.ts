import type { ContentPart, RunEvent } from '../../agents/contract.ts'
import { textIn, type UnknownFields } from './fields.ts'

/** Yields a file of the model as an artifact. Yields nothing unless the file has base64 and a media type. */
export function* artifactOf(file: UnknownFields): Generator<RunEvent> {
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
