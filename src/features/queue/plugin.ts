/**
 * A queue of background runs as a plugin: the entry `servable/queue`.
 *
 * @module
 */

import * as v from 'valibot'
import { checkOptions, count, func } from '../../base/schemas.ts'
import { createWake } from '../../base/wake.ts'
import { asPlugin, type Core } from '../../core/built-in.ts'
import type { ObjectService, Seat } from '../../core/hosted.ts'
import { stateFor } from '../../core/no-state.ts'
import { objectServiceOf } from '../../core/object-service.ts'
import type { Plugin } from '../../core/plugin.ts'
import { type QueuedRun, QueueHost } from './host.ts'
import { LINE_TRANSACTIONS, NAME } from './line.ts'

export type { QueuedRun } from './host.ts'

/** How many background runs wait, and in which order. */
export interface QueueOptions {
  /** Most runs that wait. One more is answered 429 (`too_many_runs`). Default: 1,000. */
  readonly maxQueued?: number | undefined
  /** Most runs of one client that wait, of each priority: 1 to 100. Default: 100. */
  readonly maxQueuedPerOwner?: number | undefined
  /**
   * The priority of a run: 0 to 9, rounded to a whole number. Runs of a higher one start first. Within one priority clients take turns.
   * Default: 0 for all.
   */
  readonly priorityOf?: ((run: QueuedRun) => number) | undefined
}

const OptionsSchema = v.strictObject({
  maxQueued: v.optional(v.pipe(count, v.maxValue(100_000, 'must be 100,000 or less'))),
  maxQueuedPerOwner: v.optional(v.pipe(count, v.maxValue(100, 'must be 100 or less'))),
  priorityOf: v.optional(func),
})

/**
 * Lets background runs wait where `maxRunning` or `maxRunningPerOwner` are at work, in place of 429 (`too_many_runs`). They have the
 * status `queued`, and start when places become free. Needs a state. Throws `invalid_options`.
 */
export function queue(options: QueueOptions = {}): Plugin {
  checkOptions(NAME, OptionsSchema, options)
  const { maxQueued = 1000, maxQueuedPerOwner = 100, priorityOf } = options
  const bounds = { maxQueued, maxQueuedPerClient: maxQueuedPerOwner, priorityOf }
  return asPlugin({
    name: NAME,
    host(inner, { runs, settings, callTransactions }) {
      const state = stateFor(NAME, settings.state)
      const where =
        state.kind === 'local'
          ? { changed: createWake() }
          : { changed: undefined, waitUntil: (work: Promise<unknown>) => state.waitUntil(work) }
      return new QueueHost(inner, { runs, callTransactions, log: settings.log, settings: bounds, ...where })
    },
    objectServices: { index: createLineKeeper },
    mount: core => ({
      forget: async ({ owner, session, cancels = false }) =>
        hostOf(core)?.forget(owner, session, cancels) ?? false,
      begin: () => core.life.whileServing(() => hostOf(core)?.starter.serve() ?? (() => {})),
    }),
  })
}

function hostOf({ host }: Pick<Core, 'host'>): QueueHost | undefined {
  return host instanceof QueueHost ? host : undefined
}

/** Milliseconds after which an object looks at what waits, whoever was to start it. */
const LOOK_MS = 30_000

/** In an object: the same transactions, and an alarm that starts what nobody else has. */
function createLineKeeper(seat: Seat, core: Core): ObjectService {
  const keeper = objectServiceOf(seat, LINE_TRANSACTIONS)
  const count = () => seat.store.read(tx => LINE_TRANSACTIONS.reads.count(tx))
  return {
    ...keeper,
    async ask(method, args) {
      const answer = await keeper.ask(method, args)
      if (method === 'add') await seat.wakeBy(Date.now() + LOOK_MS)
      return answer
    },
    async alarm() {
      await keeper.alarm?.()
      await core.host.onFree?.()
      if (count() > 0) await seat.wakeBy(Date.now() + LOOK_MS)
    },
  }
}
