import fc from 'fast-check'

const isSurrogate = (code: number) => code >= 0xd800 && code <= 0xdfff

/** The way back, by which fast-check knows that it may also try texts like `__proto__`. */
function codeOf(character: unknown): number {
  const code = typeof character === 'string' ? character.codePointAt(0) : undefined
  if (code === undefined || String.fromCodePoint(code) !== character) throw new Error('not one character')
  return code
}

/**
 * Any character of Unicode, for `fc.string({ unit: codePoint })`: at least a third are of ASCII, and none is half of a surrogate
 * pair. The unit `binary` of fast-check has the same characters, but takes half a second to list them all, in each test file.
 */
export const codePoint: fc.Arbitrary<string> = fc
  .oneof(fc.nat(0x7f), fc.nat(0xffff), fc.nat(0x10ffff))
  .filter(code => !isSurrogate(code))
  .map(code => String.fromCodePoint(code), codeOf)

/** A URL with any path. The URLs of fast-check list all characters as well. */
export const anyUrl: fc.Arbitrary<string> = fc
  .string({ unit: codePoint })
  .map(path => `https://a.example/${encodeURIComponent(path)}`)
