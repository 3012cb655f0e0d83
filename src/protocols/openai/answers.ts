/**
 * What a client answers: results of its tools, and decisions. The ids tell which run waits for them, and whose that is counts, never
 * what a client says.
 *
 * @module
 */

import type { Answer, InputRequest } from '../../agents/contract.ts'
import { ServableError } from '../../base/errors.ts'
import { misfit, validate } from '../../base/validation.ts'
import type { RunHost, Viewer } from '../../runs/stored/host.ts'
import type { RunRecord } from '../../runs/stored/record.ts'
import type { Target } from '../../runs/target.ts'
import { AnswersSchema } from '../../runs/waiting/answers.ts'
import { approvalIdOf, callIdOf, runOf } from './ids.ts'
import type { Said } from './messages.ts'

/** Answers to a run that waits. */
export interface Answers {
  /** The id of the run. */
  readonly id: string
  readonly answers: readonly Answer[]
  /** What the run has asked. */
  readonly asked: readonly InputRequest[]
}

/** The id that a client knows a request by. */
export function idFor(runId: string, { id, kind, toolCallId = id }: InputRequest): string {
  return (kind === 'approval' ? approvalIdOf : callIdOf)(runId, toolCallId)
}

/** What a client tells in one request. */
export interface Telling extends Pick<Said, 'earlier' | 'given'> {
  readonly target: Target
  /** The run of the response that the request goes on from. */
  readonly previousId?: string | undefined
}

/**
 * The answers to a run: the one that the last answer is for. Answers to others were given before. All that it asks is to be answered
 * at once. Undefined if the last one is the result of a call that another model made in this conversation: the client has handed the
 * conversation over, and the result is a part of it. Throws `run_not_found` and `request_not_found` for what nobody asked this client,
 * and `invalid_body`.
 */
export async function answersTo(
  { given, earlier, target, previousId }: Telling,
  host: Pick<RunHost, 'get'>,
  viewer: Viewer,
): Promise<Answers | undefined> {
  const last = given.at(-1)?.id ?? ''
  const id = runOf(last)
  if (id === undefined) throw new ServableError('run_not_found', `No run waits for \`${last.slice(0, 100)}\``)
  const record = await host.get(id, viewer)
  const isHandedOver = !isOf(record, target) && given.every(({ answer }) => 'result' in answer)
  if (isHandedOver && (id === previousId || isCalled(last, earlier))) return undefined
  checkTarget(record, target)
  const asked = askedBy(record)
  const byId = new Map(asked.map(request => [idFor(id, request), request]))
  const answers = given.flatMap(({ id: known, answer }) => {
    const request = byId.get(known)
    if (request !== undefined) return { id: request.id, ...answer }
    if (runOf(known) !== id) return []
    // Of a plain run it is not known any more what it has asked.
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

/** Whether the messages tell the call itself. */
function isCalled(id: string, messages: Said['earlier']): boolean {
  return messages.some(
    message => message.role === 'assistant' && message.toolCalls?.some(call => call.toolCallId === id),
  )
}

/** What a run has asked, also what was answered by now. */
export function askedBy({ requests, result }: RunRecord): readonly InputRequest[] {
  return result?.requests ?? requests ?? []
}
