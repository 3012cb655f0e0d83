import fc from 'fast-check'
import { afterEach, describe, expect, it } from 'vitest'
import { type TestClock, takeClock } from '../../src/testing/clock.ts'

// Each test has the clock of `testService` alone.
let clock: TestClock | undefined

afterEach(() => clock?.release())

const take = () => {
  clock = takeClock()
  return clock
}

describe('the clock of tests', () => {
  it('goes on by itself, and fires timers as the platform does', async () => {
    take()
    const begunAt = Date.now()
    await new Promise(resolve => setTimeout(resolve, 20))
    expect(Date.now() - begunAt).toBeGreaterThanOrEqual(19)
    let ticks = 0
    await new Promise<void>(resolve => {
      const timer = setInterval(() => {
        if (++ticks < 3) return
        clearInterval(timer)
        resolve()
      }, 5)
    })
    expect(ticks).toBe(3)
  })

  it('fires timers at their times, in order', async () => {
    const times: number[] = []
    const { advance } = take()
    const begunAt = Date.now()
    const note = () => void times.push(Math.round((Date.now() - begunAt) / 1000))
    setTimeout(note, 30_000)
    const every = setInterval(note, 20_000)
    const cleared = setTimeout(() => times.push(-1), 10_000)
    setTimeout(() => {
      note()
      setTimeout(note, 10_000)
    }, 50_000)
    clearTimeout(cleared)
    await advance(61_000)
    expect(times).toEqual([20, 30, 40, 50, 60, 60])
    clearInterval(every)
    await advance(60_000)
    expect(times).toHaveLength(6)
  })

  it('moves all that tells the time', async () => {
    const { advance } = take()
    const [date, ticks, now] = [new Date(new Date()).valueOf(), performance.now(), Date.now()]
    await advance(86_400_000)
    for (const passed of [
      new Date(new Date()).valueOf() - date,
      performance.now() - ticks,
      Date.now() - now,
    ]) {
      expect(passed).toBeGreaterThanOrEqual(86_400_000)
      expect(passed).toBeLessThan(86_410_000)
    }
    expect(new Date(0).getTime()).toBe(0)
    expect(new Date() instanceof Date).toBe(true)
    expect(Date.UTC(1970)).toBe(0)
    expect(Date.parse(Date())).toBeGreaterThan(now)
  })

  it('fires what is left of a timer by itself', async () => {
    const { advance } = take()
    const fired = new Promise(resolve => setTimeout(resolve, 60_000))
    await advance(59_990)
    await fired
    let ticks = 0
    const again = new Promise<void>(resolve => {
      const timer = setInterval(() => {
        if (++ticks < 3) return
        clearInterval(timer)
        resolve()
      }, 20)
    })
    await advance(15)
    await again
    expect(ticks).toBe(3)
  })

  it('waits for what a timer began before the next one fires', async () => {
    const { advance } = take()
    const said: string[] = []
    setTimeout(async () => {
      await crypto.subtle.digest('SHA-256', new Uint8Array(1_000_000))
      await new Promise(resolve => setTimeout(resolve, 10))
      said.push('first')
    }, 1000)
    setTimeout(() => said.push('second'), 2000)
    await advance(3000)
    expect(said).toEqual(['first', 'second'])
  })

  it('is shared, and moves once for each', async () => {
    const { advance } = take()
    const other = takeClock()
    const now = Date.now()
    await Promise.all([advance(1000), other.advance(1000)])
    expect(Date.now() - now).toBeGreaterThanOrEqual(2000)
    other.release()
    other.release()
    expect(Date.now() - now).toBeGreaterThanOrEqual(2000)
  })

  it('has an end', async () => {
    const { advance } = take()
    const timer = setInterval(() => {}, 1)
    await expect(advance(200_000)).rejects.toThrow('fires more than 100,000 timers')
    clearInterval(timer)
  })

  it('fires the same timers whatever the steps', async () => {
    const { advance } = take()
    const delays = fc.array(fc.integer({ min: 1, max: 50 }), { maxLength: 8 })
    const steps = fc.array(fc.integer({ min: 0, max: 40 }), { minLength: 1, maxLength: 5 })
    const minute = 60_000
    await fc.assert(
      fc.asyncProperty(delays, steps, async (delays, steps) => {
        const fired: number[] = []
        const timers = delays.map(delay => setTimeout(() => fired.push(delay), delay * minute))
        for (const step of steps) await advance(step * minute)
        const total = steps.reduce((sum, step) => sum + step, 0)
        for (const timer of timers) clearTimeout(timer)
        expect(fired).toEqual(delays.filter(delay => delay <= total).toSorted((one, other) => one - other))
      }),
      { numRuns: 50 },
    )
  })
})
