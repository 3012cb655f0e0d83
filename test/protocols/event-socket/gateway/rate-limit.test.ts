import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { RateLimit } from '../../../../src/protocols/event-socket/gateway/rate-limit.ts'

const takeAll = (rate: RateLimit, count: number) => Array.from({ length: count }, () => rate.take())

describe('RateLimit', () => {
  let now = 0
  beforeEach(() => {
    now = 1_000_000
    vi.spyOn(performance, 'now').mockImplementation(() => now)
  })
  afterEach(() => void vi.restoreAllMocks())

  it('lets so many through in one go, and so many a second', () => {
    const rate = new RateLimit(2)
    expect(takeAll(rate, 3)).toEqual([true, true, false])
    now += 500
    expect(takeAll(rate, 2)).toEqual([true, false])
  })

  it('takes nothing away where the clock is set back', () => {
    const rate = new RateLimit(2)
    takeAll(rate, 1)
    now -= 3_600_000
    expect(takeAll(rate, 2)).toEqual([true, false])
    now += 500
    expect(rate.take()).toBe(true)
  })
})
