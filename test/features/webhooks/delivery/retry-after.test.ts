import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { retryAfter } from '../../../../src/features/webhooks/delivery/sender.ts'

const NOW = Date.UTC(2026, 0, 1)

describe('retryAfter', () => {
  it('reads seconds', () => {
    fc.assert(
      fc.property(fc.nat(999_999_999), seconds => {
        expect(retryAfter(String(seconds), NOW)).toBe(seconds * 1000)
      }),
    )
  })

  it('reads dates, and says nothing negative of those that are past', () => {
    fc.assert(
      fc.property(fc.integer({ min: -1_000_000, max: 1_000_000 }), seconds => {
        const date = new Date(NOW + seconds * 1000).toUTCString()
        expect(retryAfter(date, NOW)).toBe(Math.max(0, seconds * 1000))
      }),
    )
  })

  it('gives a time or nothing for anything else', () => {
    fc.assert(
      fc.property(fc.string(), text => {
        const given = retryAfter(text, NOW)
        expect(given === undefined || given >= 0).toBe(true)
      }),
    )
    for (const text of ['', '-1', '1.5', '1e3', 'soon', '0x10', '99999999999999']) {
      expect(retryAfter(text, NOW), text).toBeUndefined()
    }
    expect(retryAfter(null, NOW)).toBeUndefined()
  })
})
