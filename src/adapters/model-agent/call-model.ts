/**
 * One call of a model with its tools. It takes as many steps as needed, and yields run events.
 *
 * @module
 */

import { isStepCount, type LanguageModel, type ModelMessage, Output, streamText } from 'ai'
import type { RunEvent } from '../../agents/contract.ts'
import { ServableError } from '../../base/errors.ts'
import type { AiParts } from '../frameworks/ai-sdk/ai-parts.ts'
import { callsIn, type ModelAnswer } from './calls.ts'
import { providerFailure } from './failure.ts'
import type { Rounds } from './rounds.ts'
import { type ModelTools, toSchema } from './tools.ts'

/** The settings of a model call. */
export interface ModelSettings {
  /**
   * The most steps. A step is one answer of the model with the tool calls that it requests. If the last step still called tools,
   * the run finishes with `tool_calls`. Default: 10.
   */
  readonly maxSteps?: number
  /**
   * The most retries of a call that fails with HTTP 429, a 5xx or a network error. The delays grow exponentially from 2 s on, or
   * follow `Retry-After`. Default: 3.
   */
  readonly maxRetries?: number
  readonly temperature?: number
  /** The most tokens of one answer. */
  readonly maxOutputTokens?: number
  /** Options for the provider alone, in the AI SDK's form. */
  readonly providerOptions?: NonNullable<Parameters<typeof streamText>[0]['providerOptions']>
}

/** The parts of a model call. */
export interface ModelCall {
  readonly model: LanguageModel
  readonly instructions: string
  readonly messages: readonly ModelMessage[]
  readonly tools: ModelTools
  /** The schema of the structured output. Undefined for text. */
  readonly output: unknown
  readonly settings: ModelSettings
  readonly signal: AbortSignal
  /** Sent to the model's service as a header. */
  readonly traceparent: string | undefined
  /** Reads the parts of the model's package. The calls of one run share it. */
  readonly parts: AiParts
  readonly rounds: Rounds
}

/** Calls a model. Yields its events except the last one. Throws `provider_failed`. */
export async function* callModel(call: ModelCall): AsyncGenerator<RunEvent, ModelAnswer> {
  const { maxSteps = 10, maxRetries = 3, ...settings } = call.settings
  const hasOutput = call.output !== undefined
  const result = streamText({
    ...settings,
    model: call.model,
    ...(call.instructions !== '' && { instructions: call.instructions }),
    messages: [...call.messages],
    ...(Object.keys(call.tools.set).length > 0 && { tools: call.tools.set }),
    ...(hasOutput && { output: Output.object({ schema: toSchema(call.output) }) }),
    stopWhen: isStepCount(call.rounds.isKept ? 1 : maxSteps),
    maxRetries,
    abortSignal: call.signal,
    ...(call.traceparent !== undefined && { headers: { traceparent: call.traceparent } }),
    onStepStart: step => call.parts.kept?.begin(step),
    // The provider gets addresses unchanged. The service fetches nothing that a client names.
    experimental_download: async asked => asked.map(() => null),
    // Errors are thrown below. The SDK's default would write them to the console, with keys.
    onError() {},
  })
  const output = hasOutput ? handled(result.output) : undefined
  const responses = handled(result.responseMessages)
  const asked = handled(result.steps)
  const { parts } = call
  try {
    for await (const part of result.stream) yield* parts.read(part)
    call.signal.throwIfAborted()
    const messages = await responses
    const { open } = callsIn(messages)
    // After the single step, the model has not seen the errors of calls whose arguments do not fit.
    const isLeft = call.rounds.isKept && messages.at(-1)?.role === 'tool'
    const isDone = open.length === 0 && !isLeft
    const structured = output === undefined || !isDone ? null : toStructured(await output)
    const { finishReason = 'stop', usage } = parts.outcome
    const steps = (await asked).length
    return { finishReason, ...(usage && { usage }), structured, messages, open, steps, isDone }
  } catch (error) {
    if (call.signal.aborted) throw call.signal.reason
    throw providerFailure(error)
  }
}

/** Marks a promise's rejection as handled, in case nobody awaits it. */
function handled<T>(promise: PromiseLike<T>): Promise<T> {
  const own = Promise.resolve(promise)
  own.catch(() => {})
  return own
}

function toStructured(value: unknown): object {
  if (typeof value === 'object' && value !== null) return value
  throw new ServableError('agent_failed', 'The model gave no object')
}
