/**
 * Tracks which processes are alive. Each process renews a row, by the database's clock. A process that finds an overdue row marks
 * it as suspected. A process that finds it suspected for a while marks it as gone, permanently and for all. So after an outage of
 * the database, every process has time to renew its row.
 *
 * @module
 */

import { unrefed } from '../../base/wake.ts'
import type { PostgresDriver } from './driver.ts'

/** The times of a lease. */
export interface LeaseTimes {
  /** Milliseconds between two renewals. */
  readonly renewMs: number
  /** Milliseconds without a renewal after which a process may count as gone. It is suspected after two thirds of them. */
  readonly leaseMs: number
}

const TIMES: LeaseTimes = { renewMs: 1000, leaseMs: 6000 }

/** Milliseconds for which the name of a gone process is remembered. */
const REMEMBER_MS = 30 * 24 * 60 * 60 * 1000

/**
 * Milliseconds between two reads of all names that are gone. Other reads get only the recent ones. A full read also drops
 * forgotten names.
 */
const READ_ALL_EVERY_MS = 60 * 60 * 1000

/** Milliseconds within which a name that is marked as gone becomes visible to others. */
const OVERLAP_MS = 60_000

/** Milliseconds that an ending process waits for the write that ends its lease. */
const END_MS = 2000

/** Milliseconds between two deletions of old commits, and the age of a commit that is deleted. */
const FORGET_EVERY_MS = 30_000
const COMMIT_MS = 10 * 60 * 1000

/** The lease of this process, and the known state of the others. */
export class Leases {
  instance: string = crypto.randomUUID()
  readonly #driver: PostgresDriver
  readonly #workers: string
  readonly #commits: string
  readonly #times: LeaseTimes
  readonly #onLost: (() => void)[] = []
  readonly #onLate: (() => void)[] = []
  readonly #onRenewed: (() => void)[] = []
  readonly #gone = new Set<string>()
  /** The time of the last full read of the names that are gone. */
  #readAt = Number.NEGATIVE_INFINITY
  #timer: ReturnType<typeof setTimeout> | undefined
  #renewing: Promise<void> | undefined
  /** The last renewal by two clocks of this process, since one of them may stop while the process is frozen. */
  #renewedAt = 0
  #renewedOn = 0
  #forgottenAt = 0
  #isLate = false
  #isOver = false

  constructor(driver: PostgresDriver, s: string, times: LeaseTimes = TIMES) {
    this.#driver = driver
    this.#times = times
    this.#workers = `${s}.workers`
    this.#commits = `${s}.commits`
  }

  /** Takes the lease, and renews it from now on. */
  async begin(): Promise<void> {
    this.#isOver = false
    this.#readAt = Number.NEGATIVE_INFINITY
    const [began, beganOn] = [performance.now(), Date.now()]
    await this.#take(this.instance)
    this.#renewedAt = began
    this.#renewedOn = beganOn
    await this.#renew()
    this.#schedule()
  }

