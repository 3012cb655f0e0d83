/** The tokens that the calculator understands. */

/** The operators between and around numbers. `of` is part of `12 % of 50`. */
export type Operator = '+' | '-' | '*' | '/' | 'mod' | '%' | 'of' | '^' | '(' | ')'

/** A piece of a message with its position. */
export type Token = { readonly text: string; readonly start: number; readonly end: number } & (
  | { readonly kind: 'number'; readonly value: number }
  | { readonly kind: 'operator'; readonly operator: Operator }
  | { readonly kind: 'other' }
)

// A number is not part of a word, a version (1.2.3) or a list without spaces (1,2,3). Commas may separate thousands.
const NUMBER = String.raw`(?<![\p{L}\p{N}_.]|\d,)(?:\d{1,3}(?:,\d{3})+|\d+|(?=\.\d))(?:\.\d+)?(?:e[+-]?\d+)?(?![\p{L}\p{N}_]|[.,]\d)`
const NAMED = String.raw`(?:plus|minus|times|mod|x|divided\s+by|to\s+the\s+power\s+of)(?![\p{L}\p{N}_])`
const SIGN = String.raw`%\s*of(?![\p{L}\p{N}_])|\*\*|[-+*/%^()×÷−·]`
const LEXEME = new RegExp(`(${NUMBER})|(${NAMED}|${SIGN})|[\\p{L}\\p{M}\\p{N}_'’]+|[^\\s]`, 'giu')

const OPERATORS: ReadonlyMap<string, Operator> = new Map<string, Operator>([
  ['plus', '+'],
  ['minus', '-'],
  ['times', '*'],
  ['x', '*'],
  ['dividedby', '/'],
  ['tothepowerof', '^'],
  ['**', '^'],
  ['×', '*'],
  ['·', '*'],
  ['÷', '/'],
  ['−', '-'],
  ['%of', 'of'],
  ...(['+', '-', '*', '/', 'mod', '%', '^', '(', ')'] as const).map(sign => [sign, sign] as const),
])

/** Splits a text into tokens. White space only separates them. */
export function* tokenize(text: string): Generator<Token> {
  for (const { 0: piece, 1: number, 2: sign, index } of text.matchAll(LEXEME)) {
    const place = { text: piece, start: index, end: index + piece.length }
    const operator = sign && OPERATORS.get(sign.toLowerCase().replace(/\s+/g, ''))
    if (number) yield { ...place, kind: 'number', value: Number(number.replaceAll(',', '')) }
    else if (operator) yield { ...place, kind: 'operator', operator }
    else yield { ...place, kind: 'other' }
  }
}
