/** When rules are due, above all where clocks change. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createTimetable, faultOf, type Rule } from '../../../src/features/schedules/cron.ts'

const { next } = createTimetable()

/** The times of a rule after a moment. */
function ticks(rule: Rule, after: string | number, count: number): string[] {
  const found: string[] = []
  for (let at = new Date(after).getTime(); found.length < count; ) {
    const tick = next(rule, at)
    if (tick === undefined) break
    found.push(new Date(tick).toISOString())
    at = tick
  }
  return found
}

/** What the clocks of a zone show. */
function shown(timeZone: string, at: number) {
  const format = new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'medium' })
  const [date = '', time = ''] = format.format(at).split(' ')
  return { date, time }
}

const berlin = (cron: string) => ({ cron, timezone: 'Europe/Berlin' })

describe('a time that is skipped in spring', () => {
  it('is due once, when the clock has jumped over it', () => {
    expect(ticks(berlin('30 2 * * *'), '2026-03-27T12:00:00Z', 3)).toEqual([
      '2026-03-28T01:30:00.000Z',
      '2026-03-29T01:00:00.000Z',
      '2026-03-30T00:30:00.000Z',
    ])
  })

  it('is due once where several are skipped, or another one is due then', () => {
    const [first, second] = ticks(berlin('*/30 2 * * *'), '2026-03-28T12:00:00Z', 2)
    expect([first, second]).toEqual(['2026-03-29T01:00:00.000Z', '2026-03-30T00:00:00.000Z'])
    expect(ticks(berlin('0 2,3 * * *'), '2026-03-28T12:00:00Z', 2)).toEqual([
      '2026-03-29T01:00:00.000Z',
      '2026-03-30T00:00:00.000Z',
    ])
    expect(ticks(berlin('0 */2 * * *'), '2026-03-28T22:30:00Z', 3)).toEqual([
      '2026-03-28T23:00:00.000Z',
      '2026-03-29T01:00:00.000Z',
      '2026-03-29T02:00:00.000Z',
    ])
  })

  it('is due once where a whole day is skipped', () => {
    expect(ticks({ cron: '0 9 * * *', timezone: 'Pacific/Apia' }, '2011-12-29T00:00:00Z', 3)).toEqual([
      '2011-12-29T19:00:00.000Z',
      '2011-12-30T10:00:00.000Z',
      '2011-12-30T19:00:00.000Z',
    ])
  })

  it('is due after midnight where the day begins late', () => {
    expect(ticks({ cron: '0 0 * * *', timezone: 'America/Sao_Paulo' }, '2018-11-03T12:00:00Z', 2)).toEqual([
      '2018-11-04T03:00:00.000Z',
      '2018-11-05T02:00:00.000Z',
    ])
  })
})

describe('a time that comes twice in autumn', () => {
  it('is due the first time', () => {
    const expected = ['2026-10-25T00:30:00.000Z', '2026-10-26T01:30:00.000Z']
    expect(ticks(berlin('30 2 * * *'), '2026-10-24T12:00:00Z', 2)).toEqual(expected)
    expect(ticks(berlin('30 2 * * *'), '2026-10-25T00:45:00Z', 1)).toEqual(expected.slice(1))
    expect(ticks(berlin('30 2 * * *'), '2026-10-25T01:10:00Z', 1)).toEqual(expected.slice(1))
    expect(ticks(berlin('*/30 2 * * *'), '2026-10-24T12:00:00Z', 3)).toEqual([
      '2026-10-25T00:00:00.000Z',
      '2026-10-25T00:30:00.000Z',
      '2026-10-26T01:00:00.000Z',
    ])
  })

  it('counts each time for what is due every hour, since an hour has passed', () => {
    expect(ticks(berlin('0 * * * *'), '2026-10-24T23:30:00Z', 4)).toEqual([
      '2026-10-25T00:00:00.000Z',
      '2026-10-25T01:00:00.000Z',
      '2026-10-25T02:00:00.000Z',
      '2026-10-25T03:00:00.000Z',
    ])
    expect(ticks(berlin('@hourly'), '2026-03-29T00:30:00Z', 2)).toEqual([
      '2026-03-29T01:00:00.000Z',
      '2026-03-29T02:00:00.000Z',
    ])
  })
})

