/**
 * A queue of background runs as a plugin: the entry `servable/queue`.
 *
 * Begin with `host.ts` (the run host that queues), then `line.ts` (who is next) and `starter.ts`. May import `core` and what is
 * below it, and no other feature.
 *
 * @module
 */

import * as v from 'valibot'
import { checkOptions, count, func } from '../../base/schemas.ts'
import { createWake } from '../../base/wake.ts'
import { asPlugin, type Core } from '../../core/built-in.ts'
import type { ObjectContext, ObjectService } from '../../core/hosted.ts'
import { stateFor } from '../../core/no-state.ts'
import { objectServiceOf } from '../../core/object-service.ts'
import type { Plugin } from '../../core/plugin.ts'
import { type QueuedRun, QueueHost } from './host.ts'
import { LINE_TRANSACTIONS, NAME } from './line.ts'

export type { QueuedRun } from './host.ts'

/** How many background runs wait, and in which order. */
export interface QueueOptions {
  /** Most queued runs. One more is answered 429 (`too_many_runs`). Default: 1,000. */
  readonly maxQueued?: number | undefined
  /** Most queued runs of one client at each priority: 1 to 100. Default: 100. */
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
 * Queues background runs when `maxRunning` or `maxRunningPerOwner` is reached, instead of answering 429 (`too_many_runs`). They
 * have the status `queued`, and start when slots become free. Needs a state. Throws `invalid_options`.
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
    objectServices: { index: createQueueService },
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

/** Milliseconds after which an object checks queued runs, whichever process was to start them. */
const LOOK_MS = 30_000

/** Creates the service in a Durable Object: the same transactions, and an alarm that starts runs that no process has started. */
function createQueueService(context: ObjectContext, core: Core): ObjectService {
  const service = objectServiceOf(context, LINE_TRANSACTIONS)
  const count = () => context.store.read(tx => LINE_TRANSACTIONS.reads.count(tx))
  return {
    ...service,
    async ask(method, args) {
      const answer = await service.ask(method, args)
      if (method === 'add') await context.wakeBy(Date.now() + LOOK_MS)
      return answer
    },
    async alarm() {
      await service.alarm?.()
      await core.host.onFree?.()
      if (count() > 0) await context.wakeBy(Date.now() + LOOK_MS)
    },
  }
}
