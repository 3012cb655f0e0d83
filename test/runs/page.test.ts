import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decodeCursor, encodeCursor } from '../../src/runs/stored/page.ts'

const place = fc.record({ at: fc.nat(9_999_999_999_999), id: fc.uuid() })

describe('encodeCursor', () => {
  it('gives what is safe in a URL and leads back to the place', () => {
    fc.assert(
      fc.property(place, place => {
        const cursor = encodeCursor(place)
        expect(cursor).toMatch(/^[\w-]+$/)
        expect(decodeCursor(cursor)).toEqual(place)
      }),
    )
  })
})

describe('decodeCursor', () => {
  it.each([
    '',
    ' ',
    'x',
    '====',
    '😀',
    btoa('1'),
    btoa('1 '),
    btoa('-1 a'),
    btoa('1 a b'),
    btoa("1 a'"),
    btoa('x a'),
  ])('refuses %j', cursor => {
    expect(() => decodeCursor(cursor)).toThrow(expect.objectContaining({ code: 'invalid_query' }))
  })

  it('gives a place or refuses, whatever the text', () => {
    fc.assert(
      fc.property(fc.string(), text => {
        try {
          expect(decodeCursor(text)).toEqual({ at: expect.any(Number), id: expect.any(String) })
        } catch (error) {
          expect(error).toMatchObject({ code: 'invalid_query' })
        }
      }),
    )
  })
})
