/**
 * Runs that wait for someone: what is kept of them, and what an answer does.
 *
 * @module
 */

import type {
  Answer,
  FinishEvent,
  InputRequest,
  RunInput,
  RunOptions,
  RunResult,
} from '../../agents/contract.ts'
import { misfitOf } from '../../agents/misfit.ts'
import { hasKeys, withoutKeys } from '../../agents/redacted.ts'
import type { KeptWork } from '../../agents/work/work.ts'
import { canonicalJson } from '../../base/canonical-json.ts'
import { ServableError } from '../../base/errors.ts'
import { misfit } from '../../base/validation.ts'
import type { Footing, Reader, Transaction } from '../../stores/store.ts'
import { checkPermit } from '../permit.ts'
import { RESULTS, type RunRecord, type RunWebhook, type StoredRun } from '../stored/record.ts'
import type { Target } from '../target.ts'

/** The collection of runs and tasks that wait, by the id of the run or task. */
export const WAITING = 'waiting'

/** The collection of what they ask, for lists: of each that has open requests, without its work. */
export const ASKING = 'asking'

/** What a run was asked with, as far as it is asked so again: no keys, and nothing of one request but its trace. */
export type AskedWith = Pick<
  RunOptions,
  'sessionId' | 'userId' | 'identity' | 'metadata' | 'history' | 'clientTools' | 'traceparent'
>

/** What goes on once all is answered. JSON. */
export interface Waiting {
  readonly target: Pick<Target, 'kind' | 'name' | 'scope'>
  readonly input: RunInput
  readonly options: AskedWith
  readonly requests: readonly InputRequest[]
  readonly answers: readonly Answer[]
  readonly work: KeptWork
  /** The run that goes on: chosen with the last answer. */
  readonly next?: string | undefined
  /** Whose place the run that goes on takes. Of old runs it is not known. */
  readonly client?: string | undefined
  /** The run used a key of its client: without one it does not go on. */
  readonly usedKey?: true | undefined
  readonly isTask?: true | undefined
  /** When it began to wait, in milliseconds since 1970. Set when it is first written. */
  readonly at?: number | undefined
  /** When its approvals expire, if they do. */
  readonly expiresAt?: number | undefined
  /** They have: no answer counts any more. */
  readonly hasExpired?: true | undefined
  /** All is answered since they have, and nobody has started the run that goes on yet. */
  readonly isGoingOn?: true | undefined
}

/** How answers come. */
export interface AnsweredBy {
  /** Somebody other than the owner, or nobody. */
  readonly isOther?: boolean | undefined
  /** What alone whoever answers may let go on, as `agent:NAME`. Default: everything. */
  readonly only?: readonly string[] | undefined
  /** They come with a key of a model provider. */
  readonly hasKey?: boolean | undefined
  /** The service itself answers, since something has expired: what it writes beside the answers. */
  readonly change?: ((after: Waiting, now: number) => Waiting) | undefined
}

/** A plain run that waits for someone, and is kept from then on: without what it said. */
export interface WaitingRun {
  readonly id: string
  readonly waiting: Waiting
  readonly owner: string | null
  readonly client?: string | undefined
  readonly event: FinishEvent
}

/** What a run that goes on gets of the one that waited. */
export interface Continued {
  /** The run that waited. */
  readonly from: string
  readonly answers: readonly Answer[]
  readonly work: KeptWork
  /** Its place in its trace, where it had one. */
  readonly traceparent?: string | undefined
}

/** The part of the options of a run with which it is asked again. */
export function askedWith(options: RunOptions): AskedWith {
  const { sessionId, userId, identity, metadata, history, clientTools, traceparent } = options
  return { sessionId, userId, identity, metadata, history, clientTools, traceparent }
}

/** What came of answers. */
export interface AnsweredRun {
  readonly record: RunRecord
  /** What goes on, once the last request is answered. */
  readonly next?: NextRun | undefined
}

/** A run that is to go on from another one. */
export type NextRun = Pick<Waiting, 'target' | 'input' | 'options' | 'client'> & {
  readonly id: string
  readonly continues: Continued
  readonly webhook?: RunWebhook | undefined
}

/** What a run that waits was asked with. */
export function askedOf({
  target,
  input,
  options,
  client,
  usedKey,
}: Waiting): Pick<Waiting, 'target' | 'input' | 'options' | 'client' | 'usedKey'> {
  return { target, input, options, client, usedKey }
}

/** What is kept of a run that waits. Throws `run_too_large`, and `invalid_event` for what is not JSON. */
export function waitingOf(
  { kind, name, scope }: Target,
  input: RunInput,
  options: RunOptions,
  { requests, work }: { readonly requests: readonly InputRequest[]; readonly work: KeptWork },
): Waiting {
  const all = {
    target: { kind, name, ...(scope !== undefined && { scope }) },
    input,
    options: askedWith(options),
    requests,
    answers: [],
    ...(hasKeys(options) && { usedKey: true as const }),
  }
  // As JSON has it: stores of every kind give back the same.
  return { ...(JSON.parse(JSON.stringify(withoutKeys(all, options))) as Omit<Waiting, 'work'>), work }
}

/** Is told of what waits before that is written, and may change it. */
export interface Notes {
  note(tx: Transaction, id: string, waiting: Waiting, footing: Footing): Waiting
}

