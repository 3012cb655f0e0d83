import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { compilePattern } from '../../../src/features/guards/pattern.ts'
import { PatternError } from '../../../src/features/guards/pattern-syntax.ts'

/** What a pattern matches in a text. */
function matches(regex: RegExp, text: string): readonly string[] {
  const find = compilePattern(regex).in(text)
  const found: string[] = []
  for (let match = find?.(0); match !== undefined; match = find?.(match.end))
    found.push(text.slice(match.start, match.end))
  return found
}

/** The same by `RegExp`, without matches of nothing. */
function native(regex: RegExp, text: string): readonly string[] {
  const all = new RegExp(regex.source, `${regex.flags}g`)
  const found: string[] = []
  for (let match = all.exec(text); match !== null; match = all.exec(text)) {
    // Between the halves of a character `RegExp` would go back to its first one.
    if (match[0] === '') all.lastIndex += regex.unicode && text.codePointAt(match.index)! > 0xffff ? 2 : 1
    else found.push(match[0])
  }
  return found
}

const characters = ['a', 'b', 'B', '1', '-', ' ', '\n', '.', '_', 'é', 'É', 'ſ', 'K', '\u2028', '{', '\\']

const one = fc.constantFrom(
  ...[
    'a',
    'b',
    'B',
    '1',
    '-',
    '.',
    '\\d',
    '\\D',
    '\\w',
    '\\W',
    '\\s',
    '\\S',
    '[ab]',
    '[^a]',
    '[a-z1]',
    '[\\w-]',
  ],
  ...['\\.', '\\u0061', '\\x62', '\\n', '\\t', '\\0', '\\cJ', '[^]', '[]', '[\\]a]', '[é-ſ]', ' '],
)
const around = fc.constantFrom(
  ...[
    '^',
    '$',
    '\\b',
    '\\B',
    '(?=a)',
    '(?!b)',
    '(?<=1)',
    '(?<![ab])',
    '(?=\\s|$)',
    '(?<=^|-)',
    '(?!)',
    '(?=)',
  ],
)
const count = fc.constantFrom('', '', '*', '+', '?', '{2}', '{1,3}', '{2,}', '*?', '+?', '??', '{0,2}?')

const { source } = fc.letrec<{ source: string; sequence: string; term: string }>(tie => ({
  source: fc.array(tie('sequence'), { minLength: 1, maxLength: 3 }).map(all => all.join('|')),
  sequence: fc.array(tie('term'), { maxLength: 4 }).map(all => all.join('')),
  term: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    { arbitrary: fc.tuple(one, count).map(all => all.join('')), weight: 4 },
    { arbitrary: around, weight: 1 },
    {
      arbitrary: fc
        .tuple(fc.constantFrom('(', '(?:'), tie('source'), count)
        .map(([open, inner, times]) => `${open}${inner})${times}`),
      weight: 2,
    },
  ),
}))

/** A pattern that has a linear search; undefined otherwise. */
function compiles(text: string, flags: string): RegExp | undefined {
  const regex = new RegExp(text, flags)
  try {
    compilePattern(regex)
    return regex
  } catch (error) {
    if (error instanceof PatternError) return undefined
    throw error
  }
}

