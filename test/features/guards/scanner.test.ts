import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Refusal, refuse } from '../../../src/features/guards/refusal.ts'
import { type MaskRule, Masks, Scanner } from '../../../src/features/guards/scanner.ts'

const CARD: MaskRule = { pattern: /\b\d{4}-\d{4}\b/, with: '[card]' }

/** All that is told of a text in these pieces. */
function told(rules: readonly MaskRule[], pieces: readonly string[], holdback: number): string {
  const scanner = new Scanner(new Masks(rules), holdback)
  return pieces.map(piece => scanner.push(piece)).join('') + scanner.push('', true)
}

/** A text in pieces, some of them empty. */
const piecesOf = (text: fc.Arbitrary<string>) =>
  text.chain(whole =>
    fc.array(fc.nat(whole.length), { maxLength: 30 }).map(cuts => {
      const places = [0, ...cuts.sort((a, b) => a - b), whole.length]
      return places.slice(1).map((end, index) => whole.slice(places[index], end))
    }),
  )

const digits = fc.string({ unit: fc.constantFrom('1', '2', '-', 'a', ' ', 'é'), maxLength: 200 })

describe('a text that comes in pieces', () => {
  it.each<[string, RegExp, number]>([
    ['a pattern of one length', /\d{4}/, 4],
    ['a pattern of several lengths', /\d{3,5}/, 6],
    ['a pattern that looks around itself', /(?<![\da])\d{2,4}(?!\d)/, 6],
    ['words', /\b\d{2}-\d{2}\b/, 6],
    ['the end of the text', /\d{2}$/, 4],
    ['the beginning of the text', /^[-\d]{3}/, 4],
    ['choices', /1-1|1-1a|22/, 4],
  ])('is told as the whole would be: %s', (_, pattern, holdback) => {
    fc.assert(
      fc.property(piecesOf(digits), fc.nat(20), (pieces, more) => {
        const whole = pieces.join('').replace(new RegExp(pattern, 'g'), () => '#')
        expect(told([{ pattern, with: '#' }], pieces, holdback + more)).toBe(whole)
      }),
    )
  })

  it('tells no match of a pattern that is not longer than the holdback, whatever the pieces', () => {
    const around = fc.string({ unit: fc.constantFrom('x', ' ', '-'), maxLength: 40 })
    const text = fc.tuple(around, around).map(([before, after]) => `${before} 1234-5678 ${after}`)
    fc.assert(
      fc.property(piecesOf(text), fc.integer({ min: 10, max: 40 }), (pieces, holdback) => {
        const said = told([CARD], pieces, holdback)
        expect(said).not.toContain('1234')
        expect(said).toBe(pieces.join('').replace('1234-5678', '[card]'))
      }),
    )
  })

  it('comes out unchanged where nothing matches, in whole characters', () => {
    const text = fc.string({ unit: 'grapheme', maxLength: 100 })
    fc.assert(
      fc.property(piecesOf(text), fc.integer({ min: 1, max: 20 }), (pieces, holdback) => {
        const scanner = new Scanner(new Masks([{ pattern: /never-there/ }]), holdback)
        const out = [...pieces.map(piece => scanner.push(piece)), scanner.push('', true)]
        expect(out.join('')).toBe(pieces.join(''))
        for (const piece of out) expect(piece.isWellFormed()).toBe(true)
      }),
    )
  })

  it('never completes a match over a break: what is left of it is replaced', () => {
    const scanner = new Scanner(new Masks([CARD]), 16)
    const out = [scanner.push('no 1234-', true), scanner.push('56'), scanner.push('78 ok', true)]
    expect(out).toEqual(['no 1234-', '', '[card] ok'])
  })

  it('begins another text at a break', () => {
    const scanner = new Scanner(new Masks([CARD]), 16)
    expect([scanner.push('x', true), scanner.push('1234-5678', true)]).toEqual(['x', '[card]'])
  })

  it('never tells a match whose pieces have breaks between them', () => {
    fc.assert(
      fc.property(piecesOf(digits), pieces => {
        const scanner = new Scanner(new Masks([{ pattern: /\d{3}/, with: '#' }]), 4)
        const out = pieces.map(piece => scanner.push(piece, true)).join('')
        expect(out).not.toMatch(/\d{3}/)
      }),
    )
  })

  it('prefers what begins first, then the first rule', () => {
    const rules = [
      { pattern: /bc/, with: '1' },
      { pattern: /abcd/, with: '2' },
      { pattern: /ab/, with: '3' },
    ]
    expect(told(rules, ['xabcdbc'], 8)).toBe('x21')
  })

  it('takes a function, a text as it is, `[redacted]` by default, and a refusal', () => {
    const masks = (by: MaskRule['with']) => new Masks([{ pattern: /b+/i, ...(by && { with: by }) }])
    expect(masks(match => `<${match}>`).mask('aBBc')).toBe('a<BB>c')
    expect(masks('$&').mask('abc')).toBe('a$&c')
    expect(masks(undefined).mask('abc')).toBe('a[redacted]c')
    expect(() => masks(refuse('no')).mask('abc')).toThrow(expect.any(Refusal) as Error)
    expect(() => masks(() => 1 as never).mask('abc')).toThrow('must give a text')
  })

  it('holds a match that goes on, up to a bound', () => {
    const scanner = new Scanner(new Masks([{ pattern: /\d+/, with: '#' }]), 4)
    let out = ''
    for (let count = 0; count < 100; count++) out += scanner.push('1234567890')
    expect(out).toBe('')
    for (let count = 0; count < 4000; count++) out += scanner.push('1234567890')
    expect(out).toMatch(/^#+$/)
    expect(scanner.push(' end', true)).toMatch(/^#? end$/)
  })

  it('looks once for a share of its holdback, not for each piece', () => {
    let looks = 0
    const rules = [
      {
        pattern: /x/,
        with() {
          looks++
          return 'y'
        },
      },
    ]
    const scanner = new Scanner(new Masks(rules), 64)
    let told = 0
    let out = 0
    for (let piece = 0; piece < 200_000; piece++) {
      const said = scanner.push('-')
      if (said !== '') told++
      out += said.length
    }
    expect(out + scanner.push('x', true).length).toBe(200_001)
    expect(looks).toBe(1)
    expect(told).toBeLessThan(200_000 / 16)
  })
})
