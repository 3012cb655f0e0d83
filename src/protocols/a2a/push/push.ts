/**
 * Push notifications for the tasks of a store: their configs and their delivery.
 *
 * @module
 */

import { nameResolver } from '../../../base/environment.ts'
import { createSchedule } from '../../../base/wake.ts'
import { createSender, type Sender } from '../../../features/webhooks/delivery/sender.ts'
import { webhookKey } from '../../../features/webhooks/delivery/webhook.ts'
import type { Reader, Transaction } from '../../../stores/store.ts'
import type { PushSettings } from '../options.ts'
import type { PushChange, PushConfig, PushLook } from './config.ts'
import { PushDeliverer, type PushDelivererOptions } from './deliverer.ts'
import { addPush, deletePush, readPush, readPushes } from './kept.ts'

/** Most receivers of one task. */
const MAX_RECEIVERS = 10

/** What push notifications need. */
export interface CreatePushOptions extends Pick<PushDelivererOptions, 'store' | 'growing'> {
  readonly settings: PushSettings
  readonly onGivenUp: (taskId: string, why: string) => void
  readonly upkeep: Pick<PushDelivererOptions, 'keepAlive' | 'schedule'> | undefined
}

/** Push notifications. */
export interface Push {
  readonly sender: Sender
  readonly deliverer: PushDeliverer
  /** Changes configs. `seqNow` returns the last entry that a new receiver does not get. */
  change(tx: Transaction, request: PushChange, seqNow: () => number): PushConfig[]
  /** Reads configs. */
  look(tx: Reader, request: PushLook): PushConfig[]
}

/** Makes push notifications for a store. Throws `invalid_options`. */
export function createPush({ store, settings, growing, onGivenUp, upkeep }: CreatePushOptions): Push {
  const { allow, secret, timeoutMs } = settings
  const key = secret === undefined ? undefined : webhookKey(secret, 'a2a.push.secret')
  const sender = createSender({ allow, resolve: nameResolver(), key, timeoutMs })
  const deliverer: PushDeliverer = new PushDeliverer({
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
      return [addPush(tx, taskId, config, { seq: seqNow(), max: MAX_RECEIVERS, client }).config]
    },
    look(tx, request) {
      const { taskId } = request
      if (request.act === 'get') return [readPush(tx, taskId, request.id).config]
      return readPushes(tx, taskId).map(({ config }) => config)
    },
  }
}
