/**
 * Where a client wants to hear of a task.
 *
 * @module
 */

/** A push notification config. */
export interface PushConfig {
  /** Unique in its task; the task's own id where the client chose none. */
  readonly id: string
  readonly url: string
  /** Sent as `X-A2A-Notification-Token`. */
  readonly token?: string | undefined
  /** Sent as `Authorization: scheme credentials`. */
  readonly scheme?: string | undefined
  readonly credentials?: string | undefined
  /** The generation of the client, in which it is told: `1.0` or `0.3`. */
  readonly version: string
}

/** What a client asks about the configs of a task. */
export type PushRequest = PushChange | PushLook

/** What changes them. */
export type PushChange =
  | {
      readonly act: 'set'
      readonly taskId: string
      readonly config: Sent
      /** Whose places are taken to tell it; one of all who are unknown where nobody is named. */
      readonly client?: string | undefined
    }
  | { readonly act: 'delete'; readonly taskId: string; readonly id: string }

/** What does not. */
export type PushLook =
  | { readonly act: 'get'; readonly taskId: string; readonly id: string }
  | { readonly act: 'list'; readonly taskId: string }

/** A config as a client sent it: an id may be missing. */
export type Sent = Omit<PushConfig, 'id'> & { readonly id?: string | undefined }
