/**
 * Reads the answers of a client: results of its tools, and decisions. Their ids contain the id of the waiting run. The owner of
 * that run decides who may answer it.
 *
 * @module
 */

import {
  type Answer,
  type CallerRuns,
  type HistoryToolCall,
  type InputRequest,
  type RunRecord,
  ServableError,
  type Target,
} from '../../core-entry.ts'
import { AnswersSchema, misfit, validate } from '../encoders/index.ts'
import { runOf } from './ids.ts'

/** Answers to a waiting run. */
export interface RunAnswers {
  /** The id of the run. */
  readonly id: string
  readonly answers: readonly Answer[]
  /** The requests of the run. */
  readonly asked: readonly InputRequest[]
}

/** An answer, with the id that its request has for the client. */
export interface GivenAnswer {
  readonly id: string
  readonly answer: object
}

/** Gives the id of a request for the client. */
export type IdFor = (runId: string, request: InputRequest) => string

/** The answers and messages of one request. */
export interface AnsweringRequest {
  readonly given: readonly GivenAnswer[]
  /** All other messages. */
  readonly earlier: readonly {
    readonly role: string
    readonly toolCalls?: readonly HistoryToolCall[] | undefined
  }[]
  readonly target: Target
  readonly idFor: IdFor
  /** The run of the response that the request continues. */
  readonly previousId?: string | undefined
}

/**
 * The answers to the run that the last answer is for. Answers to other runs were given before, and are ignored. All requests of
 * the run must be answered at once. Returns undefined if the last answer is the result of a call that another model made in this
 * conversation. Then the client has handed the conversation over, and the result is a part of its history. Throws `run_not_found`
 * and `request_not_found` if there is no such request for this client, and `invalid_body`.
 */
export async function answersTo(
  { given, earlier, target, previousId, idFor }: AnsweringRequest,
  runs: Pick<CallerRuns, 'get'>,
): Promise<RunAnswers | undefined> {
  const last = given.at(-1)?.id ?? ''
  const id = runOf(last)
  if (id === undefined) throw new ServableError('run_not_found', `No run waits for \`${last.slice(0, 100)}\``)
  const record = await runs.get(id)
  const isHandedOver = !isOf(record, target) && given.every(({ answer }) => 'result' in answer)
  if (isHandedOver && (id === previousId || isCalled(last, earlier))) return undefined
  checkTarget(record, target)
  const asked = requestsOf(record)
  const byId = new Map(asked.map(request => [idFor(id, request), request]))
  const answers = given.flatMap(({ id: known, answer }) => {
    const request = byId.get(known)
    if (request !== undefined) return { id: request.id, ...answer }
    if (runOf(known) !== id) return []
    // The requests of a run that is not stored are not known any more.
    const code = record.continuedBy === undefined ? 'request_not_found' : 'already_answered'
    throw new ServableError(code, `No run waits for \`${known}\``)
  })
  const left = record.requests?.find(request => !answers.some(answer => answer.id === request.id))
  if (left !== undefined) throw misfit('input', `must also answer \`${idFor(id, left)}\``)
  return { id, answers: validate(AnswersSchema, answers, 'invalid_body', 'input'), asked }
}

/** Throws `request_not_found` for a run of another model. */
export function checkTarget(record: RunRecord, target: Target): void {
  if (!isOf(record, target)) throw new ServableError('request_not_found', 'Another model asked this')
}

function isOf(record: RunRecord, { kind, name }: Target): boolean {
  return record.kind === kind && record.name === name
}

/** Whether the messages contain the call itself. */
function isCalled(id: string, messages: AnsweringRequest['earlier']): boolean {
  return messages.some(message => message.toolCalls?.some(call => call.toolCallId === id))
}

/** All requests of a run, answered ones too. */
export function requestsOf({ requests, result }: RunRecord): readonly InputRequest[] {
  return result?.requests ?? requests ?? []
}
