/**
 * Notifies this process of the writes of other processes, by `LISTEN`. A commit sends notifications only for logs that another
 * process follows: the column `watched` of the log's row says so. A commit locks that row. So after a process has set `watched`,
 * it can read all earlier commits and gets a notification of every later one.
 *
 * @module
 */

import { unrefed } from '../../base/wake.ts'
import type { LogWatch } from '../store.ts'
import type { PostgresDriver } from './driver.ts'
import { stored } from './text.ts'

/** Seconds for which a log counts as followed, and milliseconds after which that is renewed. */
const WATCH_SECONDS = 15
const RENEW_MS = 5000

/** Milliseconds between two checks of the listening connection, and milliseconds to wait for the answer to one. */
const ALIVE_MS = 2500
const ANSWER_MS = 2500

/** Milliseconds until a lost connection is opened again. */
const AGAIN_MS = 500

/** Opens the connection that listens. */
export type Listen = (listeners: { onNotify(text: string): void; onClose(): void }) => PostgresDriver

/** The parts that {@link Notifications} uses. */
export interface NotificationsOptions {
  readonly driver: PostgresDriver
  readonly listen: Listen
  /** The schema as it appears in statements. The channel has the same name. */
  readonly s: string
}

/** A log that is followed in this process, by its stored name. */
interface WatchedLog {
  readonly wakes: Set<() => void>
  /** Its key in notifications. */
  readonly key: Promise<string>
}

/** The notifications that this process gets. One connection listens for all logs. */
export class Notifications {
  readonly #options: NotificationsOptions
  readonly #watched = new Map<string, WatchedLog>()
  readonly #byKey = new Map<string, WatchedLog>()
  readonly #calls: (() => void)[] = []
  readonly #own: () => string
  #listening: PostgresDriver | undefined
  #isLive = false
  #isOver = false
  #timer: ReturnType<typeof setTimeout> | undefined
  #renewing: ReturnType<typeof setInterval> | undefined

  /** `own` returns the name by which other processes call this one. */
  constructor(options: NotificationsOptions, own: () => string) {
    this.#options = options
    this.#own = own
  }

  onCall(wake: () => void): void {
    this.#calls.push(wake)
  }

  /** Begins to listen, and listens again whenever the connection is lost. Never rejects. */
  begin(): Promise<void> {
    this.#isOver = false
    return this.#listen()
  }

  async #listen(): Promise<void> {
    if (this.#isOver) return
    let driver: PostgresDriver | undefined
    const lost = () => this.#lose(driver)
    driver = this.#options.listen({ onNotify: text => this.#take(text), onClose: lost })
    this.#listening = driver
    try {
      await driver.query(`LISTEN ${this.#options.s}`, [], { timeoutMs: ANSWER_MS })
    } catch {
      return lost()
    }
    if (this.#listening !== driver) return
    this.#isLive = true
    // Notifications were lost meanwhile, so all watchers read their logs.
    this.#ringAll()
    this.#stayAlive(driver, lost)
  }

  async watch(name: string, wake: () => void): Promise<LogWatch> {
    const log = stored(name)
    const watched = this.#watched.get(log) ?? this.#watch(log)
    watched.wakes.add(wake)
    const isLive = () => this.#isLive
    const stop = () => {
      watched.wakes.delete(wake)
      if (watched.wakes.size === 0) void this.#forget(log, watched)
    }
    try {
      await watched.key
    } catch (error) {
      stop()
      throw error
    }
    return {
      get isLive() {
        return isLive()
      },
      stop,
    }
  }

  async end(): Promise<void> {
    this.#isOver = true
    this.#isLive = false
    clearTimeout(this.#timer)
    clearInterval(this.#renewing)
    this.#renewing = undefined
    const listening = this.#listening
    this.#listening = undefined
    await listening?.end()
  }

  #watch(log: string): WatchedLog {
    const { driver, s } = this.#options
    const asked = driver.query(`SELECT ${s}.watch_1($1::text, $2::float8) AS key`, [log, WATCH_SECONDS], {
      isOften: true,
    })
    const key = asked.then(([row]) => String(row?.key))
    const watched: WatchedLog = { wakes: new Set(), key }
    this.#watched.set(log, watched)
    key.then(
      found => {
        if (this.#watched.get(log) === watched) this.#byKey.set(found, watched)
      },
      () => {},
    )
    this.#renewing ??= unrefed(setInterval(() => void this.#renew(), RENEW_MS))
    return watched
  }

  async #forget(log: string, watched: WatchedLog): Promise<void> {
    if (this.#watched.get(log) === watched) this.#watched.delete(log)
    if (this.#watched.size === 0) {
      clearInterval(this.#renewing)
      this.#renewing = undefined
    }
    const key = await watched.key.catch(() => undefined)
    if (key !== undefined && this.#byKey.get(key) === watched) this.#byKey.delete(key)
  }

  async #renew(): Promise<void> {
    const { driver, s } = this.#options
    const logs = JSON.stringify([...this.#watched.keys()])
    try {
      await driver.query(
        `UPDATE ${s}.logs l SET watched = clock_timestamp() + $2::float8 * interval '1 second' FROM (
          SELECT log FROM ${s}.logs WHERE log = ANY(ARRAY(SELECT jsonb_array_elements_text($1::text::jsonb)))
            ORDER BY log FOR NO KEY UPDATE
        ) own WHERE l.log = own.log`,
        [logs, WATCH_SECONDS],
      )
    } catch {
      // It will be renewed next time. Followers read their logs regularly anyway.
    }
  }

  #take(text: string): void {
    if (text === this.#own()) return this.#ringCalls()
    for (const key of text.split(' ')) for (const wake of this.#byKey.get(key)?.wakes ?? []) wake()
  }

  #ringAll(): void {
    for (const { wakes } of this.#watched.values()) for (const wake of wakes) wake()
    this.#ringCalls()
  }

  #ringCalls(): void {
    for (const wake of this.#calls) wake()
  }

  #stayAlive(driver: PostgresDriver, lost: () => void): void {
    if (this.#isOver || this.#listening !== driver) return
    this.#timer = unrefed(
      setTimeout(() => {
        void driver
          .query('SELECT 1', [], { timeoutMs: ANSWER_MS })
          .then(() => this.#stayAlive(driver, lost), lost)
      }, ALIVE_MS),
    )
  }

  #lose(driver: PostgresDriver | undefined): void {
    if (driver === undefined || this.#listening !== driver || this.#isOver) return
    this.#listening = undefined
    this.#isLive = false
    clearTimeout(this.#timer)
    void driver.end().catch(() => {})
    // Watchers read their logs from now on.
    this.#ringAll()
    this.#timer = unrefed(setTimeout(() => void this.#listen(), AGAIN_MS))
  }
}
