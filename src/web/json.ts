/**
 * Parses JSON from untrusted sources. It checks limits on depth and number of values before it parses.
 *
 * @module
 */

import { ServableError } from '../base/errors.ts'

/** Most levels of arrays and objects. On every runtime, the stack suffices for recursion of this depth. */
export const MAX_JSON_DEPTH = 200

/** Most values of one text. A small value such as `{}` takes about thirty times its length in memory. */
export const MAX_JSON_VALUES = 500_000

const QUOTE = 0x22
const COMMA = 0x2c
const OPEN_BRACKET = 0x5b
const BACKSLASH = 0x5c
const CLOSE_BRACKET = 0x5d
const OPEN_BRACE = 0x7b
const CLOSE_BRACE = 0x7d

/**
 * The value of a JSON text (RFC 8259; section 9 allows such limits). Throws `invalid_body` if the text is nested too deep or
 * has too many values, and a `SyntaxError` if it is not JSON.
 */
export function parseJson(text: string): unknown {
  if (text.length > MAX_JSON_DEPTH) checkBounds(text)
  return JSON.parse(text)
}

/** Counts opening brackets and separators outside of strings. The parser checks whether the text is JSON. */
function checkBounds(text: string): void {
  let depth = 0
  let values = 1
  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case QUOTE:
        at = endOfString(text, at)
        break
      case OPEN_BRACKET:
      case OPEN_BRACE:
        values++
        if (++depth > MAX_JSON_DEPTH) throw new ServableError('invalid_body', TOO_DEEP)
        break
      case CLOSE_BRACKET:
      case CLOSE_BRACE:
        depth--
        break
      case COMMA:
        values++
    }
    if (values > MAX_JSON_VALUES) throw new ServableError('invalid_body', TOO_MANY)
  }
}

const TOO_DEEP = `The JSON must be nested at most ${MAX_JSON_DEPTH} deep`
const TOO_MANY = `The JSON must have at most ${MAX_JSON_VALUES} values`

/** The end of the string that begins at `from`: the first unescaped quote, or the end of the text. */
function endOfString(text: string, from: number): number {
  for (let at = text.indexOf('"', from + 1); at !== -1; at = text.indexOf('"', at + 1)) {
    let before = at
    while (text.charCodeAt(before - 1) === BACKSLASH) before--
    if ((at - before) % 2 === 0) return at
  }
  return text.length
}
