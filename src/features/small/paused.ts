/**
 * What is paused: one document of the state, and what this process knows of it.
 *
 * @module
 */

import { ServableError } from '../../base/errors.ts'
import { within } from '../../base/wake.ts'
import type { CoreSettings } from '../../core/options.ts'
import { type Keeping, type KeptReader, type KeptWriter, keeping } from '../../core/plugin-store.ts'
import type { Calls, CallTransactions } from '../../core/transaction-calls.ts'
import type { Catalog } from '../../http/catalog.ts'
import { logThrown } from '../../http/failure-log.ts'
import type { Brake, Paused, PausedTarget } from '../../runs/brake.ts'
import type { Target } from '../../runs/target.ts'

/** The name of the plugin, the collection and id of its document, and the address of its object. */
export const NAME = 'pausing'

/** Milliseconds for which an answer of a state outside this machine is used. */
const FRESH_MS = 2000

/** Milliseconds that a start waits for the state. After that the last known answer holds. */
const PATIENCE_MS = 2000

/** Most paused targets, served or not. */
const MAX_PAUSED = 1000

type Named = Pick<Target, 'kind' | 'name'>

const isOf =
  ({ kind, name }: Named) =>
  (entry: Named) =>
    entry.kind === kind && entry.name === name

/** The transactions over the document. */
interface Works {
  readonly reads: { readonly all: (kept: KeptReader) => readonly PausedTarget[] }
  readonly writes: {
    /** Pauses a target, or changes its reason. Returns the list. Throws `state_full`. */
    readonly pause: (kept: KeptWriter, entry: PausedTarget) => readonly PausedTarget[]
    /** Resumes a target. Returns the list, and whether the target was paused. */
    readonly resume: (
      kept: KeptWriter,
      named: Named,
    ) => { readonly all: readonly PausedTarget[]; readonly was: boolean }
  }
}

/** The data of the plugin. */
export const KEPT: Keeping<Works> = keeping({
  reads: { all: listIn },
  writes: {
    pause(kept, entry) {
      const others = listIn(kept).filter(other => !isOf(entry)(other))
      if (others.length >= MAX_PAUSED)
        throw new ServableError('state_full', `${MAX_PAUSED} are paused already: resume some`)
      return put(kept, [...others, entry])
    },
    resume(kept, named) {
      const before = listIn(kept)
      const all = before.filter(other => !isOf(named)(other))
      const was = all.length < before.length
      return { all: was ? put(kept, all) : all, was }
    },
  },
} satisfies Works)

function listIn(kept: KeptReader): readonly PausedTarget[] {
  return kept.get<readonly PausedTarget[]>(NAME, NAME) ?? []
}

function put(kept: KeptWriter, all: readonly PausedTarget[]): readonly PausedTarget[] {
  kept.put(NAME, NAME, all)
  return all
}

/** What a handler knows of what is paused. */
export class Brakes implements Brake {
  readonly #calls: Calls<Works, string>
  readonly #settings: Pick<CoreSettings, 'log'>
  readonly #catalog: Catalog
  readonly #isNear: boolean
  #all: readonly PausedTarget[] | undefined
  /** When the last answer was asked for. */
  #askedAt = Number.NEGATIVE_INFINITY
  /** Changes that were made here. An answer that was asked for before one is stale. */
  #changes = 0
  #hasFailed = false

  constructor(settings: CoreSettings, callTransactions: CallTransactions, catalog: Catalog) {
    const { state } = settings
    this.#calls = KEPT.calls(callTransactions, NAME)
    this.#settings = settings
    this.#catalog = catalog
    this.#isNear = state.kind === 'local' && state.store.isRemote !== true
  }

  async known(): Promise<Paused> {
    // While one caller asks again, others use the last answer. Without one, each asks.
    if (this.#isNear || performance.now() - this.#askedAt >= FRESH_MS) await this.#ask()
    const all = this.#all ?? []
    return { all, find: target => (all.length === 0 ? undefined : this.#find(all, target)) }
  }

  /** What is paused now. Rejects if the state cannot be reached. */
  list(): Promise<readonly PausedTarget[]> {
    return this.#calls.all(NAME)
  }

  async pause(entry: PausedTarget): Promise<void> {
    this.#know(await this.#calls.pause(NAME, entry))
  }

  /** Returns whether it was paused. */
  async resume(named: Named): Promise<boolean> {
    const { all, was } = await this.#calls.resume(NAME, named)
    this.#know(all)
    return was
  }

  #know(all: readonly PausedTarget[]): void {
    this.#changes++
    this.#all = all
    this.#askedAt = performance.now()
  }

  async #ask(): Promise<void> {
    const changes = this.#changes
    if (this.#all !== undefined) this.#askedAt = performance.now()
    try {
      const read = () => this.#calls.all(NAME)
      const all = await (this.#isNear ? read() : within(PATIENCE_MS, 'The state', read))
      this.#hasFailed = false
      if (changes !== this.#changes) return
      this.#all = all
      this.#askedAt = performance.now()
    } catch (error) {
      this.#askedAt = performance.now()
      // Once, until the state answers again.
      if (!this.#hasFailed) logThrown(this.#settings.log, { event: 'pausing.failed' }, error)
      this.#hasFailed = true
    }
  }

  /** A part with names of its own may serve the same servable under another name. */
  #find(all: readonly PausedTarget[], target: Target): PausedTarget | undefined {
    const byName = target.scope === undefined ? all.find(isOf(target)) : undefined
    return (
      byName ?? all.find(({ kind, name }) => this.#catalog.find(kind, name)?.servable === target.servable)
    )
  }
}
