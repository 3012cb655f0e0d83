/**
 * Reads the content of messages of Chat Completions and Responses.
 *
 * @module
 */

import type { ContentPart, RunInput } from '../../agents/contract.ts'
import { misfit } from '../../base/validation.ts'
import { MAX_PARTS } from '../../runs/input.ts'
import { inputOf } from '../encoders/history.ts'
import { partsOfFile } from '../encoders/parts.ts'
import type { Fields } from './body.ts'

/** Reads a content: text, or an array of parts. Throws `invalid_body` for anything else, and for a file that is only an id. */
export function contentOf(content: unknown, path: string): RunInput {
  if (typeof content === 'string') return content
  const parts = content ?? []
  if (Array.isArray(parts) && parts.length <= MAX_PARTS)
    return inputOf(parts.flatMap((part, at) => partOf(Object(part), `${path}.${at}`)))
  throw misfit(path, `must be text or at most ${MAX_PARTS} parts`)
}

/** Matches the beginning of a `data:` URL of base64, with its type. */
const DATA_URL = /^data:([^,;]{0,200})[^,]{0,200};base64,/

/** Reads a part. Its fields determine its type, because the names of types differ in Responses. */
function partOf(part: Fields, path: string): ContentPart[] {
  const { text = part.refusal, image_url: image, input_audio: audio, file = part } = part
  if (typeof text === 'string') return text === '' ? [] : [{ type: 'text', text }]
  const { data, format } = Object(audio)
  const { file_data, file_url, filename } = Object(file)
  const given = data ?? Object(image).url ?? image ?? file_data ?? file_url
  if (typeof given !== 'string' || given === '')
    throw misfit(path, 'must have text, or a file as data or a URL: a `file_id` is not known')
  const [head = '', named] = DATA_URL.exec(given.slice(0, 500)) ?? []
  const type = image ? 'image/*' : audio ? (format === 'mp3' ? 'audio/mpeg' : 'audio/wav') : ''
  const name = typeof filename === 'string' ? filename : undefined
  return partsOfFile(given.slice(head.length), named || type, name)
}
