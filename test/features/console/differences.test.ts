import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { differences, type Piece } from '../../../console/runs/differences.ts'

const whole = (pieces: readonly Piece[]) => pieces.map(({ text }) => text).join('')
const marked = (pieces: readonly Piece[]) =>
  pieces.map(({ text, isDifferent }) => (isDifferent ? `[${text}]` : text)).join('')
const same = (pieces: readonly Piece[]) => whole(pieces.filter(({ isDifferent }) => !isDifferent))

describe('the differences of two texts', () => {
  it.each([
    ['a b c', 'a b c', 'a b c', 'a b c'],
    ['the red fox', 'the blue fox', 'the [red] fox', 'the [blue] fox'],
    ['a', '', '[a]', ''],
    ['one two three four', 'one 2 three 4', 'one [two] three [four]', 'one [2] three [4]'],
    ['x y', 'x more y', 'x y', 'x [more ]y'],
  ])('of %j and %j are marked', (a, b, left, right) => {
    const pieces = differences(a, b)
    expect([marked(pieces[0]), marked(pieces[1])]).toEqual([left, right])
  })

  it('leave every word where it was, and what is the same is the same in both', () => {
    const text = fc
      .array(fc.constantFrom('a', 'b', 'c', ' ', '\n'), { maxLength: 60 })
      .map(all => all.join(''))
    fc.assert(
      fc.property(text, text, (a, b) => {
        const [left, right] = differences(a, b)
        expect([whole(left), whole(right)]).toEqual([a, b])
        expect(same(left)).toBe(same(right))
      }),
    )
  })

  it('mark a large middle as a whole', () => {
    const words = (name: string) => Array.from({ length: 20_000 }, (_, index) => `${name}${index}`).join(' ')
    const [left, right] = differences(`begin ${words('a')} end`, `begin ${words('b')} end`)
    expect(left.map(({ isDifferent }) => isDifferent)).toEqual([false, true, false])
    expect(right.map(({ isDifferent }) => isDifferent)).toEqual([false, true, false])
  })
})
