/**
 * The lengths of pieces as text, about one character a piece.
 *
 * @module
 */

/** Digits of five bits are the characters from `<` on. Those of the second half say that another digit of the same number follows. */
const FIRST = 60
const BASE = 32

const characterOf = (digit: number): string => String.fromCharCode(FIRST + digit)

/** Writes lengths, which are whole numbers of 0 or more. The lowest digit of a number comes first. */
export function lengthsToText(lengths: readonly number[]): string {
  let text = ''
  for (const length of lengths) {
    let rest = length
    while (rest >= BASE) {
      text += characterOf(BASE + (rest % BASE))
      rest = Math.floor(rest / BASE)
    }
    text += characterOf(rest)
  }
  return text
}

/** Reads a text of {@link lengthsToText}. */
export function lengthsIn(text: string): number[] {
  const lengths: number[] = []
  let length = 0
  let unit = 1
  for (let at = 0; at < text.length; at++) {
    const digit = text.charCodeAt(at) - FIRST
    length += (digit % BASE) * unit
    unit *= BASE
    if (digit >= BASE) continue
    lengths.push(length)
    length = 0
    unit = 1
  }
  return lengths
}
