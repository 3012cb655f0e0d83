/**
 * Converts parts of messages and artifacts in both directions.
 *
 * @module
 */

import type { Part } from '@a2a-js/sdk'
import type { ContentPart, RunInput } from '../../agents/contract.ts'
import { ServableError } from '../../base/errors.ts'
import { fromBase64, toBase64 } from '../../web/base64.ts'
import { unfit } from './failure.ts'

/** Most parts of one message or artifact. */
const MAX_PARTS = 1000

/** Addresses that a page may open without running anything. */
const SCHEMES: ReadonlySet<string> = new Set(['https:', 'http:', 'gs:', 's3:', 'ftp:', 'ftps:'])

/** Converts an input to the parts of a message. The metadata of parts is not sent. */
export function toRemoteParts(input: RunInput): Part[] {
  return typeof input === 'string' ? [textPart(input)] : input.map(toRemotePart)
}

/** A part that is text. */
export function textPart(value: string): Part {
  return { content: { $case: 'text', value }, ...PLAIN }
}

/** A part that is JSON. */
export function dataPart(value: unknown): Part {
  return { content: { $case: 'data', value }, ...PLAIN }
}

const PLAIN = { metadata: undefined, filename: '', mediaType: '' } as const

function toRemotePart(part: ContentPart): Part {
  if (part.type === 'text') return textPart(part.text)
  if (part.type === 'data') return dataPart(part.data)
  const filename = part.type === 'file' ? (part.filename ?? '') : ''
  const [, ofUrl, base64] = /^data:([^;,]+)?(?:;[^,]*)?;base64,(.*)$/s.exec(part.data) ?? []
  const mediaType = part.mimeType ?? ofUrl ?? ''
  const isUrl = base64 === undefined && /^[a-z][a-z0-9+.-]*:/i.test(part.data)
  const content: Part['content'] = isUrl
    ? { $case: 'url', value: part.data }
    : // The client makes base64 of bytes of any kind.
      { $case: 'raw', value: bytesOf(base64 ?? part.data) as never }
  return { content, metadata: undefined, filename, mediaType }
}

function bytesOf(base64: string): Uint8Array {
  const bytes = fromBase64(base64.replaceAll('-', '+').replaceAll('_', '/'))
  if (bytes !== undefined) return bytes
  throw new ServableError('invalid_input', 'The `data` of a part must be base64 or a URL')
}

/** Converts parts of a remote agent. Parts without content and parts at an unsafe address are left out. */
export function fromRemoteParts(parts: readonly Part[]): ContentPart[] {
  if (parts.length > MAX_PARTS) throw unfit(`sent more than ${MAX_PARTS} parts at once`)
  return parts.map(fromRemotePart).filter(part => part !== undefined)
}

function fromRemotePart({ content, metadata, mediaType, filename }: Part): ContentPart | undefined {
  const own = metadata === undefined ? {} : { metadata }
  if (content === undefined) return undefined
  if (content.$case === 'text') return { type: 'text', text: content.value, ...own }
  if (content.$case === 'data') {
    return content.value === undefined ? undefined : { type: 'data', data: content.value, ...own }
  }
  const data = content.$case === 'raw' ? toBase64(content.value) : content.value
  if (content.$case === 'url' && !isSafe(data)) return undefined
  const mimeType = mediaType || 'application/octet-stream'
  const kind = mimeType.split('/', 1)[0]
  if (kind === 'image' || kind === 'audio') return { type: kind, data, mimeType, ...own }
  return { type: 'file', data, mimeType, ...(filename !== '' && { filename }), ...own }
}

/** Whether a URL is absolute, and not of a scheme that runs code, such as `javascript:`. */
function isSafe(url: string): boolean {
  return URL.canParse(url) && SCHEMES.has(new URL(url).protocol)
}

/** The text of parts, joined; empty if there is none. */
export function textOfParts(parts: readonly ContentPart[]): string {
  return parts.flatMap(part => (part.type === 'text' ? [part.text] : [])).join('\n')
}

/** Parts as an input: a string if they are only text. Undefined if there are none. */
export function toInput(parts: readonly ContentPart[]): RunInput | undefined {
  if (parts.length === 0) return undefined
  return parts.every(({ type }) => type === 'text') ? textOfParts(parts) : parts
}
