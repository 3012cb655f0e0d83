/**
 * The parts of an AI SDK stream, which VoltAgent gives too and Mastra nearly, as run events.
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

/** Reads the parts of one run, in their order. */
export class AiParts {
  readonly #calls: ToolCalls
  #usage: Usage | undefined
  #reason: FinishReason = 'stop'
  #waits = false
  #structured: object | undefined

  /** `nameOf` gives the name by which a tool is told, where the model knows it by another one. */
  constructor(nameOf?: (name: string) => string) {
    this.#calls = new ToolCalls(nameOf)
  }

  /** What the parts told of the end. */
  get outcome(): Partial<RunResult> {
    return {
      finishReason: this.#waits ? 'input_required' : this.#reason,
      ...(this.#usage && { usage: this.#usage }),
      ...(this.#structured && { structured: this.#structured }),
    }
  }

  /** The id by which a tool call is told. */
  idOf(toolCallId: string): string {
    return this.#calls.idOf(toolCallId)
  }

  /** What one part says. Parts that say nothing to a client, and what is no part, give nothing. */
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
        // What a tool says before it is done would end the call.
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
    // `interrupted`: the stream ended without saying how, so there may be more.
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
