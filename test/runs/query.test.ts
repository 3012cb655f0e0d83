import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isServableError } from '../../src/base/errors.ts'
import { parseRunQuery } from '../../src/runs/stored/query.ts'

const two = (number: number) => String(number).padStart(2, '0')

describe('the times of a list of runs', () => {
  it('may have any zone', () => {
    const dates = fc.date({ min: new Date('1000-01-02'), max: new Date('9998-12-30'), noInvalidDate: true })
    const offsets = fc.integer({ min: -12 * 60, max: 14 * 60 })
    fc.assert(
      fc.property(dates, offsets, (date, minutes) => {
        const away = Math.abs(minutes)
        const zone = `${minutes < 0 ? '-' : '+'}${two(Math.floor(away / 60))}:${two(away % 60)}`
        const local = new Date(date.getTime() + minutes * 60_000).toISOString().replace('Z', zone)
        const { since, until } = parseRunQuery({ since: local, until: date.toISOString() })
        expect([since, until]).toEqual([date.getTime(), date.getTime()])
      }),
    )
  })

  it('are refused by name, whatever else they are', () => {
    const parts = fc.constantFrom(
      '2026',
      '-02-30',
      '-02-28',
      'T',
      '24:00:00',
      '12:30',
      ':00',
      'Z',
      '+01:00',
      ' ',
    )
    const any = fc.oneof(
      fc.string(),
      fc.array(parts, { maxLength: 6 }).map(texts => texts.join('')),
    )
    fc.assert(
      fc.property(any, fc.constantFrom('since', 'until'), (text, name) => {
        try {
          expect(Number.isSafeInteger(Reflect.get(parseRunQuery({ [name]: text }), name))).toBe(true)
        } catch (error) {
          if (!isServableError(error)) throw error
          expect(error).toMatchObject({ code: 'invalid_query', issues: [{ path: name }] })
        }
      }),
    )
  })

  it.each(['2026-02-30T00:00:00Z', '2026-01-01', '2026-01-01T00:00:00'])('are not %s', text => {
    expect(() => parseRunQuery({ since: text })).toThrow('`since` must be a timestamp such as')
  })
})
