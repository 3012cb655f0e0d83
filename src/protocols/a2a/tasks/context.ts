/**
 * What A2A tells an agent.
 *
 * @module
 */

import type { Metadata } from '../../../agents/run-types.ts'
import { isObject } from '../../../base/validation.ts'
import type { Message } from '../model.ts'

/** What an agent knows of the message that it answers. */
export interface A2AContext {
  readonly taskId: string
  readonly contextId: string
  readonly messageId: string
  /** The whole message, as the client sent it. */
  readonly message: Message
  /** The metadata of the message. */
  readonly metadata: Metadata
  /** Media types that the client can take. Empty: any. */
  readonly acceptedOutputModes: readonly string[]
  /** URIs of the extensions that are active. */
  readonly extensions: readonly string[]
  /** Other tasks that the client refers to. They may be another one's. */
  readonly referenceTaskIds: readonly string[]
  /** Undefined if the client named none. */
  readonly tenant: string | undefined
}

/** What a message comes with, beside itself. */
export interface Asked {
  readonly acceptedOutputModes?: readonly string[] | undefined
  readonly extensions?: readonly string[] | undefined
  readonly tenant?: string | undefined
}

/** The metadata of a run: ids and message, and under `a2a` what the message came with. */
export function metadataOf(
  message: Message,
  { taskId, contextId }: Pick<A2AContext, 'taskId' | 'contextId'>,
  asked: Asked,
): Metadata {
  return { taskId, contextId, messageId: message.messageId, message, a2a: asked }
}

/** Reads the metadata of a run. Undefined if the run is no turn of a task. */
export function contextIn(metadata: Metadata): A2AContext | undefined {
  if (!isObject(metadata.a2a)) return undefined
  const { taskId, contextId, messageId, message, a2a } = metadata as ReturnType<typeof metadataOf> &
    Pick<A2AContext, 'taskId' | 'contextId' | 'messageId' | 'message'> & { readonly a2a: Asked }
  return {
    ...{ taskId, contextId, messageId, message },
    metadata: message.metadata ?? {},
    acceptedOutputModes: a2a.acceptedOutputModes ?? [],
    extensions: a2a.extensions ?? [],
    referenceTaskIds: message.referenceTaskIds ?? [],
    tenant: a2a.tenant,
  }
}
