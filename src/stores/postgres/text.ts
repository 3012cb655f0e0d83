/**
 * Text that PostgreSQL takes: it has no U+0000, and no halves of pairs of surrogates. What an index holds is not long.
 *
 * @module
 */

import { createHash } from 'node:crypto'

const NUL = '\0'
const SIGN = '\u0001'

/** Text as it is stored: U+0000 and U+0001 are two characters each, so that the order of texts stays. */
export function stored(text: string): string {
  const whole = wellFormed(text)
  if (!whole.includes(NUL) && !whole.includes(SIGN)) return whole
  return whole.replaceAll(SIGN, `${SIGN}\u0002`).replaceAll(NUL, SIGN + SIGN)
}

/** The text of what is stored. */
export function restored(text: string): string {
  if (!text.includes(SIGN)) return text
  return text
    .split(SIGN + SIGN)
    .map(part => part.replaceAll(`${SIGN}\u0002`, SIGN))
    .join(NUL)
}

/** The most bytes of a key. An entry of an index has 2,704 at the most, and two long keys: of a turn, its id and that of its session. */
const MAX_KEY_BYTES = 1200

/** Stands before the digest of a long key. Stored text never has it: each U+0001 there begins a pair, or ends one that it began. */
const DIGEST = `${SIGN}\u0003${SIGN}\u0003`
const DIGEST_BYTES = 43

/** An id, a partition or a tag as it is stored: of a long one its beginning, and a digest of all of it. */
export function storedKey(text: string): string {
  const whole = stored(text)
  if (whole.length <= MAX_KEY_BYTES / 3) return whole
  const bytes = Buffer.from(whole)
  if (bytes.length <= MAX_KEY_BYTES) return whole
  const begin = bytes.subarray(0, MAX_KEY_BYTES - DIGEST.length - DIGEST_BYTES)
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
  // It leaves out a character that is cut.
  const kept = decoder.decode(begin, { stream: true })
  return kept + DIGEST + createHash('sha256').update(bytes).digest('base64url')
}

/** Whether a key, as it is stored, is not all that it was. */
export function isDigested(key: string): boolean {
  return key.includes(DIGEST)
}

function wellFormed(text: string & { toWellFormed?(): string }): string {
  return text.toWellFormed?.() ?? text
}
