/**
 * The calls of tools that ran on the server, each told once it has ended.
 *
 * @module
 */

import type { RunEvent } from '../../core-entry.ts'

/** A call that has ended. `more` is what its protocol knows of it. */
export interface RanCall<T> {
  readonly id: string
  readonly name: string
  readonly args: unknown
  readonly more: T | undefined
  readonly result: unknown
  readonly error: string | undefined
}

interface OpenCall<T> {
  readonly name: string
  args: unknown
  readonly more: T | undefined
}

/** Gathers the calls of tools that run here. Calls of the client's tools are left out. */
export class RanCalls<T = undefined> {
  readonly #open = new Map<string, OpenCall<T>>()

  /** Adds a call that was asked for before this run. */
  add(id: string, name: string, args: unknown, more?: T): void {
    this.#open.set(id, { name, args, more })
  }

  /** Takes an event. Returns the call that has ended with it. A call is told after its end, because before it may need an approval. */
  take(event: RunEvent): RanCall<T> | undefined {
    switch (event.type) {
      case 'tool_call_start': {
        const { id, name } = event.toolCall
        // A run that continues makes an approved call again.
        if (!event.isClientTool && !this.#open.has(id)) this.add(id, name, '')
        return undefined
      }
      case 'tool_call_ready': {
        const call = this.#open.get(event.toolCallId)
        // The arguments may have been edited with the approval.
        if (call !== undefined) call.args = event.args ?? {}
        return undefined
      }
      case 'tool_call_end': {
        const { toolCallId: id, result, error } = event
        const call = this.#open.get(id)
        this.#open.delete(id)
        return call && { id, ...call, result, error }
      }
      default:
        return undefined
    }
  }
}
