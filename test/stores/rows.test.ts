import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { joinChunks, splitChunks } from '../../src/stores/sql/rows.ts'

/** Text of any UTF-16 units, lone surrogates among them. */
const units = fc.string({ unit: fc.constantFrom('a', '€', '😀', '\ud83d', '\ude00'), maxLength: 40 })

describe('splitChunks', () => {
  it('gives one chunk for no text', () => {
    expect(splitChunks('')).toEqual([''])
  })

  it('splits at the limit', () => {
    expect(splitChunks('abcd', 2)).toEqual(['ab', 'cd'])
    expect(splitChunks('abcde', 2)).toEqual(['ab', 'cd', 'e'])
  })

  it('keeps the halves of a pair together', () => {
    expect(splitChunks('a😀b', 2)).toEqual(['a', '😀', 'b'])
    expect(splitChunks('😀😀', 3)).toEqual(['😀', '😀'])
  })

  it('stays below 1 MiB a chunk, whatever the text', () => {
    const bytes = (text: string) => new TextEncoder().encode(text).length
    for (const text of ['€'.repeat(1_000_000), '😀'.repeat(500_000), 'a😀'.repeat(300_000)]) {
      const chunks = splitChunks(text)
      expect(Math.max(...chunks.map(bytes))).toBeLessThanOrEqual(1024 * 1024)
      expect(chunks.join('') === text).toBe(true)
    }
  })

  it('loses nothing, and splits no pair', () => {
    fc.assert(
      fc.property(units, fc.integer({ min: 2, max: 9 }), (text, max) => {
        const chunks = splitChunks(text, max)
        expect(chunks.join('')).toBe(text)
        for (const [index, chunk] of chunks.entries()) {
          expect(chunk.length).toBeLessThanOrEqual(max)
          const next = chunks[index + 1] ?? ''
          expect(/[\ud800-\udbff]$/.test(chunk) && /^[\udc00-\udfff]/.test(next)).toBe(false)
        }
      }),
    )
  })
})

describe('joinChunks', () => {
  it('puts the chunks of an entry together', () => {
    const rows = [
      { seq: 1, data: 'a' },
      { seq: 2, data: 'b' },
      { seq: 2, data: 'c' },
      { seq: 4, data: '' },
    ]
    expect(joinChunks(rows)).toEqual([
      { seq: 1, data: 'a' },
      { seq: 2, data: 'bc' },
      { seq: 4, data: '' },
    ])
    expect(joinChunks([])).toEqual([])
  })
})
