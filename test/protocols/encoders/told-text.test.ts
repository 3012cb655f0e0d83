import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ToldText } from '../../../src/protocols/encoders/told-text.ts'

/** A text in pieces. */
const pieces = fc.array(fc.string({ maxLength: 5 }), { maxLength: 12 })

function add(told: ToldText, texts: readonly string[]): string {
  return texts.map(text => told.add(text)).join('')
}

describe('ToldText', () => {
  it('gives text as it comes', () => {
    fc.assert(
      fc.property(pieces, texts => {
        expect(add(new ToldText(), texts)).toBe(texts.join(''))
      }),
    )
  })

  it('gives only what is new of a text that comes again in other pieces, any number of times', () => {
    const cut = fc.array(fc.integer({ min: 0, max: 60 }), { maxLength: 4 })
    fc.assert(
      fc.property(fc.string({ maxLength: 60 }), cut, fc.integer({ min: 1, max: 7 }), (whole, ends, size) => {
        const told = new ToldText()
        let seen = ''
        // Each time the process dies somewhere, the last time it does not.
        for (const end of [...ends, whole.length]) {
          const again = whole.slice(0, end)
          for (let at = 0; at < again.length; at += size) seen += told.add(again.slice(at, at + size))
          expect(told.isOther).toBe(false)
          told.resume()
        }
        expect(seen).toBe(whole)
      }),
    )
  })

  it('gives all of a text that goes another way, from where it does', () => {
    const told = new ToldText()
    told.add('The cat sat')
    told.resume()
    expect(told.add('The ')).toBe('')
    expect(told.isOther).toBe(false)
    expect(told.add('dog')).toBe('dog')
    expect(told.isOther).toBe(true)
    expect(told.add(' ran')).toBe(' ran')
    expect(told.isOther).toBe(false)
    told.resume()
    expect(add(told, ['The dog ran', ' home'])).toBe(' home')
  })

  it('gives a piece that is longer than what was told, once', () => {
    const told = new ToldText()
    told.add('ab')
    told.resume()
    expect(told.add('abcd')).toBe('cd')
    expect(told.add('ab')).toBe('ab')
  })
})