describe('a pattern', () => {
  it('finds what `RegExp` finds', () => {
    let compared = 0
    const texts = fc.array(fc.constantFrom(...characters), { maxLength: 7 }).map(all => all.join(''))
    const flags = fc.subarray(['i', 'm', 's']).map(all => all.join(''))
    fc.assert(
      fc.property(source, flags, fc.array(texts, { minLength: 1, maxLength: 8 }), (text, flag, many) => {
        const regex = compiles(text, flag)
        if (regex === undefined) return
        compared++
        for (const one of many)
          expect(matches(regex, one), `${regex} in ${JSON.stringify(one)}`).toEqual(native(regex, one))
      }),
      { numRuns: 300 },
    )
    expect(compared).toBeGreaterThan(60)
  })

  it('finds what `RegExp` with the flag `u` finds, in characters of two units', () => {
    const texts = fc
      .array(fc.constantFrom('a', 'é', '😀', '😎', '𝒳', '\ud83d', '\ude00', ' ', '1'), { maxLength: 10 })
      .map(all => all.join(''))
    const units = fc.constantFrom(
      ...[
        '\\p{L}',
        '\\P{L}',
        '\\p{Lu}+',
        '.',
        '😀',
        '[😀-😎]',
        '[^😀]',
        '\\u{1F600}',
        '\\ud83d\\ude00',
        '\\ud83d',
        '\\b',
        'a',
      ],
      ...['\\S*', '(?<=😀)', '(?!\\p{L})', '\\w'],
    )
    const sources = fc.array(units, { minLength: 1, maxLength: 3 }).map(all => all.join(''))
    fc.assert(
      fc.property(sources, fc.constantFrom('u', 'iu'), texts, (text, flags, one) => {
        const regex = new RegExp(text, flags)
        expect(matches(regex, one), `${regex} in ${JSON.stringify(one)}`).toEqual(native(regex, one))
      }),
      { numRuns: 15 },
    )
  })

  it.each<[string, RegExp]>([
    ['addresses', /[\w.]{1,64}@[\w.]{1,255}\w/],
    ['account numbers', /[A-Z]{2}\d{2}[A-Z0-9]{11,30}/],
    ['card numbers', /\b(?:\d[ -]*?){13,16}\b/],
    ['telephone numbers', /\+?\d{1,3}[ -]?\(?\d{2,4}\)?[ -]?\d{3,4}[ -]?\d{3,4}/],
    ['keys', /sk-[A-Za-z0-9_-]{20,200}/],
    ['tokens', /eyJ[\w-]+\.[\w-]+\.[\w-]+/],
    ['ids', /[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}/i],
    ['passwords', /password\s*[:=]\s*\S+/i],
    ['addresses of hosts', /(?<!\d)(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)\.){3}(?:25[0-5]|2[0-4]\d|1?\d?\d)(?!\d)/],
    ['private keys', /-----BEGIN [A-Z ]+-----[\s\S]+?-----END [A-Z ]+-----/],
    ['names', /\p{Lu}\p{Ll}+ \p{Lu}\p{Ll}+/u],
    ['what is exponential for `RegExp`', /(?:(?:a+)+b|(?:a|a)*b|(?:a|aa)+$)/],
  ])('compiles for %s', (_, regex) => {
    expect(() => compilePattern(regex)).not.toThrow()
  })

  it.each<[string, RegExp, string]>([
    [
      'looking around at more than one character',
      /(?=ab)a/,
      'looks around at more than one character with `(?=ab)`',
    ],
    ['looking back at more', /(?<!\d+)a/, 'looks around at more than one character with `(?<!\\d+)`'],
    ['a reference back', /(a)\1/, 'refers back with `\\1`'],
    ['a reference by name', /(?<x>a)\k<x>/, 'refers back with `\\k`'],
    ['flags of a group', /(?i:a)/, 'changes flags with `(?i:a`'],
    ['the flag `v`', /[a]/v, 'has the flag `v`: use the flag `u`'],
    ['what may be empty, a number of times', /(?:a??){0,3}b/, 'repeats with `{0,3}` what may be empty'],
    ['too many states', /(?:a|b){16}a(?:a|b)*x/, 'needs too many states'],
    ['counts of counts', /(?:(?:a{100}){100}){100}/, 'is too long'],
    ['deep groups', new RegExp(`${'('.repeat(60)}a${')'.repeat(60)}`), 'nests groups deeper than 50'],
  ])('refuses %s, and says what to write', (_, regex, why) => {
    expect(() => compilePattern(regex)).toThrow(why)
  })
})
