/**
 * Text that PostgreSQL takes: it has no U+0000, and no halves of pairs of surrogates.
 *
 * @module
 */

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

function wellFormed(text: string & { toWellFormed?(): string }): string {
  return text.toWellFormed?.() ?? text
}
