/**
 * Runs of a framework's agent that wait for someone: their requests, their stored state, and how they go on.
 *
 * @module
 */

import type { InputRequest, RunResult } from '../../agents/contract.ts'
import { MAX_REQUESTS } from '../../agents/event.ts'
import { isAnswered, requestNameOf, requestOf } from '../../agents/input-request.ts'
import type { RunContext } from '../../agents/work/perform.ts'
import { isServableError, ServableError } from '../../base/errors.ts'
import { fieldsOf, listIn, textIn, type UnknownFields } from './fields.ts'

/** A request that waits, with the framework's key for it. */
export interface WaitingRequest {
  readonly key: string
  readonly request: InputRequest
}

/** A request of an agent. */
export interface AgentRequest extends Omit<InputRequest, 'id' | 'digest'> {
  readonly key: string
  /** The name of a question. Other requests have the name of their tool. */
  readonly name?: string
}

/** A question, with its name in its run. */
export interface AgentQuestion {
  readonly kind: 'question'
  readonly name: string
  readonly message: string
  readonly schema?: object
}

/** The end of a run that waits. */
export type WaitingEnd = Required<Pick<RunResult, 'finishReason' | 'requests'>>

/** The name of a request in its run, and whether it is a question. */
type RequestName = readonly [name: string, kind: 'ask' | 'tool']

/** The stored state of a run that waits, as JSON. */
interface KeptState {
  /** The kind of agent that stored it. */
  readonly by: string
  readonly state: UnknownFields
  readonly waiting: readonly WaitingRequest[]
  /** All requests until now. */
  readonly places: readonly RequestName[]
}

/** The state that the run before left to this one. */
export interface Before {
  readonly state: UnknownFields
  readonly waiting: readonly WaitingRequest[]
  /** Set if the run still waits because an answer is missing. */
  readonly waits?: WaitingEnd
}

/** Reads the state of the run before; undefined in a first run. Throws `code_changed` for the state of another kind of agent. */
export function beforeOf({ work, scope, answers }: RunContext, by: string): Before | undefined {
  const kept = work.read()
  if (kept === undefined) return undefined
  if (fieldsOf(kept).by !== by) {
    throw new ServableError('code_changed', 'The run that waited was not of this agent')
  }
  const { state, waiting, places } = kept as KeptState
  for (const [name, kind] of places) scope.next(name, kind)
  return isAnswered(waiting, answers) ? { state, waiting } : { state, waiting, waits: waitsFor(waiting) }
}

function waitsFor(waiting: readonly WaitingRequest[]): WaitingEnd {
  return { finishReason: 'input_required', requests: waiting.map(({ request }) => request) }
}

/**
 * Makes the requests of an agent, and stores its `state`. Throws `invalid_event` for a state that is not JSON, and
 * `run_too_large` for more requests than a run may have.
 */
export async function waitFor(
  { runId, scope, work }: RunContext,
  by: string,
  asked: readonly AgentRequest[],
  state: () => object = () => ({}),
): Promise<WaitingEnd> {
  work.checkKept()
  if (asked.length > MAX_REQUESTS) {
    throw new ServableError('run_too_large', `More than ${MAX_REQUESTS} requests`)
  }
  const waiting: WaitingRequest[] = []
  const places = [...listIn(fieldsOf(work.read()).places)]
  for (const { key, name = '', ...request } of asked) {
    const requestName: RequestName =
      request.kind === 'question' ? [name, 'ask'] : [requestNameOf(request), 'tool']
    places.push(requestName)
    waiting.push({
      key,
      request: await requestOf({ ...request, id: `${runId}/${scope.next(...requestName)}` }),
    })
  }
  work.keep({ by, state: toJson(state), waiting, places })
  return waitsFor(waiting)
}

function toJson(state: () => object): unknown {
  try {
    return JSON.parse(JSON.stringify(state()))
  } catch (cause) {
    if (isServableError(cause)) throw cause
    throw new ServableError('invalid_event', 'The state of the waiting agent cannot be kept as JSON', {
      cause,
    })
  }
}

/** A question to a person. A text is its message; an object may have a `message` or a `question`. */
export function questionOf(value: unknown): string {
  const { message, question } = fieldsOf(value)
  return textIn(value) ?? textIn(message) ?? textIn(question) ?? JSON.stringify(value) ?? 'null'
}

/** The member of a fitting answer, by kind. */
const FITS = { approval: 'decision', question: 'value', client_tool: 'result' } as const

/** The answer to a request. Throws `invalid_input` if it does not fit the request's kind. */
export function answerTo(
  { request: { id, kind } }: WaitingRequest,
  { answers = [] }: RunContext,
): UnknownFields {
  const answer = fieldsOf(answers.find(each => each.id === id))
  if (FITS[kind] in answer) return answer
  throw new ServableError('invalid_input', `There is no answer to \`${id}\` that fits`)
}

/** The error for a framework that has lost its state of the run. */
export function lost(text: string, cause?: unknown): ServableError {
  return new ServableError('not_resumable', text, { cause })
}
