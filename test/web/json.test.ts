import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { MAX_JSON_DEPTH, MAX_JSON_VALUES, parseJson } from '../../src/web/json.ts'

const refused = expect.objectContaining({ code: 'invalid_body' })
/** Long enough for its bounds to be looked at. */
const padded = (text: string) => `${' '.repeat(MAX_JSON_DEPTH)}${text}`
const nested = (depth: number, inner = '') => '['.repeat(depth) + inner + ']'.repeat(depth)

/** What a parser makes of a text, or that it takes it for none. */
function outcome(parse: (text: string) => unknown, text: string): unknown {
  try {
    return { value: parse(text) }
  } catch (error) {
    return error instanceof SyntaxError ? 'no JSON' : error
  }
}

describe('parseJson', () => {
  it('reads what JSON.parse reads', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 6 }), text => {
        expect(parseJson(padded(text))).toEqual(JSON.parse(text))
      }),
    )
  })

  it('throws a SyntaxError where JSON.parse does', () => {
    const broken = fc.array(fc.constantFrom('[', ']', '{', '}', '"', '\\', ',', ':', '1', 'a'), {
      maxLength: 50,
    })
    fc.assert(
      fc.property(broken, parts => {
        const text = padded(parts.join(''))
        expect(outcome(parseJson, text)).toEqual(outcome(JSON.parse, text))
      }),
    )
  })

  it('counts nothing inside of strings, whatever they escape', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom('[', '{', ',', '"', '\\', '\n'), { maxLength: 50 }), parts => {
        const value = [parts.join('').repeat(100)]
        expect(parseJson(nested(MAX_JSON_DEPTH - 1, JSON.stringify(value)))).toBeDefined()
      }),
    )
  })

  it('reads what is nested as deep as may be, and refuses one more', () => {
    expect(parseJson(nested(MAX_JSON_DEPTH))).toBeDefined()
    for (const depth of [MAX_JSON_DEPTH + 1, 6000, 400_000]) {
      expect(() => parseJson(nested(depth))).toThrow(refused)
      expect(() => parseJson('{"a":'.repeat(depth))).toThrow(refused)
    }
  })

  it('reads as many values as may be, and refuses one more', () => {
    const zeros = (count: number) => `[${'0,'.repeat(count - 1)}0]`
    // The array is a value too, and what it begins with.
    expect(parseJson(zeros(MAX_JSON_VALUES - 1))).toHaveLength(MAX_JSON_VALUES - 1)
    expect(() => parseJson(zeros(MAX_JSON_VALUES))).toThrow(refused)
    expect(() => parseJson(`[${'{},'.repeat(MAX_JSON_VALUES)}0]`)).toThrow(refused)
  })

  it('says the bound, and nothing of the text', () => {
    const text = nested(MAX_JSON_DEPTH + 1, '"secret"')
    expect(() => parseJson(text)).toThrow(/nested at most 200 deep/)
    expect(() => parseJson(text)).not.toThrow(/secret/)
  })
})
