/**
 * Push notification configs: where a client wants notifications of a task.
 *
 * @module
 */

/** A push notification config. */
export interface PushConfig {
  /** Unique within its task. Default: the task's id. */
  readonly id: string
  readonly url: string
  /** Sent as `X-A2A-Notification-Token`. */
  readonly token?: string | undefined
  /** Sent as `Authorization: scheme credentials`. */
  readonly scheme?: string | undefined
  readonly credentials?: string | undefined
  /** The protocol version of the client, `1.0` or `0.3`. Notifications have its form. */
  readonly version: string
}

/** A request about the configs of a task. */
export type PushRequest = PushChange | PushLook

/** A request that changes configs. */
export type PushChange =
  | {
      readonly act: 'set'
      readonly taskId: string
      readonly config: PushConfigInput
      /** The client whose share of deliveries the config uses. All unknown clients share one. */
      readonly client?: string | undefined
    }
  | { readonly act: 'delete'; readonly taskId: string; readonly id: string }

/** A request that only reads configs. */
export type PushLook =
  | { readonly act: 'get'; readonly taskId: string; readonly id: string }
  | {
      readonly act: 'list'
      readonly taskId: string
      /** 1 or more. Undefined: all. */
      readonly pageSize?: number | undefined
      readonly pageToken?: string | undefined
    }

/** A config as a client sent it. The id is optional. */
export type PushConfigInput = Omit<PushConfig, 'id'> & { readonly id?: string | undefined }
