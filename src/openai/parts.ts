/**
 * What a message holds, as Chat Completions and Responses name it.
 *
 * @module
 */

import type { ContentPart } from '../agents/contract.ts'
import { partsOfFile, urlOf } from '../encoders/parts.ts'
import { MAX_PARTS } from '../runs/input.ts'
import { misfit } from '../validation.ts'

/** The parts of a content: text, or an array. Throws `invalid_body` for what is neither, and for a file that is only named. */
export function partsOf(content: unknown, path: string): ContentPart[] {
  if (content === undefined || content === null) return []
  if (typeof content === 'string') return textOf(content)
  if (!Array.isArray(content) || content.length > MAX_PARTS)
    throw misfit(path, `must be text or an array of at most ${MAX_PARTS} parts`)
  return content.flatMap((part, at) => partOf(Object(part), `${path}.${at}`))
}

type Fields = Readonly<Record<string, unknown>>

function partOf(part: Fields, path: string): ContentPart[] {
  switch (part.type) {
    case 'text':
    case 'input_text':
    case 'output_text':
    case 'summary_text':
      return textOf(part.text, path)
    case 'refusal':
      return textOf(part.refusal, path)
    case 'image_url':
    case 'input_image': {
      const { image_url: url } = part
      return fileOf({ url: typeof url === 'string' ? url : Object(url).url, type: 'image/*' }, path)
    }
    case 'input_audio': {
      const { data, format } = Object(part.input_audio)
      return fileOf({ data, type: `audio/${format === 'mp3' ? 'mpeg' : format}` }, path)
    }
    case 'file':
    case 'input_file': {
      const { file_data: data, file_url: url, filename } = Object(part.file ?? part)
      return fileOf({ data, url, filename, type: '' }, path)
    }
    default:
      throw misfit(`${path}.type`, 'must be of text, an image, audio or a file')
  }
}

function textOf(text: unknown, path = ''): ContentPart[] {
  if (typeof text !== 'string') throw misfit(`${path}.text`, 'must be text')
  return text === '' ? [] : [{ type: 'text', text }]
}

/** The data of a `data:` URL, and its type. */
const DATA_URL = /^data:([^,;]{0,200})[^,]{0,200};base64,/

/** A file: base64, a `data:` URL, or any other. A provider's handle of it is none: nobody here can read that. */
function fileOf(
  { data, url, filename, type }: { data?: unknown; url?: unknown; filename?: unknown; type: string },
  path: string,
): ContentPart[] {
  const given = data ?? url
  if (typeof given !== 'string' || given === '')
    throw misfit(path, 'must have its data, or a URL (`file_id` is not known here)')
  const [head = '', told = ''] = DATA_URL.exec(given.slice(0, 500)) ?? []
  return partsOfFile(
    given.slice(head.length),
    told || type,
    typeof filename === 'string' ? filename : undefined,
  )
}

/** What of a part that a run says is text: of a file with an address a link to it. */
export function sayingOf(part: ContentPart): string {
  if (part.type === 'text') return part.text
  if (part.type === 'data') return ''
  const { type, data, mimeType = '' } = part
  const url = urlOf(data, mimeType)
  if (url.startsWith('data:')) return ''
  const name = 'filename' in part ? part.filename : type
  return `${type === 'image' ? '!' : ''}[${name ?? type}](${url})`
}