/** Keeps what a run or task waits for, for as long as itself. Those of one client that wait are in one partition. */
export function putWaiting(
  tx: Transaction,
  id: string,
  waiting: Waiting,
  footing: Footing,
  approvals?: Notes,
): void {
  const noted = approvals?.note(tx, id, waiting, footing) ?? waiting
  // Of the same moment as in the list: the clock of a store goes on.
  const value = { ...noted, at: noted.at ?? tx.now }
  const partition = openOf(value).length === 0 ? '' : (value.client ?? '')
  tx.put(WAITING, { id, partition, at: value.at, tags: {}, value, expiresAt: value.expiresAt }, footing)
}

/** Deletes what a run or task waits for. */
export function dropWaiting(tx: Transaction, id: string): void {
  tx.delete(WAITING, id)
  tx.delete(ASKING, id)
}

/** What a run or task waits for. */
export function waitingIn(tx: Reader, id: string): Waiting | undefined {
  return tx.get<Waiting>(WAITING, id)?.value
}

/** The record of a run with what stands apart from it: its result, and its open requests. */
export function recordIn(tx: Reader, { record }: StoredRun): RunRecord {
  const { id } = record
  const result = tx.get<RunResult>(RESULTS, id)?.value
  const waiting = record.status === 'input_required' ? waitingIn(tx, id) : undefined
  const requests = waiting === undefined ? [] : openOf(waiting)
  return { ...record, ...(result && { result }), ...(requests.length > 0 && { requests }) }
}

/** The requests that nobody has answered. */
export function openOf({
  requests,
  answers,
  hasExpired,
}: Pick<Waiting, 'requests' | 'answers' | 'hasExpired'>): InputRequest[] {
  if (hasExpired) return []
  const answered = new Set(answers.map(({ id }) => id))
  return requests.filter(({ id }) => !answered.has(id))
}

/**
 * What waits after some answers: all of them count, or none. Throws `request_not_found` for an id that was not asked,
 * `invalid_body` for an answer that does not fit, `request_changed` for another digest, and `already_answered` for a second,
 * different answer. The same answer again changes nothing. Where the run used a key, the last answer chooses nothing without one: from
 * its owner it is `key_required`.
 */
export function answered(
  waiting: Waiting,
  answers: readonly Answer[],
  next: string,
  by: AnsweredBy = {},
): Waiting {
  checkPermit(by.only, waiting.target)
  const kept = new Map(waiting.answers.map(answer => [answer.id, answer]))
  const requests = new Map(waiting.requests.map(request => [request.id, request]))
  answers.forEach((answer, index) => {
    const request = requests.get(answer.id)
    if (request === undefined) {
      throw new ServableError('request_not_found', `\`answers[${index}].id\`: the run has no such request`)
    }
    checkFit(request, answer, `answers[${index}]`)
    const before = kept.get(answer.id)
    if (before !== undefined && !isSame(before, answer)) {
      throw new ServableError('already_answered', `\`answers[${index}]\`: the request was answered before`)
    }
    kept.set(answer.id, answer)
  })
  const after = { ...waiting, answers: [...kept.values()] }
  if (openOf(after).length > 0) return after
  if (!waiting.usedKey || by.hasKey) return { ...after, next: waiting.next ?? next }
  if (by.isOther) return after
  throw keyRequired()
}

/** The error of a client that has too many plain runs that wait. */
export function tooManyWaiting(max: number): ServableError {
  return new ServableError('too_many_runs', `This client already has ${max} runs that wait for answers`)
}

/** What the run that goes on gets. */
export function continuedBy({ requests, answers, work, options }: Waiting, from: string): Continued {
  const byId = new Map(answers.map(answer => [answer.id, answer]))
  const answered = requests.flatMap(request => {
    const answer = byId.get(request.id)
    return answer === undefined ? [] : [{ request, answer }]
  })
  const { first = from } = work
  const { traceparent } = options
  return { from, answers, traceparent, work: { ...work, first, answered: [...work.answered, ...answered] } }
}

/** Whether two answers say the same. A digest says nothing of its own. */
function isSame({ digest: _, ...one }: Answer, { digest: __, ...other }: Answer): boolean {
  return canonicalJson(one) === canonicalJson(other)
}

/** The member of an answer that each kind of request needs. */
const NEEDED = { approval: 'decision', question: 'value', client_tool: 'result' } as const

function checkFit(request: InputRequest, answer: Answer, path: string): void {
  const needed = NEEDED[request.kind]
  if (!(needed in answer)) throw misfit(`${path}.${needed}`, `must be given: the request is ${request.kind}`)
  if (answer.digest !== undefined && answer.digest !== request.digest) {
    throw new ServableError(
      'request_changed',
      `\`${path}.digest\`: the request is not the one that was shown`,
    )
  }
  if ('value' in answer) checkSchema(answer.value, request.schema, `${path}.value`)
  if (!('editedArgs' in answer) || answer.editedArgs === undefined) return
  if (request.editable !== true)
    throw misfit(`${path}.editedArgs`, 'must be left out: the tool is not editable')
  checkSchema(answer.editedArgs, request.schema, `${path}.editedArgs`)
}

function checkSchema(value: unknown, schema: unknown, path: string): void {
  const why = misfitOf(value, Object(schema))
  if (why !== undefined) throw misfit(path, `does not fit: ${why}`)
}

/** A run that used a key of its client goes on, or runs again, only with one. */
export function keyRequired(): ServableError {
  return new ServableError('key_required', 'The run used a key of its client: send one again')
}
