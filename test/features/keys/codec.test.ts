import { crc32 } from 'node:zlib'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createId, createKey, idOf, isId, looksLikeKey } from '../../../src/features/keys/codec.ts'

const ALPHABET = [...'0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz']
const key = fc.constant(null).map(() => createKey(createId()))

describe('the text of a key', () => {
  it('has the id that it was made with', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...ALPHABET), minLength: 16, maxLength: 16 }), id => {
        const text = createKey(id)
        expect(isId(id)).toBe(true)
        expect(idOf(text)).toBe(id)
        expect(looksLikeKey(text)).toBe(true)
        expect(text).toMatch(/^sk_servable_\w+$/)
      }),
    )
  })

  it('is another one each time, of all characters', () => {
    const texts = Array.from({ length: 500 }, () => createKey(createId()))
    const seen = new Set(texts.flatMap(text => [...text.split('_')[3]!.slice(0, 43)]))
    expect(new Set(texts).size).toBe(500)
    expect(seen).toEqual(new Set(ALPHABET))
  })

  it('is none with any one character changed', () => {
    fc.assert(
      fc.property(key, fc.nat(), fc.constantFrom(...ALPHABET, '_', ' ', 'é'), (text, at, other) => {
        const where = at % text.length
        const changed = text.slice(0, where) + other + text.slice(where + 1)
        expect(idOf(changed)).toBe(changed === text ? idOf(text) : undefined)
      }),
      { numRuns: 500 },
    )
  })

  it('is none if it is cut or longer, and no text is one by chance', () => {
    fc.assert(
      fc.property(key, fc.nat(), fc.string(), (text, at, more) => {
        expect(idOf(text.slice(0, at % text.length))).toBeUndefined()
        if (more !== '') {
          expect(idOf(text + more)).toBeUndefined()
          expect(idOf(more + text)).toBeUndefined()
        }
        expect(idOf(more)).toBeUndefined()
      }),
    )
  })

  it('ends with the CRC-32 of the rest', () => {
    const text = createKey('0'.repeat(16))
    const body = text.slice(0, -6)
    let crc = 0
    for (const digit of text.slice(-6)) crc = crc * 62 + ALPHABET.indexOf(digit)
    expect(crc).toBe(crc32(body))
  })
})
