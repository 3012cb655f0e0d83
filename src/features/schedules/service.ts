/**
 * Schedules over a store: claims due ticks, starts their runs, and lists and changes schedules for administrators.
 *
 * A tick is claimed in a transaction. Then its run is started with a key made from the tick, and the run is stored. A crash in
 * between loses nothing: another process takes over the claim and starts the run with the same key, which finds a run that was
 * already started. A schedule whose starts crash several processes in a row is paused.
 *
 * @module
 */

import { reportError, ServableError } from '../../base/errors.ts'
import { breathe } from '../../base/wake.ts'
import { MAX_DEATHS } from '../../stores/deaths.ts'
import type { Store } from '../../stores/store.ts'
import { sha256 } from '../../web/digest.ts'
import { createTimetable } from './cron.ts'
import {
  claimTicks,
  codeOf,
  type Due,
  dropRules,
  isDeadly,
  noteRun,
  pageOf,
  pauseAt,
  putCode,
  putRules,
  readDue,
  type StoredSchedule,
  schedulesOf,
  settleTicks,
  type TickOutcome,
  type Want,
} from './kept.ts'
import type { Schedule } from './schedule.ts'
import type { Tick } from './starting.ts'

/** Most ticks that one check claims. */
const MAX_TICKS = 50

/** Most schedules written in one transaction. */
const WRITTEN_AT_ONCE = 500

/** Milliseconds after which an unclaimed tick counts as missed. */
const MISSED_MS = 60_000

/** Milliseconds after which a claim is not taken over any more, since the key of its run may be deleted. */
const LOST_MS = 60 * 60 * 1000

/** Milliseconds until the next check if only processes with other code can run what is due. */
const OTHERS_MS = 1000

/** The parts of the handler that the service uses. */
export interface ScheduleServiceParts {
  readonly store: Store
  readonly schedules: readonly Schedule[]
  /** Starts a run, or finds the one of the same key. */
  readonly start: (schedule: Schedule, tick: Tick) => Promise<string>
  /** Milliseconds for which an ended run and its key are kept. */
  readonly retentionMs: number
  /** Called when a run could not be started, or its state is unknown. */
  readonly onFailure: (schedule: string, error: unknown) => void
  /** Ensures that {@link ScheduleService.look} is called at this time at the latest. */
  readonly wakeBy: (at: number) => unknown
}

/** Stored schedules by name. Undefined for one that no process has stored yet. */
export type KnownSchedules = readonly (readonly [name: string, kept: StoredSchedule | undefined])[]

/** The schedules of a handler, over its store. */
export class ScheduleService {
  readonly #parts: ScheduleServiceParts
  readonly #byName: ReadonlyMap<string, Schedule>
  readonly #timetable = createTimetable()
  #ready: Promise<void> | undefined
  #readyAt = 0

  constructor(parts: ScheduleServiceParts) {
    this.#parts = parts
    this.#byName = new Map(parts.schedules.map(each => [each.name, each]))
  }

