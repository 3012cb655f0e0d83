/**
 * The stored state of runs that wait for someone, and the effect of answers.
 *
 * @module
 */

import type {
  Answer,
  AnsweredBy,
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
import type { Eviction, Reader, Transaction } from '../../stores/store.ts'
import { checkPermit } from '../permit.ts'
import { foldedResult } from '../stored/folding.ts'
import {
  type AnsweredRequest,
  RESULTS,
  type RunRecord,
  type RunWebhook,
  type StoredRun,
} from '../stored/record.ts'
import type { Target } from '../target.ts'

/** The collection of runs and tasks that wait, by the id of the run or task. */
export const WAITING = 'waiting'

/** The collection of their requests for lists: one document per run or task with open requests, without its work. */
export const ASKING = 'asking'

/** The options of a run that the next run gets as well: no keys, and of the request only its trace. */
export type RequestOptions = Pick<
  RunOptions,
  'sessionId' | 'userId' | 'identity' | 'metadata' | 'history' | 'clientTools' | 'traceparent'
>

/** The state of a waiting run, for the run that goes on. JSON. */
export interface Waiting {
  readonly target: Pick<Target, 'kind' | 'name' | 'scope'>
  readonly input: RunInput
  readonly options: RequestOptions
  readonly requests: readonly InputRequest[]
  readonly answers: readonly Answer[]
  readonly work: KeptWork
  /** The run that goes on: chosen with the last answer. */
  readonly next?: string | undefined
  /** The client whose slot the next run takes. Unknown for old runs. */
  readonly client?: string | undefined
  /** Whether the run used a key of its client. Without one it does not go on. */
  readonly usedKey?: true | undefined
  readonly isTask?: true | undefined
  /** When it began to wait, in milliseconds since 1970. Set at the first write. */
  readonly at?: number | undefined
  /** When its approvals expire, if they do. */
  readonly expiresAt?: number | undefined
  /** Whether they have expired, so that answers no longer count. */
  readonly hasExpired?: true | undefined
  /** Whether every request has been answered since they expired, and the next run has not started yet. */
  readonly isGoingOn?: true | undefined
}

/** The facts about the caller that answers. */
export interface Answering {
  /** Who it is; undefined for the service itself. */
  readonly who?: AnsweredBy | undefined
  /** Whether it is somebody other than the owner, or nobody. */
  readonly isOther?: boolean | undefined
  /** The only targets that the caller may let go on, as `agent:NAME`. Default: all. */
  readonly only?: readonly string[] | undefined
  /** Whether a key of a model provider comes with the answers. */
  readonly hasKey?: boolean | undefined
  /** Set if the service itself answers, since something has expired: it changes what is written beside the answers. */
  readonly change?: ((after: Waiting, now: number) => Waiting) | undefined
}

/** A plain run that waits for someone, and is stored from then on, without its output. */
export interface WaitingRun {
  readonly id: string
  readonly waiting: Waiting
  readonly owner: string | null
  readonly client?: string | undefined
  readonly event: FinishEvent
}

/** What a run gets from an earlier one. */
export interface Continued {
  /** The run that it continues. Absent if it only takes a piece of that run's work over. */
  readonly from?: string | undefined
  readonly answers: readonly Answer[]
  readonly work: KeptWork
  /** The `traceparent` of its span, if it had one. */
  readonly traceparent?: string | undefined
}

/** Picks the options of a run that the next run gets as well. */
export function requestOptionsOf(options: RunOptions): RequestOptions {
  const { sessionId, userId, identity, metadata, history, clientTools, traceparent } = options
  return { sessionId, userId, identity, metadata, history, clientTools, traceparent }
}

/** The result of answers. */
export interface AnsweredRun {
  readonly record: RunRecord
  /** The run that goes on, once the last request is answered. */
  readonly next?: NextRun | undefined
}

/** A run that continues another one. */
export type NextRun = Pick<Waiting, 'target' | 'input' | 'options' | 'client'> & {
  readonly id: string
  readonly continues: Continued
  readonly webhook?: RunWebhook | undefined
}

/** The request of a waiting run. */
export function storedRequestOf({
  target,
  input,
  options,
  client,
  usedKey,
}: Waiting): Pick<Waiting, 'target' | 'input' | 'options' | 'client' | 'usedKey'> {
  return { target, input, options, client, usedKey }
}

/** Makes the stored state of a waiting run. Throws `run_too_large`, and `invalid_event` for what is not JSON. */
export function waitingOf(
  { kind, name, scope }: Target,
  input: RunInput,
  options: RunOptions,
  { requests, work }: { readonly requests: readonly InputRequest[]; readonly work: KeptWork },
): Waiting {
  const all = {
    target: { kind, name, ...(scope !== undefined && { scope }) },
    input,
    options: requestOptionsOf(options),
    requests,
    answers: [],
    ...(hasKeys(options) && { usedKey: true as const }),
  }
  // The value after JSON, so that stores of every kind return the same.
  return { ...(JSON.parse(JSON.stringify(withoutKeys(all, options))) as Omit<Waiting, 'work'>), work }
}

/** Called with a waiting run before it is written, and may change it. */
export interface Notes {
  note(tx: Transaction, id: string, waiting: Waiting, footing: Eviction): Waiting
}

/** Stores what a run or task waits for, for as long as itself. Those of one client that wait are in one partition. */
export function putWaiting(
  tx: Transaction,
  id: string,
  waiting: Waiting,
  footing: Eviction,
  approvals?: Notes,
): void {
  const noted = approvals?.note(tx, id, waiting, footing) ?? waiting
  // The same time as in the list: the store's clock may go on in between.
  const value = { ...noted, at: noted.at ?? tx.now }
  const partition = openOf(value).length === 0 ? '' : (value.client ?? '')
  tx.put(WAITING, { id, partition, at: value.at, tags: {}, value, expiresAt: value.expiresAt }, footing)
}

/** Deletes what a run or task waits for. */
export function dropWaiting(tx: Transaction, id: string): void {
  tx.delete(WAITING, id)
  tx.delete(ASKING, id)
}

/** Reads what a run or task waits for. */
export function waitingIn(tx: Reader, id: string): Waiting | undefined {
  return tx.get<Waiting>(WAITING, id)?.value
}

/** The record of a run with the parts that are stored apart: its result, and its open requests. */
export function recordIn(tx: Reader, { record }: StoredRun): RunRecord {
  const { id } = record
  const result = tx.get<RunResult>(RESULTS, id)?.value ?? (record.finishReason && foldedResult(tx, id))
  const waiting = record.status === 'input_required' ? waitingIn(tx, id) : undefined
  const requests = waiting === undefined ? [] : openOf(waiting)
  const answered = waiting === undefined ? [] : answeredIn(waiting)
  return {
    ...record,
    ...(result && { result }),
    ...(requests.length > 0 && { requests }),
    ...(answered.length > 0 && { answered }),
  }
}

/** Who answered which requests, without what was said. */
function answeredIn({ requests, answers }: Waiting): AnsweredRequest[] {
  const byId = new Map(requests.map(request => [request.id, request]))
  return answers.flatMap(answer => {
    const request = byId.get(answer.id)
    if (request === undefined || answer.answeredBy === undefined) return []
    const { id, kind, toolName } = request
    const { answeredBy } = answer
    const decision = 'decision' in answer ? { decision: answer.decision } : {}
    return [{ id, kind, ...(toolName !== undefined && { toolName }), ...decision, answeredBy }]
  })
}

/** The requests without an answer. */
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
 * Applies answers to a waiting run: all of them count, or none. Throws `request_not_found` for an unknown id, `invalid_body` for
 * an answer that does not fit, `request_changed` for another digest, and `already_answered` for a second, different answer. The
 * same answer again changes nothing. If the run used a key, the last answer needs one too: without one it chooses no next run,
 * and the owner gets `key_required`.
 */
export function answered(
  waiting: Waiting,
  answers: readonly Answer[],
  next: string,
  by: Answering = {},
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
    if (before === undefined) {
      kept.set(answer.id, { ...answer, answeredBy: by.who })
    } else if (!isSame(before, answer)) {
      throw new ServableError('already_answered', `\`answers[${index}]\`: the request was answered before`)
    }
  })
  const after = { ...waiting, answers: [...kept.values()] }
  if (openOf(after).length > 0) return after
  if (!waiting.usedKey || by.hasKey) return { ...after, next: waiting.next ?? next }
  if (by.isOther) return after
  throw keyRequired()
}

/** The error for a client with too many plain runs that wait. */
export function tooManyWaiting(max: number): ServableError {
  return new ServableError('too_many_runs', `This client already has ${max} runs that wait for answers`)
}

/** Makes what the run that goes on gets. */
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

/** Whether two answers are equal, whoever gave them. Digests are ignored. */
function isSame(one: Answer, other: Answer): boolean {
  const saidIn = ({ digest: _, answeredBy: __, ...said }: Answer) => canonicalJson(said)
  return saidIn(one) === saidIn(other)
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

/** The error if a run that used a key of its client goes on, or runs again, without one. */
export function keyRequired(): ServableError {
  return new ServableError('key_required', 'The run used a key of its client: send one again')
}
