/**
 * The lengths of pieces as text, about one character a piece.
 *
 * @module
 */

/** Digits of five bits. Those of the second half say that another digit of the same number follows. */
const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
const BASE = 32

/** Writes lengths, which are whole numbers of 0 or more. The lowest digit of a number comes first. */
export function lengthsToText(lengths: readonly number[]): string {
  let text = ''
  for (const length of lengths) {
    let rest = length
    while (rest >= BASE) {
      text += DIGITS[BASE + (rest % BASE)]
      rest = Math.floor(rest / BASE)
    }
    text += DIGITS[rest]
  }
  return text
}

/** The sum of the first `count` lengths of a text of {@link lengthsToText}. */
export function sumOfLengths(text: string, count: number): number {
  let sum = 0
  let unit = 1
  let left = count
  for (let at = 0; left > 0 && at < text.length; at++) {
    const digit = DIGITS.indexOf(text.charAt(at))
    sum += (digit % BASE) * unit
    unit = digit < BASE ? 1 : unit * BASE
    if (digit < BASE) left--
  }
  return sum
}
