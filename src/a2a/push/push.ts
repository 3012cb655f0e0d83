/**
 * Push notifications of the tasks of a store: their configs, and telling the receivers.
 *
 * @module
 */

import { nameResolver } from '../../environment.ts'
import type { Transaction } from '../../state/store.ts'
import type { PushConfig, PushRequest } from './config.ts'
import { Deliverer, type DelivererOptions } from './deliverer.ts'
import { addPush, deletePush, readPush, readPushes } from './kept.ts'
import type { PushSettings } from './options.ts'
import { createSender, type Sender } from './sender.ts'

/** What it needs. */
export interface CreatePushOptions extends Pick<DelivererOptions, 'store' | 'growing'> {
  readonly settings: PushSettings
  readonly onGivenUp: (taskId: string, why: string) => void
  readonly upkeep: Pick<DelivererOptions, 'keepAlive' | 'schedule'> | undefined
}

/** Push notifications. */
export interface Push {
  readonly sender: Sender
  readonly deliverer: Deliverer
  /** Does what a client asks; `seqNow` is the last entry that a new receiver is not told of. */
  perform(tx: Transaction, request: PushRequest, seqNow: () => number): PushConfig[]
}

/** Makes them. Throws `invalid_options`. */
export function createPush({ store, settings, growing, onGivenUp, upkeep }: CreatePushOptions): Push {
  const sender = createSender(settings, nameResolver())
  const deliverer: Deliverer = new Deliverer({
    store,
    settings,
    sender,
    growing,
    onGivenUp: ({ taskId }, why) => onGivenUp(taskId, why),
    ...(upkeep ?? { keepAlive: () => {}, schedule: createSchedule(() => deliverer.sweep()) }),
  })
  return {
    sender,
    deliverer,
    perform(tx, request, seqNow) {
      const { taskId } = request
      switch (request.act) {
        case 'set': {
          const config = { ...request.config, id: request.config.id ?? taskId }
          const { client } = request
          return [addPush(tx, taskId, config, { seq: seqNow(), max: settings.maxConfigs, client }).config]
        }
        case 'get':
          return [readPush(tx, taskId, request.id).config]
        case 'list':
          return readPushes(tx, taskId).map(({ config }) => config)
        case 'delete':
          deletePush(tx, taskId, request.id)
          return []
      }
    },
  }
}

/** Timers hold 31 bits of milliseconds. */
const MAX_TIMER_MS = 2 ** 31 - 1

/** One timer for the soonest moment. */
function createSchedule(work: () => void): (at: number) => void {
  let timer: ReturnType<typeof setTimeout> | undefined
  let timerAt = Number.POSITIVE_INFINITY
  return at => {
    if (at >= timerAt) return
    if (timer !== undefined) clearTimeout(timer)
    timerAt = at
    timer = setTimeout(
      () => {
        timerAt = Number.POSITIVE_INFINITY
        work()
      },
      Math.min(Math.max(0, at - Date.now()), MAX_TIMER_MS),
    )
    // A server that has nothing else to do may end.
    ;(timer as { unref?(): void }).unref?.()
  }
}
