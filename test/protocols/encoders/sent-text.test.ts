import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { SentText } from '../../../src/protocols/encoders/sent-text.ts'

/** A text in pieces. */
const pieces = fc.array(fc.string({ maxLength: 5 }), { maxLength: 12 })

function add(sent: SentText, texts: readonly string[]): string {
  return texts.map(text => sent.add(text)).join('')
}

describe('SentText', () => {
  it('gives text as it comes', () => {
    fc.assert(
      fc.property(pieces, texts => {
        expect(add(new SentText(), texts)).toBe(texts.join(''))
      }),
    )
  })

  it('gives only what is new of a text that comes again in other pieces, any number of times', () => {
    const cut = fc.array(fc.integer({ min: 0, max: 60 }), { maxLength: 4 })
    fc.assert(
      fc.property(fc.string({ maxLength: 60 }), cut, fc.integer({ min: 1, max: 7 }), (whole, ends, size) => {
        const sent = new SentText()
        let seen = ''
        // Each time the process dies somewhere, the last time it does not.
        for (const end of [...ends, whole.length]) {
          const again = whole.slice(0, end)
          for (let at = 0; at < again.length; at += size) seen += sent.add(again.slice(at, at + size))
          expect(sent.isOther).toBe(false)
          sent.resume()
        }
        expect(seen).toBe(whole)
      }),
    )
  })

  it('gives all of a text that goes another way, from where it does', () => {
    const sent = new SentText()
    sent.add('The cat sat')
    sent.resume()
    expect(sent.add('The ')).toBe('')
    expect(sent.isOther).toBe(false)
    expect(sent.add('dog')).toBe('dog')
    expect(sent.isOther).toBe(true)
    expect(sent.add(' ran')).toBe(' ran')
    expect(sent.isOther).toBe(false)
    sent.resume()
    expect(add(sent, ['The dog ran', ' home'])).toBe(' home')
  })

  it('gives a piece that is longer than what was sent, once', () => {
    const sent = new SentText()
    sent.add('ab')
    sent.resume()
    expect(sent.add('abcd')).toBe('cd')
    expect(sent.add('ab')).toBe('ab')
  })
})
