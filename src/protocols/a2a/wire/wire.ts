/** The interface of a wire. */

import type {
  GetRequest,
  ListRequest,
  Message,
  SendRequest,
  Task,
  TaskPage,
  TaskRequest,
  TaskUpdate,
} from '../model.ts'
import type { ConfigPage, PushConfig, PushRequest } from '../push/config.ts'

/**
 * One generation of the protocol on one binding. A wire reads requests and writes answers. Its decoders throw
 * `invalid_params` that names the field.
 */
export interface Wire {
  /** The version as cards state it: `1.0`, `0.3`. */
  readonly version: string
  readonly decode: {
    send(params: unknown): SendRequest
    get(params: unknown): GetRequest
    list(params: unknown): ListRequest
    cancel(params: unknown): TaskRequest
    subscribe(params: unknown): TaskRequest
  }
  readonly push: PushWire
  readonly encode: {
    task(task: Task): unknown
    /** Encodes the result of a send: a task or a message. */
    sent(result: { readonly task: Task } | { readonly message: Message }): unknown
    update(update: TaskUpdate): unknown
    page(page: TaskPage): unknown
  }
}

/** How a wire reads and writes push notification configs. */
export interface PushWire {
  decode(act: PushRequest['act'], params: unknown): PushRequest
  encode(taskId: string, config: PushConfig): unknown
  encodeList(taskId: string, page: ConfigPage): unknown
  /** The answer to a request that deletes a config. */
  readonly deleted: unknown
}
