import { ServableError } from '../../../base/errors.ts'
import type { Message } from '../model.ts'

/** Media types that messages may contain. Options can replace them. */
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

/** Text and JSON: media types that every agent accepts, and the default types of answers. */
export const BASIC_MODES: readonly string[] = ['text/plain', 'application/json']

/**
 * Throws `content_type_not_supported` if no entry of `modes` matches the media type of a part (`image/*` matches all
 * images).
 */
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
