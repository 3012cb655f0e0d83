/**
 * What a model was sent and what it replied, beside the event of its call. Adapters add it where a run keeps it
 * (`RunWork.keepsCalls`). It is in a property that JSON does not have, so no encoder can send it. The log of a stored run alone writes it.
 *
 * @module
 */

import type { ModelCallEvent, RunEvent } from './run-types.ts'

const CONTENTS = Symbol.for('servable.model-call')

/** What a model was sent, and what it replied. Each is at most 65,536 characters of JSON; `isCut` says that there was more. */
export interface ModelCallContents {
  /** The messages and tools, in the words of the model's package. */
  readonly prompt?:
    | { readonly messages?: unknown; readonly tools?: unknown; readonly isCut?: true }
    | undefined
  /** The reply, before guards have seen it. */
  readonly reply?:
    | {
        readonly text?: string
        readonly toolCalls?: readonly unknown[]
        readonly finishReason?: string
        readonly isCut?: true
      }
    | undefined
}

/** Makes contents that can be kept, without these secrets. Undefined for what is no JSON. */
export type KeepContents = (secrets: readonly string[]) => ModelCallContents | undefined

type Held = ModelCallEvent & { readonly [CONTENTS]?: ModelCallContents | KeepContents }

/** Returns the event with contents, or with what makes them in the run. Copies of it keep them. */
export function withContents(event: RunEvent, contents: ModelCallContents | KeepContents): RunEvent {
  return Object.assign({ ...event }, { [CONTENTS]: contents })
}

/** The event with contents that can be kept, if an adapter has added what makes them. */
export function keeping(event: RunEvent, secrets: () => readonly string[]): RunEvent {
  const held = heldBy(event)
  return typeof held === 'function' ? withContents(event, held(secrets()) ?? {}) : event
}

/** The contents of an event, if it has any that can be kept. */
export function contentsOf(event: RunEvent): ModelCallContents | undefined {
  const held = heldBy(event)
  return typeof held === 'function' ? undefined : held
}

function heldBy(event: RunEvent): Held[typeof CONTENTS] {
  return event.type === 'model_call' ? (event as Held)[CONTENTS] : undefined
}
