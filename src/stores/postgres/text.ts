/**
 * Converts text for PostgreSQL, which takes no U+0000 and no unpaired surrogates. It also shortens long keys, since an index
 * limits their length.
 *
 * @module
 */

import { createHash } from 'node:crypto'

const NUL = '\0'
const SIGN = '\u0001'

/** Text as it is stored: U+0000 and U+0001 become two characters each, which preserves the order of texts. */
export function stored(text: string): string {
  const whole = wellFormed(text)
  if (!whole.includes(NUL) && !whole.includes(SIGN)) return whole
  return whole.replaceAll(SIGN, `${SIGN}\u0002`).replaceAll(NUL, SIGN + SIGN)
}

/** Restores stored text. */
export function restored(text: string): string {
  if (!text.includes(SIGN)) return text
  return text
    .split(SIGN + SIGN)
    .map(part => part.replaceAll(`${SIGN}\u0002`, SIGN))
    .join(NUL)
}

/**
 * Most bytes of a key. An index entry has 2,704 bytes at most, and may have two long keys: the id of a turn and that of its
 * session.
 */
const MAX_KEY_BYTES = 1200

/**
 * Precedes the digest of a long key. Stored text never contains it: each U+0001 there is the first or second character of a pair.
 */
const DIGEST = `${SIGN}\u0003${SIGN}\u0003`
const DIGEST_BYTES = 43

/** An id, a partition or a tag as it is stored. A long one becomes its beginning and a digest of the whole. */
export function storedKey(text: string): string {
  const whole = stored(text)
  if (whole.length <= MAX_KEY_BYTES / 3) return whole
  const bytes = Buffer.from(whole)
  if (bytes.length <= MAX_KEY_BYTES) return whole
  const begin = bytes.subarray(0, MAX_KEY_BYTES - DIGEST.length - DIGEST_BYTES)
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
  // Decoding drops a character that is cut.
  const kept = decoder.decode(begin, { stream: true })
  return kept + DIGEST + createHash('sha256').update(bytes).digest('base64url')
}

/** Whether a stored key was shortened. */
export function isDigested(key: string): boolean {
  return key.includes(DIGEST)
}

function wellFormed(text: string & { toWellFormed?(): string }): string {
  return text.toWellFormed?.() ?? text
}
