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

/** Parses a regular expression. Throws a {@link PatternError} if it has no linear search. */
export function readPattern({ source, unicode, multiline }: RegExp): Syntax {
  const escaped = unicode
    ? /\\(?:p\{[^}]*\}|u\{[^}]*\}|ud[89ab][\da-f]{2}\\ud[c-f][\da-f]{2}|u[\da-f]{4}|x[\da-f]{2}|c[a-z]|[\s\S])/iuy
    : /\\(?:u[\da-f]{4}|x[\da-f]{2}|c[a-z]|[\s\S])/iy
  let at = 0
  let depth = 0

  const take = (text: string): boolean => {
    const isNext = source.startsWith(text, at)
    if (isNext) at += text.length
    return isNext
  }

  const takeMatch = (sticky: RegExp): RegExpExecArray | null => {
    sticky.lastIndex = at
    const match = sticky.exec(source)
    at += match?.[0].length ?? 0
    return match
  }

  const choice = (): Syntax => {
    if (++depth > MAX_DEPTH)
      throw new PatternError(`nests groups deeper than ${MAX_DEPTH}: write it with fewer groups`)
    const of = [sequence()]
    while (take('|')) of.push(sequence())
    depth--
    return of.length === 1 ? of[0]! : { kind: 'choice', of }
  }

  const sequence = (): Syntax => {
    const of: Syntax[] = []
    while (at < source.length && source[at] !== '|' && source[at] !== ')') {
      const one = term()
      const count = takeMatch(/(?:[*+?]|\{\d+(?:,\d*)?\})\??/y)
      of.push(count === null ? one : repeatOf(one, count[0]))
    }
    return of.length === 1 ? of[0]! : { kind: 'sequence', of }
  }

  const inGroup = (): Syntax => {
    const inner = choice()
    at++
    return inner
  }

  const term = (): Syntax => {
    const start = at
    const assertion = (chars: readonly string[]): Assertion => {
      return { kind: 'assertion', source: source.slice(start, at), chars }
    }
    if (takeMatch(/[$^]/y)) return assertion(multiline ? [ENDS_OF_LINES] : [])
    if (takeMatch(/\\[bB]/y)) return assertion(['\\w'])
    if (takeMatch(/\(\?<?[=!]/y)) return assertion(charsOfOne(inGroup(), source.slice(start, at)))
    if (takeMatch(/\((?:\?(?::|<[^>]*>))?(?!\?)/y)) return inGroup()
    if (source[at] === '(')
      throw new PatternError(`changes flags with \`${source.slice(at, at + 5)}\`: set flags for all of it`)
    return source[at] === '\\' ? afterBackslash() : char()
  }

  const afterBackslash = (): Char => {
    if (/^\\(?:[1-9]|0\d|k<)/.test(source.slice(at, at + 3)))
      throw new PatternError(
        `refers back with \`${source.slice(at, at + 2)}\`: write out what may stand there`,
      )
    const [text = ''] = takeMatch(escaped) ?? []
    if (text !== '\\c') return { kind: 'char', source: text }
    // Without a letter after it, `\c` is a backslash.
    at--
    return { kind: 'char', source: '\\\\' }
  }

  const char = (): Char => {
    const group = takeMatch(/\[(?:\\[\s\S]|[^\]\\])*\]/y)
    if (group !== null) return { kind: 'char', source: group[0] }
    const literal = unicode ? String.fromCodePoint(source.codePointAt(at)!) : source[at]!
    at += literal.length
    if (literal === '.') return { kind: 'char', source: literal }
    return { kind: 'char', source: /[{}\]]/.test(literal) ? `\\${literal}` : literal, literal }
  }

  return choice()
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
