import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  readPosition,
  SocketPosition,
} from '../../../../src/protocols/event-socket/gateway/socket-position.ts'

const SOCKET = 'abcdefgh-the-rest'

describe('a place', () => {
  it('says which runs have begun, and how far those under way are told', () => {
    const place = new SocketPosition(SOCKET)
    const [one, two] = [place.begin(), place.begin()]
    expect(place.advance(one, 3, false)).toBe('abcdefgh;2;1.3;2.0')
    expect(place.advance(two, 40, false)).toBe('abcdefgh;2;1.3;2.14')
    expect(place.advance(one, 4, true)).toBe('abcdefgh;2;2.14')
    expect(place.advance(two, 41, true)).toBe('abcdefgh;2')
  })

  it('goes on after a sleep with the next number', () => {
    expect(new SocketPosition(SOCKET, 7).begin()).toBe(8)
  })

  it('is read as it was written, whatever has happened', () => {
    const step = fc.tuple(fc.nat(4), fc.nat(100_000), fc.boolean())
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), steps => {
        const place = new SocketPosition(SOCKET)
        const open = new Map<number, number>()
        for (const [index, seq, isLast] of steps) {
          const n = [...open.keys()][index] ?? place.begin()
          if (isLast) open.delete(n)
          else open.set(n, seq)
          expect(readPosition(place.advance(n, seq, isLast), SOCKET, place.begun)).toEqual({
            begun: place.begun,
            open,
          })
        }
      }),
    )
  })

  it.each([undefined, null])('is nothing where the client has had no event: %s', text => {
    expect(readPosition(text, SOCKET, 3)).toEqual({ begun: 0, open: new Map() })
  })

  it.each([
    7,
    {},
    '',
    ';',
    '1',
    'x;',
    'x;1;1',
    'x;1;1.',
    'x;1;.1',
    'x;1;1.1;',
    'x;A',
    'x;1;1.1.1',
    'ä;1',
    'abcdefgh;9',
    'abcdefgh;1;2.0',
    ' ;1',
  ])('is not %j', text => {
    expect(readPosition(text, SOCKET, 8)).toBeUndefined()
  })

  it('of another socket says nothing of this one', () => {
    const other = new SocketPosition('another-socket')
    other.begin()
    expect(readPosition(other.advance(1, 9, false), SOCKET, 3)).toEqual({ begun: 0, open: new Map() })
  })

  it('is never more than was given out, whatever a client says', () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.string(), fc.stringMatching(/^(abcdefgh;)?[0-9a-z.;]{0,30}$/)),
        fc.nat(50),
        (text, last) => {
          const seen = readPosition(text, SOCKET, last)
          if (seen === undefined) return
          expect(seen.begun).toBeLessThanOrEqual(last)
          for (const n of seen.open.keys()) expect(n).toBeLessThanOrEqual(seen.begun)
        },
      ),
      { numRuns: 5000 },
    )
  })

  it('is not read where it is longer than any', () => {
    expect(readPosition(`abcdefgh;1${';1.1'.repeat(3000)}`, SOCKET, 1)).toBeUndefined()
  })
})