  /**
   * Renews a lease that others may suspect already, for example after the process was frozen. Nothing may be written under a name
   * that counts as gone.
   */
  async fresh(): Promise<void> {
    if (this.#isAged) await this.#renew()
    // The renewal may have been sent before the process was frozen.
    if (this.#isAged) await this.#renew()
  }

  get #isAged(): boolean {
    return this.#ageMs >= (this.#times.leaseMs * 2) / 3
  }

  /** Milliseconds since the last renewal. */
  get #ageMs(): number {
    return Math.max(performance.now() - this.#renewedAt, Date.now() - this.#renewedOn)
  }

  /** A name that is not known yet may have begun a moment ago. */
  isAlive(instance: string): boolean {
    return instance === this.instance || !this.#gone.has(instance)
  }

  /** Calls `wake` when others have marked this process as gone. It has a new name then. */
  onLost(wake: () => void): void {
    this.#onLost.push(wake)
  }

  /** Calls `wake` when the lease could not be renewed in time, so that others may mark this process as gone. */
  onLate(wake: () => void): void {
    this.#onLate.push(wake)
  }

  /** Calls `wake` after each renewal. */
  onRenewed(wake: () => void): void {
    this.#onRenewed.push(wake)
  }

  /** Ends the lease, so that others know that this process is gone. It may begin again under another name. */
  async end(): Promise<void> {
    this.#isOver = true
    clearTimeout(this.#timer)
    await this.#renewing?.catch(() => {})
    const { instance } = this
    this.#rename(crypto.randomUUID())
    const gone = `UPDATE ${this.#workers} SET gone = clock_timestamp() WHERE instance = $1::text`
    await this.#driver.query(gone, [instance], { timeoutMs: END_MS })
  }

  #schedule(): void {
    if (this.#isOver) return
    this.#timer = unrefed(
      setTimeout(() => {
        // A failed renewal is repeated: a lease lasts for several renewals.
        void this.#renew().then(
          () => this.#schedule(),
          () => {
            this.#tellLate()
            this.#schedule()
          },
        )
      }, this.#times.renewMs),
    )
  }

  /** Only one renewal is sent at a time. */
  #renew(): Promise<void> {
    this.#renewing ??= this.#renewNow().finally(() => {
      this.#renewing = undefined
    })
    return this.#renewing
  }

  async #renewNow(): Promise<void> {
    const { leaseMs, renewMs } = this.#times
    const [asked, askedOn] = [performance.now(), Date.now()]
    const isWhole = asked - this.#readAt >= READ_ALL_EVERY_MS
    const sinceMs = isWhole ? REMEMBER_MS : this.#ageMs + OVERLAP_MS
    const rows = await this.#driver.query(
      `WITH renewed AS (
        UPDATE ${this.#workers} SET seen = clock_timestamp(), suspected = NULL
          WHERE instance = $1::text AND gone IS NULL RETURNING instance
      ), lost AS (
        UPDATE ${this.#workers} SET gone = clock_timestamp()
          WHERE gone IS NULL AND instance <> $1::text AND suspected < clock_timestamp() - $3::float8 * interval '1 millisecond'
          RETURNING instance
      ), suspects AS (
        UPDATE ${this.#workers} SET suspected = clock_timestamp()
          WHERE gone IS NULL AND instance <> $1::text AND suspected IS NULL
            AND seen < clock_timestamp() - $2::float8 * interval '1 millisecond'
      ), forgotten AS (
        DELETE FROM ${this.#workers} WHERE gone < clock_timestamp() - $4::float8 * interval '1 millisecond'
      )
      SELECT instance, true AS own FROM renewed
      UNION ALL SELECT instance, false FROM lost
      UNION ALL SELECT instance, false FROM ${this.#workers}
        WHERE gone > clock_timestamp() - $5::float8 * interval '1 millisecond'`,
      [this.instance, (leaseMs * 2) / 3, leaseMs / 3, REMEMBER_MS, sinceMs],
      { isOften: true, timeoutMs: Math.max(renewMs * 2, leaseMs / 2) },
    )
    if (isWhole) {
      this.#readAt = asked
      this.#gone.clear()
    }
    for (const { own, instance } of rows) if (own !== true) this.#gone.add(String(instance))
    if (!rows.some(({ own }) => own === true) && !this.#isOver) await this.#lose()
    // Set only now: a writer that waits for the lease must not write under the lost name.
    this.#renewedAt = asked
    this.#renewedOn = askedOn
    this.#isLate = false
    for (const wake of this.#onRenewed) wake()
    void this.#forgetCommits(asked).catch(() => {})
  }

  /** Continues under another name after others have marked this process as gone. */
  async #lose(): Promise<void> {
    // Only a name with a row can be found to be gone, so no work begins under a name without one.
    const next = crypto.randomUUID()
    await this.#take(next)
    this.#rename(next)
    for (const wake of this.#onLost) wake()
  }

  #rename(next: string): void {
    this.#gone.add(this.instance)
    this.instance = next
  }

  #tellLate(): void {
    if (this.#isLate || performance.now() - this.#renewedAt <= this.#times.leaseMs) return
    this.#isLate = true
    for (const wake of this.#onLate) wake()
  }

  /** One process does it at a time. Commits are repeated for some seconds only. */
  async #forgetCommits(now: number): Promise<void> {
    if (now - this.#forgottenAt < FORGET_EVERY_MS) return
    this.#forgottenAt = now
    await this.#driver.query(
      `DELETE FROM ${this.#commits} WHERE (SELECT pg_try_advisory_xact_lock(hashtextextended($2::text, 0)))
        AND at < clock_timestamp() - $1::float8 * interval '1 millisecond'`,
      [COMMIT_MS, this.#commits],
    )
  }

  /** Writes the row of a name. The row may exist already, if its answer was lost. */
  async #take(instance: string): Promise<void> {
    const values = '($1::text, clock_timestamp()) ON CONFLICT (instance) DO NOTHING'
    await this.#driver.query(`INSERT INTO ${this.#workers} (instance, seen) VALUES ${values}`, [instance])
  }
}
