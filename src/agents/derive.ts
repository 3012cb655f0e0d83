/**
 * Reads any servable as events, also one that has only `run`.
 *
 * @module
 */

import { ServableError } from '../base/errors.ts'
import type { RunEvent, RunInput, RunOptions, RunOutcome, RunResult, Step, ToolCall } from './contract.ts'

/** The methods that this module calls on a servable. */
export interface Source {
  run?(input: RunInput, options?: RunOptions): unknown
  stream?(input: RunInput, options?: RunOptions): unknown
}

/**
 * Starts a servable and returns its events as they come: from `stream` if it has one, else made from what `run` resolves with. It
 * checks nothing. Errors come out of `next()` or of this call.
 */
export function eventsOf(source: Source, input: RunInput, options: RunOptions): AsyncIterator<RunEvent> {
  if (typeof source.stream !== 'function') return fromResult(source, input, options)
  const stream = source.stream(input, options)
  return isAsyncIterable(stream) ? stream[Symbol.asyncIterator]() : fromAnything(stream)
}

/** The events of an outcome. `withText` is false if the text was sent already. */
export function eventsOfOutcome(outcome: RunOutcome, withText: boolean): RunEvent[] {
  if (outcome == null) return [{ type: 'finish', finishReason: 'stop' }]
  const result: Partial<RunResult> = typeof outcome === 'string' ? { text: outcome } : outcome
  const { text, usage, structured, requests, message } = result
  return [
    ...listIn(result, 'steps').map(stepEvent),
    ...listIn(result, 'toolCalls').flatMap(toolEvents),
    ...listIn(result, 'artifacts').map((artifact): RunEvent => ({ type: 'artifact', ...artifact })),
    ...(withText && text ? [{ type: 'text', text } as const] : []),
    {
      type: 'finish',
      finishReason: result.finishReason ?? 'stop',
      ...(usage && { usage }),
      ...(structured !== undefined && { structured }),
      ...(requests && { requests }),
      ...(message !== undefined && { message }),
    },
  ]
}

async function* fromResult(source: Source, input: RunInput, options: RunOptions): AsyncGenerator<RunEvent> {
  const outcome: unknown = await source.run?.(input, options)
  if (!isOutcome(outcome)) {
    throw new ServableError('invalid_event', '`run` must resolve with a RunResult, with text or with nothing')
  }
  yield* eventsOfOutcome(outcome, true)
}

/** Reads a stream that arrives late (an `async stream()`) or is a plain iterable. */
async function* fromAnything(stream: unknown): AsyncGenerator<RunEvent> {
  const settled: unknown = await stream
  if (!isAsyncIterable(settled) && !isIterable(settled)) {
    throw new ServableError('invalid_event', '`stream` must return an async iterable of run events')
  }
  yield* settled
}

function listIn<K extends 'steps' | 'toolCalls' | 'artifacts'>(result: Partial<RunResult>, member: K) {
  const list: NonNullable<RunResult[K]> = result[member] ?? []
  if (Array.isArray(list)) return list
  throw new ServableError('invalid_event', `\`${member}\` of a result must be an array`)
}

function toolEvents({ toolCallId, toolName, args, result, error }: ToolCall): RunEvent[] {
  const start: RunEvent = { type: 'tool_call_start', toolCall: { id: toolCallId, name: toolName } }
  const end: RunEvent = {
    type: 'tool_call_end',
    toolCallId,
    ...(error === undefined ? { result } : { error }),
  }
  if (args === undefined) return [start, end]
  return [start, { type: 'tool_call_delta', toolCallId, argumentsDelta: JSON.stringify(args) }, end]
}

function stepEvent(step: Step): RunEvent {
  return { type: 'step', ...step }
}

/** Whether a resolved value can be the outcome of a run. */
export function isOutcome(value: unknown): value is RunOutcome {
  if (value == null || typeof value === 'string') return true
  // A stream that nobody reads would count as an empty answer.
  return typeof value === 'object' && !isIterable(value) && !isAsyncIterable(value)
}

/** Whether the value is an async iterable. */
export function isAsyncIterable(value: unknown): value is AsyncIterable<RunEvent> {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value
}

/** Whether the value is an iterable object. */
export function isIterable(value: unknown): value is Iterable<RunEvent> {
  return typeof value === 'object' && value !== null && Symbol.iterator in value
}