const ZONES = [
  ['UTC', 2026],
  ['Europe/Berlin', 2026],
  ['America/New_York', 2026],
  ['America/Sao_Paulo', 2018],
  ['Australia/Lord_Howe', 2026],
  ['Asia/Kathmandu', 2026],
  ['Asia/Beirut', 2022],
  ['Africa/Casablanca', 2025],
  ['Africa/Cairo', 2024],
  ['Pacific/Chatham', 2026],
] as const

describe.each(ZONES)('%s', (timezone, year) => {
  const begin = Date.UTC(year, 0, 1, 12)
  const end = Date.UTC(year, 11, 31, 12)

  it('has each day once, at its time or right after the clock has jumped over it', () => {
    const minutes = fc.record({ hour: fc.nat(23), minute: fc.nat(59) })
    fc.assert(
      fc.property(minutes, ({ hour, minute }) => {
        const rule = { cron: `${minute} ${hour} * * *`, timezone }
        const days = new Set<string>()
        let count = 0
        for (let at = next(rule, begin); at !== undefined && at < end; at = next(rule, at)) {
          const { date, time } = shown(timezone, at)
          const asked = `${String(hour).padStart(2, '0')}:${String(minute).padStart(2, '0')}:00`
          if (time !== asked) {
            const before = shown(timezone, at - 1000)
            const isSkipped = asked < time && (before.date < date || before.time < asked)
            expect({ date, time, asked, isSkipped }).toMatchObject({ isSkipped: true })
          }
          days.add(date)
          count++
        }
        expect(days.size).toBe(count)
        expect(Math.abs(count - 364)).toBeLessThanOrEqual(1)
      }),
      { numRuns: 5 },
    )
  })

  it('goes forward from any moment, and misses nothing in between', () => {
    const crons = fc.constantFrom('30 2 * * *', '*/20 1-3 * * *', '0 */3 * * *', '15 * * * *', '5 0 * * SUN')
    const moments = fc.integer({ min: begin / 1000, max: end / 1000 })
    fc.assert(
      fc.property(crons, moments, fc.integer({ min: 0, max: 100_000 }), (cron, seconds, more) => {
        const rule = { cron, timezone }
        const after = seconds * 1000
        const tick = next(rule, after)!
        expect(tick).toBeGreaterThan(after)
        const later = next(rule, after + more * 1000)!
        expect(later).toBeGreaterThanOrEqual(tick)
        if (after + more * 1000 < tick) expect(later).toBe(tick)
      }),
      { numRuns: 60 },
    )
  })
})

describe('a rule', () => {
  it.each([
    '* * * * *',
    '*/5 * * * * *',
    '0 9 * * MON-FRI',
    '@daily',
    '0 0 L * *',
    '0 0 * * FRI#2',
    ' 0  9 * * * ',
  ])('may be %s', cron => {
    expect(faultOf({ cron, timezone: 'UTC' })).toBeUndefined()
    expect(next({ cron, timezone: 'Asia/Tokyo' }, 0)).toBeGreaterThan(0)
  })

  it.each([
    ['', 'UTC', '5 fields'],
    ['* * *', 'UTC', '5 fields'],
    ['61 * * * *', 'UTC', 'minute'],
    ['* * * * * * 2030', 'UTC', '5 fields'],
    ['2030-01-01T00:00:00', 'UTC', '5 fields'],
    ['tomorrow', 'UTC', '5 fields'],
    ['0 0 31 2 *', 'UTC', 'never comes'],
    [`${'1,'.repeat(200)}1 * * * *`, 'UTC', '200 characters'],
    ['* * * * *', 'Mars/Olympus', 'Europe/Berlin'],
    ['* * * * *', '', 'Europe/Berlin'],
  ])('may not be %s in %s', (cron, timezone, text) => {
    expect(faultOf({ cron, timezone })).toContain(text)
  })

  it('is refused or comes, whatever the text', () => {
    const field = fc.stringMatching(/^[\d*,/LW#?-]{1,6}$/)
    const text = fc.oneof(
      fc.string({ maxLength: 30 }),
      fc.array(field, { minLength: 5, maxLength: 6 }).map(all => all.join(' ')),
    )
    fc.assert(
      fc.property(text, cron => {
        const rule = { cron, timezone: 'America/New_York' }
        if (faultOf(rule) === undefined) expect(next(rule, 0)).toBeGreaterThan(0)
      }),
      { numRuns: 500 },
    )
  })
})
