/** Faults at random moments: of processes, and of their database. */
import { setTimeout as pause } from 'node:timers/promises'
import type { PostgresDriver } from '../../../src/stores/postgres/driver.ts'
import type { PostgresServer } from '../postgres/server.ts'
import { type Absences, clock } from './effects.ts'
import type { Fleet } from './fleet.ts'

/** What is disturbed. */
export interface Disturbed {
  readonly fleet: Fleet
  readonly database: PostgresServer
  /** Connects to the database without limits of time. */
  readonly admin: PostgresDriver
  readonly absences: Absences
}

export type FaultName =
  | 'kill -9'
  | 'freeze beyond the lease'
  | 'freeze below the lease'
  | 'immediate stop'
  | 'fast stop'
  | 'stop beyond the lease'
  | 'statement_timeout'
  | 'terminated backends'

type Fault = (world: Disturbed, random: () => number) => Promise<unknown>

/** A time from one to another. */
const between = (random: () => number, from: number, to: number) => from + random() * (to - from)

/** Stops the database, and starts it again some time later. */
async function away({ database, absences }: Disturbed, signal: 'SIGQUIT' | 'SIGINT', ms: number) {
  const from = clock()
  await database.down(signal)
  await pause(ms)
  await database.up()
  absences.addOutage(from, clock())
}

async function hurry({ admin, absences }: Disturbed, random: () => number) {
  const from = clock()
  const ms = [1, 2, 5, 20][Math.floor(random() * 4)] ?? 1
  await admin.query(`ALTER SYSTEM SET statement_timeout = ${ms}`, [])
  await admin.query('SELECT pg_reload_conf()', [])
  await pause(between(random, 300, 2000))
  await admin.query('ALTER SYSTEM RESET statement_timeout', [])
  await admin.query('SELECT pg_reload_conf()', [])
  absences.addOutage(from, clock())
}

/** Ends all connections, or about half of them. */
async function terminate({ admin }: Disturbed, random: () => number) {
  const share = random() < 0.5 ? 1 : 0.5
  await admin.query(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE pid <> pg_backend_pid() AND backend_type = 'client backend' AND random() <= $1::float8`,
    [share],
  )
}

/** How often each one comes, and what it does. */
const FAULTS: Readonly<Record<FaultName, readonly [weight: number, fault: Fault]>> = {
  'kill -9': [5, ({ fleet }, random) => fleet.kill(random)],
  'freeze beyond the lease': [
    2,
    ({ fleet }, random) => fleet.freeze(random, between(random, 10_000, 12_000)),
  ],
  'freeze below the lease': [1, ({ fleet }, random) => fleet.freeze(random, between(random, 500, 2500))],
  'immediate stop': [2, (world, random) => away(world, 'SIGQUIT', between(random, 0, 2000))],
  'fast stop': [2, (world, random) => away(world, 'SIGINT', between(random, 0, 2000))],
  'stop beyond the lease': [0.5, (world, random) => away(world, 'SIGQUIT', between(random, 7000, 9000))],
  statement_timeout: [2, hurry],
  'terminated backends': [3, terminate],
}

const NAMES = Object.keys(FAULTS) as FaultName[]

/** Those of the processes. They go on beside others. */
const OF_PROCESSES = new Set<FaultName>(['kill -9', 'freeze beyond the lease', 'freeze below the lease'])

function pick(random: () => number): FaultName {
  let left = random() * NAMES.reduce((sum, name) => sum + FAULTS[name][0], 0)
  for (const name of NAMES) {
    left -= FAULTS[name][0]
    if (left <= 0) return name
  }
  return 'kill -9'
}

/** Counts of faults. */
export type FaultCounts = Record<FaultName, number>

export const noFaults = (): FaultCounts =>
  Object.fromEntries(NAMES.map(name => [name, 0])) as unknown as FaultCounts

/** Disturbs a world until the signal fires, and then waits until all are there again. */
export async function disturb(
  world: Disturbed,
  { random, signal, counts }: { random: () => number; signal: AbortSignal; counts: FaultCounts },
): Promise<void> {
  const open = new Set<Promise<unknown>>()
  while (!signal.aborted) {
    await pause(between(random, 300, 4000), undefined, { signal }).catch(() => {})
    if (signal.aborted) break
    const name = pick(random)
    counts[name]++
    const done = FAULTS[name][1](world, random)
    if (!OF_PROCESSES.has(name)) await done
    open.add(done)
    // Its error is told at the end.
    void done.then(
      () => open.delete(done),
      () => {},
    )
  }
  await Promise.all(open)
}
