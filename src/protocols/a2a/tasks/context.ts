/**
 * What an agent can read about the A2A message that it answers.
 *
 * @module
 */

import type { Metadata } from '../../../agents/run-types.ts'
import { isObject } from '../../../base/validation.ts'
import type { Message } from '../model.ts'

/** What an agent can read about the message that it answers. */
export interface A2AContext {
  readonly taskId: string
  readonly contextId: string
  readonly messageId: string
  /** The whole message, as the client sent it. */
  readonly message: Message
  /** The metadata of the message. */
  readonly metadata: Metadata
  /** Media types that the client accepts. Empty: any. */
  readonly acceptedOutputModes: readonly string[]
  /** URIs of the extensions that are active. */
  readonly extensions: readonly string[]
  /** Other tasks that the client refers to. They may belong to another owner. */
  readonly referenceTaskIds: readonly string[]
  /** Undefined if the client named none. */
  readonly tenant: string | undefined
}

/** What a request gives beside its message. */
export interface MessageOptions {
  readonly acceptedOutputModes?: readonly string[] | undefined
  readonly extensions?: readonly string[] | undefined
  readonly tenant?: string | undefined
}

/** The metadata of a run: the ids, the message, and the options of the message under `a2a`. */
export function metadataOf(
  message: Message,
  { taskId, contextId }: Pick<A2AContext, 'taskId' | 'contextId'>,
  options: MessageOptions,
): Metadata {
  return { taskId, contextId, messageId: message.messageId, message, a2a: options }
}

/** Reads the metadata of a run. Returns undefined if the run is no turn of a task. */
export function contextIn(metadata: Metadata): A2AContext | undefined {
  if (!isObject(metadata.a2a)) return undefined
  const { taskId, contextId, messageId, message, a2a } = metadata as ReturnType<typeof metadataOf> &
    Pick<A2AContext, 'taskId' | 'contextId' | 'messageId' | 'message'> & { readonly a2a: MessageOptions }
  return {
    ...{ taskId, contextId, messageId, message },
    metadata: message.metadata ?? {},
    acceptedOutputModes: a2a.acceptedOutputModes ?? [],
    extensions: a2a.extensions ?? [],
    referenceTaskIds: message.referenceTaskIds ?? [],
    tenant: a2a.tenant,
  }
}
