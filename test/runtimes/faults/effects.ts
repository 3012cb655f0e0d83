/** What servers do that nothing takes back, and what runs take for done. */
import process from 'node:process'

/** Something that was done: a step, a call of a tool, or an answer of a model. */
export interface Done {
  /** The same each time that it is done. */
  readonly key: string
  /** Another one each time. */
  readonly value: number
}

/** That it was done, in which of the processes. */
export interface FaultEffect extends Done {
  readonly name: string
  readonly generation: number
  /** When it began, and when it was written, by {@link clock}. */
  readonly began: number
  readonly at: number
}

/** Milliseconds by a clock that all processes of the machine share. Nothing moves it. */
export const clock = (): number => Number(process.hrtime.bigint()) / 1e6

/** A time in which a process was not there, or could not keep its lease. A killed one has no end of it. */
export interface Absence {
  /** Absent for all processes. */
  readonly generation?: number
  readonly from: number
  readonly to: number
}

/** Milliseconds after which others may take over what a process has: below the 6 seconds of a lease, as the last renewal is older. */
const LEASE_MS = 3500

/** Milliseconds for which a process that is there again may go on with what it had at hand. */
const SLACK_MS = 2000

/** Milliseconds between two outages of the database within which no process may have renewed its lease. */
const NEXT_MS = 1500

/** When each process was away. */
export class Absences {
  readonly #all: Absence[] = []
  /** The last outage of the database, with those right before it. */
  #outage: { readonly from: number; readonly to: number } | undefined

  add(absence: Absence): void {
    if (absence.to - absence.from >= LEASE_MS) this.#all.push(absence)
  }

  /** Notes that no process could renew its lease. */
  addOutage(from: number, to: number): void {
    const last = this.#outage
    this.#outage = { from: last && from - last.to < NEXT_MS ? last.from : from, to }
    this.add(this.#outage)
  }

  /** Whether a process may have lost its work between two times. */
  hasLost(generation: number, since: number, until: number): boolean {
    return this.#of(generation).some(({ from, to }) => from <= until && to + SLACK_MS >= since)
  }

  /** Whether a process did something at that time that it had begun before it was away. */
  isLate(generation: number, at: number): boolean {
    return this.#of(generation).some(({ from, to }) => from <= at && at <= to + SLACK_MS)
  }

  #of(generation: number): readonly Absence[] {
    return this.#all.filter(each => each.generation === undefined || each.generation === generation)
  }
}
