/**
 * Which processes are alive: each renews a row, by the database's clock. Who finds a row that was not renewed marks it as gone, for
 * all and for good.
 *
 * @module
 */

import type { PostgresDriver } from './driver.ts'

/** How long a lease is. */
export interface LeaseTimes {
  /** Milliseconds between two renewals. */
  readonly renewMs: number
  /** Milliseconds without a renewal after which a process counts as gone. */
  readonly leaseMs: number
}

const TIMES: LeaseTimes = { renewMs: 1500, leaseMs: 6000 }

/** Milliseconds for which the name of a process that is gone is remembered. */
const REMEMBER_MS = 30 * 24 * 60 * 60 * 1000

/** The lease of this process, and what is known of the others. */
export class Leases {
  instance: string = crypto.randomUUID()
  readonly #driver: PostgresDriver
  readonly #workers: string
  readonly #commits: string
  readonly #times: LeaseTimes
  #gone: ReadonlySet<string> = new Set()
  #timer: ReturnType<typeof setTimeout> | undefined
  #isOver = false

  constructor(driver: PostgresDriver, s: string, times: LeaseTimes = TIMES) {
    this.#driver = driver
    this.#times = times
    this.#workers = `${s}.workers`
    this.#commits = `${s}.commits`
  }

  /** Takes the lease, and renews it from now on. */
  async begin(): Promise<void> {
    await this.#take()
    await this.#renew()
    this.#schedule()
  }

  /** A name that nobody has seen yet may have begun a moment ago. */
  isAlive(instance: string): boolean {
    return instance === this.instance || !this.#gone.has(instance)
  }

  async end(): Promise<void> {
    this.#isOver = true
    clearTimeout(this.#timer)
    await this.#driver.query(`UPDATE ${this.#workers} SET gone = true WHERE instance = $1::text`, [
      this.instance,
    ])
  }

  #schedule(): void {
    if (this.#isOver) return
    this.#timer = setTimeout(() => {
      // What fails is tried again: a lease lasts for four renewals.
      void this.#renew().then(
        () => this.#schedule(),
        () => this.#schedule(),
      )
    }, this.#times.renewMs)
    ;(this.#timer as { unref?(): void }).unref?.()
  }

  async #renew(): Promise<void> {
    const rows = await this.#driver.query(
      `WITH renewed AS (
        UPDATE ${this.#workers} SET seen = clock_timestamp() WHERE instance = $1::text AND NOT gone RETURNING instance
      ), lost AS (
        UPDATE ${this.#workers} SET gone = true
          WHERE NOT gone AND instance <> $1::text AND seen < clock_timestamp() - $2::float8 * interval '1 millisecond'
          RETURNING instance
      ), forgotten AS (
        DELETE FROM ${this.#workers} WHERE gone AND seen < clock_timestamp() - $3::float8 * interval '1 millisecond'
      ), known AS (
        DELETE FROM ${this.#commits} WHERE at < clock_timestamp() - interval '1 hour'
      )
      SELECT instance, true AS own FROM renewed
      UNION ALL SELECT instance, false FROM lost
      UNION ALL SELECT instance, false FROM ${this.#workers} WHERE gone`,
      [this.instance, this.#times.leaseMs, REMEMBER_MS],
    )
    this.#gone = new Set(rows.filter(({ own }) => own !== true).map(({ instance }) => String(instance)))
    if (!rows.some(({ own }) => own === true)) await this.#lose()
  }

  /** Others count this process as gone: it goes on under another name. */
  async #lose(): Promise<void> {
    this.instance = crypto.randomUUID()
    await this.#take()
  }

  async #take(): Promise<void> {
    const values = '($1::text, clock_timestamp(), false)'
    await this.#driver.query(`INSERT INTO ${this.#workers} VALUES ${values}`, [this.instance])
  }
}
