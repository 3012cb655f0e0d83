/**
 * When a cron expression is due, in the local time of a time zone.
 *
 * Croner reads expressions and enumerates their times. This module decides what daylight saving time does to them, the same for
 * every expression and every version of croner: a local time that is skipped is due once, when the clock has jumped over it, and
 * a local time that occurs twice is due the first time. Expressions of every hour (`*`) follow real time instead: each hour that
 * passes counts once.
 *
 * @module
 */

import { Cron } from 'croner'

/** A cron expression and the time zone in which it is read. */
export interface Rule {
  readonly cron: string
  /** A name of the IANA time zone database, such as `Europe/Berlin`. */
  readonly timezone: string
}

/** Computes when rules are due. */
export interface Timetable {
  /** The first time after `after`, in milliseconds since 1970. Undefined if there is none. */
  next(rule: Rule, after: number): number | undefined
}

const DAY_MS = 24 * 60 * 60 * 1000

/** Most characters of an expression. A long list takes long to parse. */
const MAX_CRON_LENGTH = 200

const FORM = '`cron` must be an expression of 5 fields, or of 6 with seconds first'

/** Returns what is wrong with a rule. Undefined if it is valid. */
export function faultOf({ cron, timezone }: Rule): string | undefined {
  if (cron.length > MAX_CRON_LENGTH) return `\`cron\` must have at most ${MAX_CRON_LENGTH} characters`
  try {
    zoneOf(timezone)
  } catch {
    return `\`timezone\` must be a name such as Europe/Berlin: there is no \`${timezone}\``
  }
  // A date is not an expression, although croner accepts one.
  if (!/^\s*(@\w+|\S+(\s+\S+){4,5})\s*$/.test(cron)) return FORM
  try {
    if (wallClock(cron).nextRun(new Date(0)) !== null) return undefined
    return `\`cron\` never comes: \`${cron}\``
  } catch (error) {
    return `${FORM}: ${String(Object(error).message)}`
  }
}

/** Makes a {@link Timetable}. It caches time zones, which are slow to create. */
export function createTimetable(): Timetable {
  const zones = new Map<string, Zone>()
  const zone = (name: string): Zone => {
    const known = zones.get(name) ?? zoneOf(name)
    zones.set(name, known)
    return known
  }
  return {
    next({ cron, timezone }, after) {
      if (isHourly(cron)) {
        return read(cron, timezone).nextRun(new Date(after))?.getTime()
      }
      const { offsetAt, instantOf } = zone(timezone)
      const times = wallClock(cron)
      // A repeated local time is due only the first time. After that, earlier local times follow again.
      for (let wall: number | undefined = after + offsetAt(after); ; ) {
        wall = times.nextRun(new Date(wall))?.getTime()
        if (wall === undefined) return undefined
        const instant = instantOf(wall)
        if (instant > after) return instant
      }
    },
  }
}

function read(cron: string, timezone: string): Cron {
  return new Cron(cron, { timezone, mode: '5-or-6-parts' })
}

/** An expression in local time. Its times read the same in UTC. */
function wallClock(cron: string): Cron {
  return read(cron, 'UTC')
}

/** Whether an expression is due every hour of its days. */
function isHourly(cron: string): boolean {
  const fields = cron.trim().split(/\s+/)
  const hour = fields.length === 1 ? fields[0] : fields.at(-4)
  return /^(\*|\?|\*\/1|0-23|@hourly)$/i.test(hour ?? '')
}

/** A time zone. A local time is written as the UTC time that reads the same. */
interface Zone {
  /** Milliseconds by which its local time is ahead of UTC. */
  offsetAt(instant: number): number
  /** The instant of a local time: the first one, or that of the jump over it. */
  instantOf(wall: number): number
}

function zoneOf(timeZone: string): Zone {
  const format = new Intl.DateTimeFormat('en-US', {
    ...{ timeZone, calendar: 'iso8601', numberingSystem: 'latn', hourCycle: 'h23' },
    ...{ year: 'numeric', month: 'numeric', day: 'numeric' },
    ...{ hour: 'numeric', minute: 'numeric', second: 'numeric' },
  })
  const offsetAt = (instant: number) => {
    const second = Math.floor(instant / 1000) * 1000
    const fields = new Map(format.formatToParts(second).map(({ type, value }) => [type, Number(value)]))
    const of = (type: Intl.DateTimeFormatPartTypes) => fields.get(type) ?? 0
    const shown = Date.UTC(of('year'), of('month') - 1, of('day'), of('hour'), of('minute'), of('second'))
    return shown - second
  }
  return {
    offsetAt,
    instantOf(wall) {
      const [before, after] = [offsetAt(wall - DAY_MS), offsetAt(wall + DAY_MS)]
      const found = [wall - before, wall - after].filter(instant => instant + offsetAt(instant) === wall)
      return found.length > 0 ? Math.min(...found) : jumpIn(wall - DAY_MS, wall + DAY_MS, offsetAt)
    },
  }
}

/** The instant between two others at which the clocks are set forward, to the second. */
function jumpIn(from: number, to: number, offsetAt: Zone['offsetAt']): number {
  const before = offsetAt(from)
  let [early, late] = [Math.floor(from / 1000), Math.ceil(to / 1000)]
  while (late - early > 1) {
    const middle = Math.floor((early + late) / 2)
    if (offsetAt(middle * 1000) === before) early = middle
    else late = middle
  }
  return late * 1000
}
