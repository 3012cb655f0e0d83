/**
 * Turns the parts of an AI SDK stream into run events. VoltAgent gives the same parts, and Mastra similar ones.
 *
 * @module
 */

import type { FinishReason, RunEvent, RunResult, Usage } from '../agents/contract.ts'
import { isServableError, messageOf, ServableError } from '../errors.ts'
import { withoutKeyText } from '../key-text.ts'
import { toFinishReason, toUsage } from './ending.ts'
import { type Fields, fieldsOf, objectIn, textIn } from './fields.ts'
import { artifactOf } from './generated-file.ts'
import { ToolCalls } from './tool-calls.ts'

/** Reads the parts of one run, in order. */
export class AiParts {
  readonly #calls: ToolCalls
  #usage: Usage | undefined
  #reason: FinishReason = 'stop'
  #waits = false
  #structured: object | undefined

  /** `nameOf` gives the public name of a tool that the model knows by another name. */
  constructor(nameOf?: (name: string) => string) {
    this.#calls = new ToolCalls(nameOf)
  }

  /** The end of the run, as far as the parts described it. */
  get outcome(): Partial<RunResult> {
    return {
      finishReason: this.#waits ? 'input_required' : this.#reason,
      ...(this.#usage && { usage: this.#usage }),
      ...(this.#structured && { structured: this.#structured }),
    }
  }

  /** The events of one part. Unknown values, and parts that do not concern clients, give none. */
  *read(part: unknown): Generator<RunEvent> {
    const fields = fieldsOf(part)
    const text = textIn(fields.text)
    switch (fields.type) {
      case 'text-delta':
        if (text !== undefined) yield { type: 'text', text }
        return
      case 'reasoning-delta':
        if (text !== undefined) yield { type: 'thinking', text }
        return
      case 'file':
        yield* artifactOf(fieldsOf(fields.file))
        return
      case 'error':
        throw fields.error ?? new ServableError('provider_failed', 'The model failed without saying why')
      case 'abort':
        this.#reason = 'cancelled'
        return
      case 'tool-approval-request':
        this.#waits = true
        return
      case 'object-result':
        this.#structured = objectIn(fields.object)
        return
      case 'finish':
        this.#finish(fields)
        return
      default:
        yield* this.#readTool(fields)
    }
  }

  *#readTool(fields: Fields): Generator<RunEvent> {
    const id = textIn(fields.toolCallId) ?? textIn(fields.id)
    if (id === undefined) return
    switch (fields.type) {
      case 'tool-input-start':
        yield* this.#calls.start(id, fields.toolName)
        return
      case 'tool-input-delta':
        yield* this.#calls.args(id, fields.delta)
        return
      case 'tool-call':
        yield* this.#calls.whole(id, fields.toolName, fields.input)
        return
      case 'tool-result':
        // A preliminary result would end the call too early.
        if (fields.preliminary !== true) yield* this.#calls.end(id, { result: fields.output })
        return
      case 'tool-error':
        yield* this.#calls.end(id, failed(fields.error), fields.error)
        return
      case 'tool-output-denied':
        yield* this.#calls.end(id, { error: 'The call was not allowed' })
    }
  }

  #finish({ finishReason, totalUsage }: Fields): void {
    // With `interrupted` the stream ended without a reason, so the answer may be incomplete.
    if (finishReason === 'error' || finishReason === 'interrupted') {
      throw new ServableError('provider_failed', 'The answer of the model broke off')
    }
    if (this.#reason !== 'cancelled') this.#reason = toFinishReason(finishReason)
    this.#usage = toUsage(totalUsage)
  }
}

function failed(error: unknown): { readonly error: string; readonly code?: string } {
  return { error: withoutKeyText(messageOf(error)), ...(isServableError(error) && { code: error.code }) }
}
