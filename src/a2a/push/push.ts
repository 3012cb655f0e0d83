/**
 * Push notifications of the tasks of a store: their configs, and telling the receivers.
 *
 * @module
 */

import { nameResolver } from '../../environment.ts'
import type { Reader, Transaction } from '../../state/store.ts'
import type { PushChange, PushConfig, PushLook } from './config.ts'
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
  /** Changes what a client asks to; `seqNow` is the last entry that a new receiver is not told of. */
  change(tx: Transaction, request: PushChange, seqNow: () => number): PushConfig[]
  /** Looks at what a client asks for. */
  look(tx: Reader, request: PushLook): PushConfig[]
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
    change(tx, request, seqNow) {
      const { taskId } = request
      if (request.act === 'delete') {
        deletePush(tx, taskId, request.id)
        return []
      }
      const config = { ...request.config, id: request.config.id ?? taskId }
      const { client } = request
      return [addPush(tx, taskId, config, { seq: seqNow(), max: settings.maxConfigs, client }).config]
    },
    look(tx, request) {
      const { taskId } = request
      if (request.act === 'get') return [readPush(tx, taskId, request.id).config]
      return readPushes(tx, taskId).map(({ config }) => config)
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
