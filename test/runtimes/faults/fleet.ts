/** Processes over one database, which are killed and frozen, and whose clocks differ. */
import { existsSync } from 'node:fs'
import process from 'node:process'
import { setTimeout as pause } from 'node:timers/promises'
import { type Runtime, startNode } from '../harness.ts'
import { type Absences, clock } from './effects.ts'

const ENTRY = 'test/runtimes/entries/faults-server.ts'

/** It moves all clocks of a process. Without it, the entry moves the one of JavaScript. */
const FAKETIME = '/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1'

/** Most tries to start a process. */
const MAX_TRIES = 20

/** A place in the fleet, where one process follows another. */
interface Place {
  readonly skewMs: number
  generation: number
  runtime: Runtime | undefined
  isFrozen: boolean
}

export interface FleetOptions {
  readonly env: Readonly<Record<string, string>>
  /** By how much the clock of each place is wrong. */
  readonly skews: readonly number[]
  readonly absences: Absences
}

/** The environment of a process whose clock is wrong. */
function skewed(skewMs: number): Record<string, string> {
  if (skewMs === 0) return {}
  if (!existsSync(FAKETIME)) return { SKEW_MS: `${skewMs}` }
  const offset = `${skewMs > 0 ? '+' : ''}${skewMs / 1000}s`
  // One that is killed would leave its shared memory behind.
  const own = { FAKETIME_DISABLE_SHM: '1', FAKETIME_DONT_FAKE_MONOTONIC: '1' }
  return { LD_PRELOAD: FAKETIME, FAKETIME: offset, ...own }
}

let generations = 0

export class Fleet {
  readonly #options: FleetOptions
  readonly #places: readonly Place[]
  /** Which process was last asked. */
  #turn = 0

  constructor(options: FleetOptions) {
    this.#options = options
    this.#places = options.skews.map(skewMs => ({
      skewMs,
      generation: 0,
      runtime: undefined,
      isFrozen: false,
    }))
  }

  async begin(): Promise<void> {
    await Promise.all(this.#places.map(place => this.#start(place)))
  }

  /** The address of a process: a place, or of the next one. One that is frozen has one too. */
  url(place: number = this.#turn++): string {
    const there = this.#places.filter(({ runtime }) => runtime !== undefined)
    return there[place % there.length]?.runtime?.url ?? 'http://127.0.0.1:1'
  }

  /** Kills a process, and starts the next one some time later. */
  async kill(random: () => number): Promise<void> {
    const place = this.#pick(random)
    if (place === undefined) return
    const { runtime, generation } = place
    place.runtime = undefined
    // Its end may be noticed late.
    this.#options.absences.add({ generation, from: clock(), to: Number.POSITIVE_INFINITY })
    await runtime?.kill()
    await pause(random() * 2000)
    await this.#start(place)
  }

  /** Freezes a process for a time. */
  async freeze(random: () => number, ms: number): Promise<void> {
    const place = this.#pick(random)
    if (place?.runtime === undefined) return
    const { runtime, generation } = place
    place.isFrozen = true
    const from = clock()
    process.kill(runtime.pid, 'SIGSTOP')
    await pause(ms)
    process.kill(runtime.pid, 'SIGCONT')
    place.isFrozen = false
    this.#options.absences.add({ generation, from, to: clock() })
  }

  /** Ends all. None may be frozen. */
  async stop(): Promise<void> {
    await Promise.all(this.#places.map(({ runtime }) => runtime?.kill()))
  }

  /** What the processes have printed beside their addresses. */
  logs(): string[] {
    return this.#places.flatMap(({ runtime }) => runtime?.log().split('\n').slice(1).filter(Boolean) ?? [])
  }

  /** A process that is there. One always stays. */
  #pick(random: () => number): Place | undefined {
    const there = this.#places.filter(({ runtime, isFrozen }) => runtime !== undefined && !isFrozen)
    return there.length < 2 ? undefined : there[Math.floor(random() * there.length)]
  }

  async #start(place: Place): Promise<void> {
    const generation = ++generations
    const env = { ...this.#options.env, ...skewed(place.skewMs), GENERATION: `${generation}` }
    place.generation = generation
    // It may end at once while the database is away.
    for (let tries = 1; place.runtime === undefined; tries++) {
      place.runtime = await startNode(ENTRY, { env }).catch(async error => {
        if (tries === MAX_TRIES) throw error
        await pause(500)
        return undefined
      })
    }
  }
}
