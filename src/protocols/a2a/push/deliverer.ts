/**
 * Sends push notifications of tasks. A receiver gets them in the order of the task's log.
 *
 * @module
 */

import type { Wake } from '../../../base/wake.ts'
import {
  type DelivererOptions as AnyDelivererOptions,
  type Mail,
  type Next,
  Deliverer as NoticeDeliverer,
} from '../../../features/webhooks/delivery/deliverer.ts'
import type { Receiver } from '../../../features/webhooks/delivery/lanes.ts'
import { LOOK_AGAIN_MS } from '../../../features/webhooks/delivery/queue.ts'
import type { Delivery } from '../../../features/webhooks/delivery/sender.ts'
import type { Transaction } from '../../../stores/store.ts'
import { type StoredTask, TASKS } from '../tasks/task-record.ts'
import { TaskViews } from '../tasks/task-views.ts'
import { type KeptPush, PUSHES } from './kept.ts'
import { type Notice, nextNotice } from './notice.ts'

/** An agent that is working on a task. */
export interface Growing {
  /** Fires when there is a new log entry, and when the agent ends. */
  readonly changed: Wake
  /** False until it is certain that the message becomes a task and not a bare message. */
  readonly isTask: boolean
}

/** What a deliverer needs. */
export interface PushDelivererOptions extends Omit<AnyDelivererOptions<KeptPush, Notice>, 'mail'> {
  /** Returns the working agent of a task. Undefined if none works in this process. */
  readonly growing: (taskId: string) => Growing | undefined
}

/** Sends the notifications of a store. The groups of its queue are tasks. */
export class PushDeliverer extends NoticeDeliverer<KeptPush, Notice> {
  constructor({ growing, ...options }: PushDelivererOptions) {
    super({ ...options, mail: new TaskMail(growing) })
  }
}

/** Makes the notices of a receiver from the log of its task. */
class TaskMail implements Mail<KeptPush, Notice> {
  readonly queue = PUSHES
  readonly #growing: PushDelivererOptions['growing']
  /** The content of tasks for receivers that get whole tasks, by the generation of their config. */
  readonly #views = new TaskViews()

  constructor(growing: PushDelivererOptions['growing']) {
    this.#growing = growing
  }

  receiverOf({ config: { url }, client, failures }: KeptPush): Receiver {
    return { url, client, failures }
  }

  /** Makes the request of a notice for the receiver of a config, with the token and credentials that the client gave. */
  deliveryOf({ taskId, config }: KeptPush, { seq, body, contentType }: Notice): Delivery {
    const { id, url, token, scheme, credentials, version } = config
    return {
      url,
      id: `${taskId}.${encoded(id)}.${seq}`,
      body,
      headers: {
        'content-type': contentType,
        'a2a-version': version,
        ...(token !== undefined && { 'x-a2a-notification-token': token }),
        ...(scheme !== undefined && { authorization: [scheme, credentials].filter(Boolean).join(' ') }),
      },
    }
  }

  seenOf({ seq }: KeptPush, taken?: Notice): number {
    return taken?.seq ?? seq
  }

  next(tx: Transaction, kept: KeptPush, seen: number): Next<KeptPush, Notice> {
    const { taskId } = kept
    const task = tx.get<StoredTask>(TASKS, taskId)?.value
    if (task === undefined) return { act: 'stop' }
    const growing = this.#growing(taskId)
    const from = Math.max(seen, kept.seq)
    const notice = growing?.isTask === false ? from : nextNotice(tx, kept, { task, from, views: this.#views })
    if (typeof notice !== 'number') return { act: 'tell', notice }
    // The worker waits for the agent. If the lease ends meanwhile, any other worker may continue.
    if (growing !== undefined) return { act: 'wait', changed: growing.changed.wait(), seen: notice }
    // The agent works in another process, so the log is read again later.
    const dueAt = task.isAtWork ? Date.now() + LOOK_AGAIN_MS : undefined
    return { act: 'rest', kept: { ...kept, seq: notice }, dueAt }
  }

  sending(kept: KeptPush, { seq }: Notice): KeptPush {
    return { ...kept, upTo: seq }
  }

  taken(kept: KeptPush, { seq }: Notice): KeptPush {
    return { ...kept, seq, upTo: undefined }
  }

  chosen({ generation }: KeptPush, { gathering }: Notice): void {
    if (gathering !== undefined) this.#views.hold(generation, gathering)
  }

  forget({ generation }: KeptPush): void {
    this.#views.forget(generation)
  }
}

/** A client's id, encoded for use in a header and between dots. */
function encoded(id: string): string {
  return encodeURIComponent(id.toWellFormed()).replaceAll('.', '%2E')
}