  /** Starts what is due. Returns the time of the next check, in milliseconds since 1970 by the local clock. */
  async look(): Promise<number | undefined> {
    await this.#begin()
    const { store } = this.#parts
    const { now, due } = await store.read(tx => readDue(tx, MAX_TICKS))
    const wants = due.flatMap(each => this.#wantOf(each, now) ?? [])
    if (wants.length > 0) {
      const claimed = await store.write(tx => claimTicks(tx, wants))
      const outcomes = await Promise.all(claimed.map(want => this.#start(want)))
      if (outcomes.length > 0) await store.write(tx => settleTicks(tx, outcomes))
    } else if (due.some(({ dueAt }) => dueAt < now - MISSED_MS) && this.#readyAt < now - MISSED_MS) {
      // Reads the schedules again if no process has the code for the due ones. The code that runs decides.
      this.#ready = undefined
    }
    const next = await store.read(tx => readDue(tx, 1))
    const dueAt = next.due[0]?.dueAt ?? next.soonest
    if (dueAt === undefined) return undefined
    const least = wants.length === 0 && next.due.length > 0 ? OTHERS_MS : 0
    return Date.now() + Math.max(dueAt - next.now, least)
  }

  /** Reads stored schedules. */
  async known(names: readonly string[]): Promise<KnownSchedules> {
    await this.#begin()
    const kept = await this.#parts.store.read(tx => schedulesOf(tx, names))
    return names.map(name => [name, kept.get(name)])
  }

  /** Pauses a schedule. Its current run continues. */
  async pause(name: string): Promise<KnownSchedules> {
    return this.#pauseAt(name, () => undefined)
  }

  /** Resumes a schedule from now on. */
  async resume(name: string): Promise<KnownSchedules> {
    const schedule = this.#find(name)
    return this.#pauseAt(name, now => this.#timetable.next(schedule, now))
  }

  /** Starts a run now, regardless of the rule. The same key finds the same run. */
  async run(name: string, key: string): Promise<string> {
    const schedule = this.#find(name)
    await this.#begin()
    const id = await this.#parts.start(schedule, { key: `by-hand:${key}` })
    await this.#parts.store.write(tx => noteRun(tx, name, id))
    return id
  }

  /** Schedules the check of due ticks after a server or an object has started. */
  async wake(): Promise<void> {
    await this.#begin()
    const { due, soonest } = await this.#parts.store.read(tx => readDue(tx, 1))
    if (due.length > 0) await this.#parts.wakeBy(Date.now())
    else if (soonest !== undefined) await this.#parts.wakeBy(soonest)
  }

  async #pauseAt(name: string, nextAt: (now: number) => number | undefined): Promise<KnownSchedules> {
    this.#find(name)
    await this.#begin()
    const now = await this.#parts.store.read(tx => tx.now)
    const at = nextAt(now)
    const kept = await this.#parts.store.write(tx => pauseAt(tx, name, at))
    if (at !== undefined) await this.#parts.wakeBy(Date.now() + at - now)
    return [[name, kept]]
  }

  #find(name: string): Schedule {
    const schedule = this.#byName.get(name)
    if (schedule !== undefined) return schedule
    throw new ServableError('not_found', 'There is no schedule of that name')
  }

  /** Decides about a due schedule. Undefined for one that only other code knows. */
  #wantOf({ name, kept }: Due, now: number): Want | undefined {
    const schedule = this.#byName.get(name)
    if (schedule?.cron !== kept.cron || schedule.timezone !== kept.timezone) return undefined
    const { claim, nextAt } = kept
    const isDue = nextAt !== undefined && nextAt <= now
    const isStarting = claim !== undefined && claim.failures === 0
    if (claim !== undefined && (isStarting || !isDue)) {
      const lostAt = claim.claimedAt + Math.min(LOST_MS, this.#parts.retentionMs)
      if (isDeadly(claim)) return this.#giveUp({ name, seen: kept, isPaused: true }, deadly())
      if (isStarting && now > Math.max(lostAt, claim.until))
        return this.#giveUp({ name, seen: kept, nextAt }, lost())
      return { name, seen: kept, tickAt: claim.tickAt, nextAt }
    }
    if (!isDue) return undefined
    const isSkipped = schedule.missed === 'skip' && nextAt < now - MISSED_MS
    const tickAt = isSkipped ? undefined : nextAt
    return { name, seen: kept, tickAt, nextAt: this.#timetable.next(schedule, now) }
  }

  /** Skips a tick that is given up. */
  #giveUp(want: Pick<Want, 'name' | 'seen' | 'isPaused'> & Partial<Want>, error: ServableError): Want {
    this.#parts.onFailure(want.name, error)
    const { code, message } = error
    return { nextAt: undefined, ...want, tickAt: undefined, error: { code, message } }
  }

  async #start({ name, tickAt = 0, seen }: Want): Promise<TickOutcome> {
    try {
      const runId = await this.#parts.start(this.#find(name), { key: String(tickAt), tickAt })
      return { name, tickAt, runId }
    } catch (error) {
      const isFirst = seen.claim?.tickAt !== tickAt || seen.claim.failures === 0
      if (isFirst) this.#parts.onFailure(name, error)
      const { code, message } = reportError(error, true, 'internal_error')
      return { name, tickAt, error: { code, message } }
    }
  }

  /** Brings stored schedules in line with the code before the first check. */
  #begin(): Promise<void> {
    this.#ready ??= this.#adopt().catch(error => {
      this.#ready = undefined
      throw error
    })
    return this.#ready
  }

  /** Brings stored schedules in line with the code. It runs once per version of the code, since it reads all schedules. */
  async #adopt(): Promise<void> {
    const { store, schedules } = this.#parts
    const code = await sha256(
      JSON.stringify(schedules.map(({ name, cron, timezone }) => [name, cron, timezone])),
    )
    const { now, known } = await store.read(tx => ({ now: tx.now, known: codeOf(tx) }))
    this.#readyAt = now
    if (known === code) return
    const current = new Set<string>()
    const gone: string[] = []
    let page: Awaited<ReturnType<typeof pageOf>> = []
    do {
      const last = page.at(-1)
      page = await store.read(tx => pageOf(tx, last, WRITTEN_AT_ONCE))
      for (const { id, value } of page) {
        const schedule = this.#byName.get(id)
        if (schedule === undefined) gone.push(id)
        else if (schedule.cron === value.cron && schedule.timezone === value.timezone) current.add(id)
      }
    } while (page.length === WRITTEN_AT_ONCE)
    for (const names of chunks(gone)) await store.write(tx => dropRules(tx, names))
    for (const some of chunks(schedules.filter(({ name }) => !current.has(name)))) {
      const rules = some.map(each => ({ ...each, nextAt: this.#timetable.next(each, now) }))
      await store.write(tx => putRules(tx, rules))
      await breathe()
    }
    await store.write(tx => putCode(tx, code))
  }
}

function lost(): ServableError {
  return new ServableError(
    'interrupted',
    'Whoever was to start the run has ended, too long ago to know whether it did',
  )
}

function deadly(): ServableError {
  const text = `The server stopped ${MAX_DEATHS} times in a row while it started the run. The schedule is paused: find out why, then resume it`
  return new ServableError('interrupted', text)
}

function* chunks<T>(items: readonly T[]): Generator<readonly T[]> {
  for (let at = 0; at < items.length; at += WRITTEN_AT_ONCE) yield items.slice(at, at + WRITTEN_AT_ONCE)
}
