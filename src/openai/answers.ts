/**
 * What a client answers: results of its tools, and decisions. The ids tell which run waits for them, and whose that is counts, never
 * what a client says.
 *
 * @module
 */

import type { Answer, InputRequest } from '../agents/contract.ts'
import { ServableError } from '../errors.ts'
import type { RunHost, Viewer } from '../runs/host.ts'
import type { RunRecord } from '../runs/record.ts'
import type { Target } from '../runs/target.ts'
import { misfit } from '../validation.ts'
import { approvalIdOf, callIdOf, runOf } from './ids.ts'

/** An answer, by the id that the client knows its request by. */
export interface Given {
  readonly id: string
  readonly answer: object
}

/** Answers to a run that waits. */
export interface Answers {
  /** The id of the run. */
  readonly id: string
  readonly answers: readonly Answer[]
  /** What the run has asked. */
  readonly asked: readonly InputRequest[]
}

/** The id that a client knows a request by. */
function idFor(runId: string, { id, kind, toolCallId = id }: InputRequest): string {
  return (kind === 'approval' ? approvalIdOf : callIdOf)(runId, toolCallId)
}

/**
 * The answers to a run: the one that the last answer is for. Answers to others were given before. All that it asks is to be answered
 * at once. Throws `run_not_found` and `request_not_found` for what nobody asked this client, and `invalid_body`.
 */
export async function answersTo(
  given: readonly Given[],
  target: Target,
  host: Pick<RunHost, 'get'>,
  viewer: Viewer,
): Promise<Answers> {
  const last = given.at(-1)?.id ?? ''
  const id = runOf(last)
  if (id === undefined) throw new ServableError('run_not_found', `No run waits for \`${last.slice(0, 100)}\``)
  const record = await host.get(id, viewer)
  checkTarget(record, target)
  const asked = askedBy(record)
  const answers = given.flatMap(({ id: known, answer }) => {
    const request = asked.find(each => idFor(id, each) === known)
    if (request !== undefined) return { id: request.id, ...answer }
    if (runOf(known) !== id) return []
    // Of a plain run it is not known any more what it has asked.
    const code = record.continuedBy === undefined ? 'request_not_found' : 'already_answered'
    throw new ServableError(code, `The run does not wait for \`${known}\``)
  })
  const left = record.requests?.find(request => !answers.some(answer => answer.id === request.id))
  if (left !== undefined) throw misfit('input', `must also answer \`${idFor(id, left)}\``)
  return { id, answers: answers as Answer[], asked }
}

/** Throws `request_not_found` for a run of another model. */
export function checkTarget(record: RunRecord, { kind, name }: Target): void {
  if (record.kind !== kind || record.name !== name)
    throw new ServableError('request_not_found', 'Another model asked this')
}

/** What a run has asked, also what was answered by now. */
export function askedBy({ requests, result }: RunRecord): readonly InputRequest[] {
  return result?.requests ?? requests ?? []
}
