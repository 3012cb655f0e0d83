/**
 * Parses the source of a regular expression into a tree, for a search in time linear in the text (`pattern.ts`).
 *
 * The source of each single character is kept. Later the runtime's own `RegExp` determines which characters it matches, so
 * classes, escapes, properties and the flags `i`, `s` and `u` keep their usual meaning.
 *
 * @module
 */

/** A part of a regular expression. */
export type Syntax =
  | Char
  | Assertion
  | { readonly kind: 'sequence'; readonly of: readonly Syntax[] }
  | { readonly kind: 'choice'; readonly of: readonly Syntax[] }
  | Repeat

/** One character. */
export interface Char {
  readonly kind: 'char'
  /** Source that matches exactly the possible characters. */
  readonly source: string
  /** The character, if it is written literally. */
  readonly literal?: string
}

/** A condition on two adjacent characters alone. */
export interface Assertion {
  readonly kind: 'assertion'
  readonly source: string
  /** Sources of the characters that influence it. */
  readonly chars: readonly string[]
}

/** A part that is repeated `min` to `max` times. */
export interface Repeat {
  readonly kind: 'repeat'
  readonly of: Syntax
  readonly min: number
  readonly max: number
  readonly isLazy: boolean
}

/** The reason why a regular expression has no linear search, and an alternative. */
export class PatternError extends Error {}

const MAX_DEPTH = 50

const ENDS_OF_LINES = '[\\n\\r\\u2028\\u2029]'

/** A backslash with what belongs to it, in an expression with the flag `u` and in one without it. */
const ESCAPED_UNICODE =
  /\\(?:p\{[^}]*\}|u\{[^}]*\}|ud[89ab][\da-f]{2}\\ud[c-f][\da-f]{2}|u[\da-f]{4}|x[\da-f]{2}|c[a-z]|[\s\S])/iuy
const ESCAPED = /\\(?:u[\da-f]{4}|x[\da-f]{2}|c[a-z]|[\s\S])/iy

/** Parses a regular expression. Throws a {@link PatternError} if it has no linear search. */
export function readPattern(pattern: RegExp): Syntax {
  return new PatternReader(pattern).choice()
}

/** Reads an expression from its beginning to its end. */
class PatternReader {
  readonly #source: string
  readonly #unicode: boolean
  readonly #multiline: boolean
  #at = 0
  #depth = 0

  constructor({ source, unicode, multiline }: RegExp) {
    this.#source = source
    this.#unicode = unicode
    this.#multiline = multiline
  }

