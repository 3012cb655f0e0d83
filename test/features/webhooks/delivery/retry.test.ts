import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { longestDelay, retryDelay } from '../../../../src/features/webhooks/delivery/retry.ts'

describe('retryDelay', () => {
  it('doubles with each failure up to its bound, and is spread around that', () => {
    const failures = fc.integer({ min: 1, max: 2000 })
    const times = fc.record({ retryMs: fc.integer({ min: 1 }), maxRetryMs: fc.integer({ min: 1 }) })
    fc.assert(
      fc.property(failures, times, (failures, times) => {
        const middle = Math.min(times.maxRetryMs, times.retryMs * 2 ** (failures - 1))
        const delay = retryDelay(failures, times)
        expect(delay).toBeGreaterThanOrEqual(middle * 0.75)
        expect(delay).toBeLessThanOrEqual(middle * 1.25)
        expect(delay).toBeLessThanOrEqual(longestDelay(times))
      }),
    )
  })

  it('differs from one that failed with it', () => {
    const times = { retryMs: 1000, maxRetryMs: 600_000 }
    const delays = Array.from({ length: 50 }, () => retryDelay(1, times))
    expect(new Set(delays).size).toBeGreaterThan(1)
  })
})
