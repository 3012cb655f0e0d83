/**
 * Runs of a framework's agent that wait for someone: what they ask, what is kept of them, and how they go on.
 *
 * @module
 */

import type { InputRequest, RunResult } from '../../agents/contract.ts'
import { MAX_REQUESTS } from '../../agents/event.ts'
import { isAnswered, placeOf, requestOf } from '../../agents/input-request.ts'
import type { RunContext } from '../../agents/work/perform.ts'
import { isServableError, ServableError } from '../../base/errors.ts'
import { type Fields, fieldsOf, listIn, textIn } from './fields.ts'

/** Something that waits, with the key by which the framework knows it. */
export interface Waiting {
  readonly key: string
  readonly request: InputRequest
}

/** What an agent asks for. */
export interface Asked extends Omit<InputRequest, 'id' | 'digest'> {
  readonly key: string
  /** The name of a question. Others have the name of their tool. */
  readonly name?: string
}

/** A question, with its name in its run. */
export interface Question {
  readonly kind: 'question'
  readonly name: string
  readonly message: string
  readonly schema?: object
}

/** The end of a run that waits. */
export type Waits = Required<Pick<RunResult, 'finishReason' | 'requests'>>

/** The name of a request in its run, and whether it is a question. */
type Place = readonly [name: string, kind: 'ask' | 'tool']

/** What is kept of a run that waits, as JSON. */
interface Kept {
  /** Which agent kept it. */
  readonly by: string
  readonly state: Fields
  readonly waiting: readonly Waiting[]
  /** All that was asked so far. */
  readonly places: readonly Place[]
}

/** What the run before left to this one. */
export interface Before {
  readonly state: Fields
  readonly waiting: readonly Waiting[]
  /** The run still waits, since an answer is missing. */
  readonly waits?: Waits
}

/** What the run before kept; undefined in a first run. Throws `code_changed` for what another kind of agent kept. */
export function beforeOf({ work, scope, answers }: RunContext, by: string): Before | undefined {
  const kept = work.read()
  if (kept === undefined) return undefined
  if (fieldsOf(kept).by !== by) {
    throw new ServableError('code_changed', 'The run that waited was not of this agent')
  }
  const { state, waiting, places } = kept as Kept
  for (const [name, kind] of places) scope.next(name, kind)
  return isAnswered(waiting, answers) ? { state, waiting } : { state, waiting, waits: waitsFor(waiting) }
}

function waitsFor(waiting: readonly Waiting[]): Waits {
  return { finishReason: 'input_required', requests: waiting.map(({ request }) => request) }
}

/**
 * Makes requests of what an agent asks for, and keeps its `state`. Throws `invalid_event` for a state that is no JSON, and
 * `run_too_large` for more requests than a run may have.
 */
export async function waitFor(
  { runId, scope, work }: RunContext,
  by: string,
  asked: readonly Asked[],
  state: () => object = () => ({}),
): Promise<Waits> {
  work.checkKept()
  if (asked.length > MAX_REQUESTS) {
    throw new ServableError('run_too_large', `More than ${MAX_REQUESTS} requests`)
  }
  const waiting: Waiting[] = []
  const places = [...listIn(fieldsOf(work.read()).places)]
  for (const { key, name = '', ...request } of asked) {
    const place: Place = request.kind === 'question' ? [name, 'ask'] : [placeOf(request), 'tool']
    places.push(place)
    waiting.push({ key, request: await requestOf({ ...request, id: `${runId}/${scope.next(...place)}` }) })
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

/** The members of the answers that fit, by kind. */
const FITS = { approval: 'decision', question: 'value', client_tool: 'result' } as const

/** The answer to a request, which fits its kind. Throws `invalid_input` for one that does not. */
export function answerTo({ request: { id, kind } }: Waiting, { answers = [] }: RunContext): Fields {
  const answer = fieldsOf(answers.find(each => each.id === id))
  if (FITS[kind] in answer) return answer
  throw new ServableError('invalid_input', `There is no answer to \`${id}\` that fits`)
}

/** The framework has lost what it needs to go on. */
export function lost(text: string, cause?: unknown): ServableError {
  return new ServableError('not_resumable', text, { cause })
}
