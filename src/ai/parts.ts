/**
 * The parts of a model's stream, as run events.
 *
 * @module
 */

import type { LanguageModelUsage, FinishReason as ModelFinishReason, TextStreamPart, ToolSet } from 'ai'
import type { FinishReason, RunEvent, Usage } from '../agents/contract.ts'
import { isServableError, messageOf, ServableError } from '../errors.ts'
import { providerFailure } from './failure.ts'

type Part = TextStreamPart<ToolSet>

/** How a model's stream ended. */
export interface ModelEnd {
  readonly finishReason: FinishReason
  /** Absent where the provider does not say. */
  readonly usage?: Usage
}

/** Turns parts into events; the end is kept aside. */
export class PartReader {
  /** Undefined until the stream has said how it ended. */
  end: ModelEnd | undefined
  readonly #nameOf: (name: string) => string
  readonly #started = new Set<string>()

  constructor(nameOf: (name: string) => string) {
    this.#nameOf = nameOf
  }

  /** The events of a part. Throws `provider_failed` for one that says that the provider failed. */
  *eventsOf(part: Part): Generator<RunEvent> {
    switch (part.type) {
      case 'text-delta':
        if (part.text !== '') yield { type: 'text', text: part.text }
        return
      case 'reasoning-delta':
        if (part.text !== '') yield { type: 'thinking', text: part.text }
        return
      case 'tool-input-start':
        yield this.#start(part.id, part.toolName)
        return
      case 'tool-input-delta':
        yield { type: 'tool_call_delta', toolCallId: part.id, argumentsDelta: part.delta }
        return
      case 'tool-call':
        yield* this.#call(part)
        return
      case 'tool-result':
        if (part.preliminary !== true)
          yield { type: 'tool_call_end', toolCallId: part.toolCallId, result: part.output ?? null }
        return
      case 'tool-error':
        yield this.#fail(part.toolCallId, part.error)
        return
      case 'finish':
        this.end = endOf(part.finishReason, part.totalUsage)
        return
      case 'error':
        throw providerFailure(part.error)
    }
  }

  #start(id: string, name: string): RunEvent {
    this.#started.add(id)
    return { type: 'tool_call_start', toolCall: { id, name: this.#nameOf(name) } }
  }

  /** A call whose arguments came as a whole. */
  *#call({ toolCallId, toolName, input }: Extract<Part, { type: 'tool-call' }>): Generator<RunEvent> {
    if (this.#started.has(toolCallId)) return
    yield this.#start(toolCallId, toolName)
    yield { type: 'tool_call_delta', toolCallId, argumentsDelta: JSON.stringify(input) ?? 'null' }
  }

  #fail(toolCallId: string, error: unknown): RunEvent {
    const code = isServableError(error) ? { code: error.code } : {}
    return { type: 'tool_call_end', toolCallId, error: messageOf(error), ...code }
  }
}

const REASONS: Readonly<Partial<Record<ModelFinishReason, FinishReason>>> = {
  stop: 'stop',
  length: 'length',
  'content-filter': 'content_filter',
  'tool-calls': 'tool_calls',
  other: 'stop',
}

function endOf(
  reason: ModelFinishReason,
  { inputTokens, outputTokens, totalTokens }: LanguageModelUsage,
): ModelEnd {
  const finishReason = REASONS[reason]
  // `error`, and `interrupted`: what came is no whole answer.
  if (finishReason === undefined)
    throw new ServableError('provider_failed', 'The answer of the model broke off')
  if (inputTokens === undefined && outputTokens === undefined && totalTokens === undefined)
    return { finishReason }
  const [promptTokens, completionTokens] = [inputTokens ?? 0, outputTokens ?? 0]
  return {
    finishReason,
    usage: { promptTokens, completionTokens, totalTokens: totalTokens ?? promptTokens + completionTokens },
  }
}
