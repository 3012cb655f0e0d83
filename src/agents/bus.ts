/**
 * The typed event bus on which a servable reports what it does, for logs, analytics and metrics.
 *
 * @module
 */

import { withDefaults } from '../base/defaults.ts'
import type { FinishReason, Kind, RunInput, Usage } from './run-types.ts'

/** Members of every payload: who emits it, and in which run. */
export interface BusPayload {
  readonly kind: Kind
  readonly name: string
  readonly runId: string
}

/** The payload of events that this library only forwards. Their maker decides its members. */
export interface OpenPayload extends Partial<BusPayload> {
  readonly [field: string]: unknown
}

/** A tool's payload. */
export interface ToolPayload extends BusPayload {
  readonly toolCallId: string
  readonly toolName: string
  /** The agent that made the call, if it is not the run's own. */
  readonly agent?: string | undefined
}

/** The payload of a tool call that must be approved. */
export interface ApprovalPayload extends ToolPayload {
  /** The id of the request: an answer names it. */
  readonly requestId: string
}

/** An action of an administrator, done or refused. */
export interface AdminPayload {
  /** Such as `add_server`. */
  readonly action: string
  /** `ok`, or the code of the failure. */
  readonly outcome: string
  /** The id of the identity. Null if the admin routes have no `authenticate`. */
  readonly who: string | null
  readonly requestId: string
  /** The id of the one thing that the action changed. */
  readonly id?: string | undefined
  readonly name?: string | undefined
}

/** Every event of the internal bus and its payload. No payload ever holds a provider key. */
export interface BusEvents {
  'run.start': BusPayload & {
    readonly input: RunInput
    readonly sessionId?: string | undefined
    readonly userId?: string | undefined
  }
  'run.complete': BusPayload & {
    readonly finishReason: FinishReason
    readonly usage: Usage
    /** Milliseconds. */
    readonly durationMs: number
  }
  'run.error': BusPayload & { readonly error: string; readonly code: string; readonly durationMs: number }
  'run.stream.chunk': BusPayload & { readonly text: string }
  'tool.call': ToolPayload
  'tool.result': ToolPayload & { readonly result: unknown }
  'tool.error': ToolPayload & { readonly error: string }
  'tool.approval.request': ApprovalPayload
  /** Emitted when the run goes on with the answer. */
  'tool.approval.response': ApprovalPayload & { readonly decision: 'approve' | 'deny' }
  'voice.session.start': OpenPayload
  'voice.session.end': OpenPayload
  'voice.tool.call': OpenPayload
  'voice.tool.result': OpenPayload
  'browser.step': OpenPayload
  'browser.action': OpenPayload
  'browser.done': OpenPayload
  'browser.error': OpenPayload
  'memory.extract': OpenPayload
  'memory.stored': OpenPayload
  'memory.error': OpenPayload
  'skill.loaded': OpenPayload
  'skill.learned': OpenPayload
  'admin.act': AdminPayload
}

/** The name of a bus event. */
export type BusEventName = keyof BusEvents

/** Called with the payload of one event. */
export type BusListener<N extends BusEventName> = (payload: BusEvents[N], name: N) => void

/** Settings of a bus. */
export interface EventBusOptions {
  /** Most listeners on one bus, so that a listener added per request is noticed. Default: 1,000. */
  readonly maxListeners?: number
  /** Receives errors that a listener throws. Such an error never reaches the run. Default: it is dropped. */
  readonly onListenerError?: (error: unknown, name: BusEventName) => void
}

/** A synchronous, typed event bus. A listener that throws disturbs neither the run nor the other listeners. */
export class EventBus {
  readonly #listeners = new Map<BusEventName, Set<BusListener<BusEventName>>>()
  readonly #options: Required<EventBusOptions>
  #count = 0

  constructor(options: EventBusOptions = {}) {
    this.#options = withDefaults<Required<EventBusOptions>>(
      { maxListeners: 1000, onListenerError: () => {} },
      options,
    )
  }

  /** How many listeners there are, over all events. */
  get size(): number {
    return this.#count
  }

  /** Adds a listener and returns the function that removes it. Throws a `RangeError` past `maxListeners`. */
  on<N extends BusEventName>(name: N, listener: BusListener<N>): () => void {
    if (this.#count >= this.#options.maxListeners) {
      throw new RangeError(
        `More than ${this.#options.maxListeners} listeners on one bus: call the function that \`on\` returned when you are done, or raise \`maxListeners\``,
      )
    }
    const set = this.#listeners.get(name) ?? new Set()
    this.#listeners.set(name, set)
    // The set of `name` is only ever called with payloads of `name`.
    const entry = listener as unknown as BusListener<BusEventName>
    if (!set.has(entry)) this.#count++
    set.add(entry)
    return () => {
      if (set.delete(entry)) this.#count--
    }
  }

  /** Adds a listener that is called at most once. */
  once<N extends BusEventName>(name: N, listener: BusListener<N>): () => void {
    const off = this.on(name, (payload, event) => {
      off()
      listener(payload, event)
    })
    return off
  }

  /** Calls the listeners of `name` in the order in which they were added. */
  emit<N extends BusEventName>(name: N, payload: BusEvents[N]): void {
    const set = this.#listeners.get(name)
    if (set === undefined) return
    for (const listener of set) {
      try {
        listener(payload, name)
      } catch (error) {
        this.#options.onListenerError(error, name)
      }
    }
  }
}
