/**
 * Tells this process what others write, by `LISTEN`. A commit notifies only of logs that somebody elsewhere follows: `watched` says so,
 * in the log's row. A commit locks that row. So whoever has written `watched` reads all that was committed before, and hears of
 * all that comes.
 *
 * @module
 */

import { unrefed } from '../../base/wake.ts'
import type { Hearing } from '../store.ts'
import type { PostgresDriver } from './driver.ts'
import { stored } from './text.ts'

/** Seconds for which a log counts as followed, and milliseconds after which that is said again. */
const WATCH_SECONDS = 15
const RENEW_MS = 5000

/** Milliseconds between two signs that the listening connection is alive, and for an answer to one. */
const ALIVE_MS = 2500
const ANSWER_MS = 2500

/** Milliseconds until a connection that was lost is made again. */
const AGAIN_MS = 500

/** Makes the connection that listens. */
export type Listen = (told: { onNotify(text: string): void; onClose(): void }) => PostgresDriver

/** What a bell needs. */
export interface BellOptions {
  readonly driver: PostgresDriver
  readonly listen: Listen
  /** The schema as statements name it. The channel has the same name. */
  readonly s: string
}

/** A log that is followed here, by its name as it is stored. */
interface Heard {
  readonly wakes: Set<() => void>
  /** The word that stands for it in notifications. */
  readonly key: Promise<string>
}

/** See the module's head. */
export class Bell {
  readonly #options: BellOptions
  readonly #heard = new Map<string, Heard>()
  readonly #byKey = new Map<string, Heard>()
  readonly #calls: (() => void)[] = []
  readonly #own: () => string
  #listening: PostgresDriver | undefined
  #isLive = false
  #isOver = false
  #timer: ReturnType<typeof setTimeout> | undefined
  #renewing: ReturnType<typeof setInterval> | undefined

  /** `own` gives the name by which others call this process. */
  constructor(options: BellOptions, own: () => string) {
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
    // What was told meanwhile is lost: all look for themselves.
    this.#ringAll()
    this.#stayAlive(driver, lost)
  }

  async hear(name: string, wake: () => void): Promise<Hearing> {
    const log = stored(name)
    const heard = this.#heard.get(log) ?? this.#watch(log)
    heard.wakes.add(wake)
    const isLive = () => this.#isLive
    const stop = () => {
      heard.wakes.delete(wake)
      if (heard.wakes.size === 0) void this.#forget(log, heard)
    }
    try {
      await heard.key
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

  #watch(log: string): Heard {
    const { driver, s } = this.#options
    const asked = driver.query(`SELECT ${s}.watch_1($1::text, $2::float8) AS key`, [log, WATCH_SECONDS], {
      isOften: true,
    })
    const key = asked.then(([row]) => String(row?.key))
    const heard: Heard = { wakes: new Set(), key }
    this.#heard.set(log, heard)
    key.then(
      word => {
        if (this.#heard.get(log) === heard) this.#byKey.set(word, heard)
      },
      () => {},
    )
    this.#renewing ??= unrefed(setInterval(() => void this.#renew(), RENEW_MS))
    return heard
  }

  async #forget(log: string, heard: Heard): Promise<void> {
    if (this.#heard.get(log) === heard) this.#heard.delete(log)
    if (this.#heard.size === 0) {
      clearInterval(this.#renewing)
      this.#renewing = undefined
    }
    const key = await heard.key.catch(() => undefined)
    if (key !== undefined && this.#byKey.get(key) === heard) this.#byKey.delete(key)
  }

  async #renew(): Promise<void> {
    const { driver, s } = this.#options
    const logs = JSON.stringify([...this.#heard.keys()])
    try {
      await driver.query(
        `UPDATE ${s}.logs l SET watched = clock_timestamp() + $2::float8 * interval '1 second' FROM (
          SELECT log FROM ${s}.logs WHERE log = ANY(ARRAY(SELECT jsonb_array_elements_text($1::text::jsonb)))
            ORDER BY log FOR NO KEY UPDATE
        ) own WHERE l.log = own.log`,
        [logs, WATCH_SECONDS],
      )
    } catch {
      // The next time. Followers read their logs once in a while anyway.
    }
  }

  #take(text: string): void {
    if (text === this.#own()) return this.#ringCalls()
    for (const key of text.split(' ')) for (const wake of this.#byKey.get(key)?.wakes ?? []) wake()
  }

  #ringAll(): void {
    for (const { wakes } of this.#heard.values()) for (const wake of wakes) wake()
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
    // Who waits for a word reads the log from now on.
    this.#ringAll()
    this.#timer = unrefed(setTimeout(() => void this.#listen(), AGAIN_MS))
  }
}
