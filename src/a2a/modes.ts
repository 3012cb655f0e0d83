import { ServableError } from '../errors.ts'
import type { Message } from './model.ts'

/** Media types that messages may hold unless options say otherwise. */
export const DEFAULT_INPUT_MODES: readonly string[] = [
  'text/plain',
  'application/json',
  'image/png',
  'image/jpeg',
  'image/gif',
  'image/webp',
  'audio/mpeg',
  'audio/wav',
  'application/pdf',
  'application/octet-stream',
]

/** Media types that every agent takes, and answers in unless options say otherwise: text, and JSON. */
export const BASIC_MODES: readonly string[] = ['text/plain', 'application/json']

/** Throws `content_type_not_supported` for a part whose media type is none of `modes` (`image/*` stands for all images). */
export function checkModes(message: Message, modes: readonly string[]): void {
  for (const { mediaType } of message.parts) {
    if (mediaType === undefined || mediaType === '' || modes.some(mode => fits(mediaType, mode))) continue
    throw new ServableError(
      'content_type_not_supported',
      `Parts of ${mediaType} are not accepted: use ${modes.join(', ')}`,
    )
  }
}

function fits(mediaType: string, mode: string): boolean {
  const type = mediaType.split(';', 1)[0]?.trim().toLowerCase() ?? ''
  return mode.endsWith('/*') ? type.startsWith(mode.slice(0, -1)) : type === mode
}