  /** Reads alternatives up to the end of the group. */
  choice(): Syntax {
    if (++this.#depth > MAX_DEPTH)
      throw new PatternError(`nests groups deeper than ${MAX_DEPTH}: write it with fewer groups`)
    const of = [this.#sequence()]
    while (this.#take('|')) of.push(this.#sequence())
    this.#depth--
    return of.length === 1 ? of[0]! : { kind: 'choice', of }
  }

  #sequence(): Syntax {
    const of: Syntax[] = []
    while (
      this.#at < this.#source.length &&
      this.#source[this.#at] !== '|' &&
      this.#source[this.#at] !== ')'
    ) {
      const one = this.#term()
      const count = this.#takeMatch(/(?:[*+?]|\{\d+(?:,\d*)?\})\??/y)
      of.push(count === null ? one : repeatOf(one, count[0]))
    }
    return of.length === 1 ? of[0]! : { kind: 'sequence', of }
  }

  #inGroup(): Syntax {
    const inner = this.choice()
    this.#at++
    return inner
  }

  #term(): Syntax {
    const start = this.#at
    const assertion = (chars: readonly string[]): Assertion => {
      return { kind: 'assertion', source: this.#source.slice(start, this.#at), chars }
    }
    if (this.#takeMatch(/[$^]/y)) return assertion(this.#multiline ? [ENDS_OF_LINES] : [])
    if (this.#takeMatch(/\\[bB]/y)) return assertion(['\\w'])
    if (this.#takeMatch(/\(\?<?[=!]/y))
      return assertion(charsOfOne(this.#inGroup(), this.#source.slice(start, this.#at)))
    if (this.#takeMatch(/\((?:\?(?::|<[^>]*>))?(?!\?)/y)) return this.#inGroup()
    if (this.#source[this.#at] === '(')
      throw new PatternError(
        `changes flags with \`${this.#source.slice(this.#at, this.#at + 5)}\`: set flags for all of it`,
      )
    return this.#source[this.#at] === '\\' ? this.#afterBackslash() : this.#char()
  }

  #afterBackslash(): Char {
    if (/^\\(?:[1-9]|0\d|k<)/.test(this.#source.slice(this.#at, this.#at + 3)))
      throw new PatternError(
        `refers back with \`${this.#source.slice(this.#at, this.#at + 2)}\`: write out what may stand there`,
      )
    const [text = ''] = this.#takeMatch(this.#unicode ? ESCAPED_UNICODE : ESCAPED) ?? []
    if (text !== '\\c') return { kind: 'char', source: text }
    // Without a letter after it, `\c` is a backslash.
    this.#at--
    return { kind: 'char', source: '\\\\' }
  }

  #char(): Char {
    const group = this.#takeMatch(/\[(?:\\[\s\S]|[^\]\\])*\]/y)
    if (group !== null) return { kind: 'char', source: group[0] }
    const literal = this.#unicode
      ? String.fromCodePoint(this.#source.codePointAt(this.#at)!)
      : this.#source[this.#at]!
    this.#at += literal.length
    if (literal === '.') return { kind: 'char', source: literal }
    return { kind: 'char', source: /[{}\]]/.test(literal) ? `\\${literal}` : literal, literal }
  }

  #take(text: string): boolean {
    const isNext = this.#source.startsWith(text, this.#at)
    if (isNext) this.#at += text.length
    return isNext
  }

  #takeMatch(sticky: RegExp): RegExpExecArray | null {
    sticky.lastIndex = this.#at
    const match = sticky.exec(this.#source)
    this.#at += match?.[0].length ?? 0
    return match
  }
}

/** A part that is repeated according to `count`: `*`, `+?`, `{2}`, `{2,}` or `{2,3}`. */
function repeatOf(of: Syntax, count: string): Repeat {
  const [least = '', most = least] = count.replace(/[{}?]/g, '').split(',')
  const [min, max] = COUNTS[count[0]!] ?? [
    Number(least),
    most === '' ? Number.POSITIVE_INFINITY : Number(most),
  ]
  if (max > min && prefersNothing(of))
    throw new PatternError(`repeats with \`${count}\` what may be empty: leave the empty choice out`)
  return { kind: 'repeat', of, min, max, isLazy: /.\?$/.test(count) }
}

const COUNTS: Readonly<Record<string, readonly [min: number, max: number]>> = {
  '*': [0, Number.POSITIVE_INFINITY],
  '+': [1, Number.POSITIVE_INFINITY],
  '?': [0, 1],
}

/** The characters of a lookaround group of at most one character. */
function charsOfOne(inner: Syntax, source: string): readonly string[] {
  const choices = inner.kind === 'choice' ? inner.of : [inner]
  return choices.flatMap(one => {
    if (one.kind === 'char') return [one.source]
    if (one.kind === 'assertion') return one.chars
    if (one.kind === 'sequence' && one.of.length === 0) return []
    const shown = source.length > 40 ? `${source.slice(0, 40)}…` : source
    throw new PatternError(
      `looks around at more than one character with \`${shown}\`: match these characters, and give a function as \`with\` that keeps them`,
    )
  })
}

/** Whether a part can match the empty text. */
export function mayBeEmpty(part: Syntax): boolean {
  switch (part.kind) {
    case 'char':
      return false
    case 'assertion':
      return true
    case 'sequence':
      return part.of.every(mayBeEmpty)
    case 'choice':
      return part.of.some(mayBeEmpty)
    case 'repeat':
      return part.min === 0 || mayBeEmpty(part.of)
  }
}

/**
 * Whether a part can match the empty text although it could match more. `RegExp` has a special rule for repeats of such a part.
 */
function prefersNothing(part: Syntax): boolean {
  if (!mayBeEmpty(part)) return false
  switch (part.kind) {
    case 'char':
    case 'assertion':
      return false
    case 'sequence':
      return part.of.some(prefersNothing)
    case 'choice':
      return part.of.some(
        (one, index) => prefersNothing(one) || (mayBeEmpty(one) && index < part.of.length - 1),
      )
    case 'repeat':
      return part.isLazy || prefersNothing(part.of)
  }
}

/** The longest literal text that every match contains. */
export function literalIn(part: Syntax): string {
  if (part.kind === 'char') return part.literal ?? ''
  if (part.kind !== 'sequence') return ''
  let longest = ''
  let run = ''
  for (const one of part.of) {
    run = one.kind === 'char' && one.literal !== undefined ? run + one.literal : ''
    if (run.length > longest.length) longest = run
  }
  return longest
}
