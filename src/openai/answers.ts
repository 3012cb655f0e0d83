/**
 * What a client answers: results of its tools, and decisions. The ids tell which run waits for them, and whose that is counts, never
 * what a client says.
 *
 * @module
 */

import type { Answer, InputRequest } from '../agents/contract.ts'
import { askedForText } from '../encoders/questions.ts'
import { ServableError } from '../errors.ts'
import { AnswersSchema } from '../runs/answers.ts'
import type { RunHost, Viewer } from '../runs/host.ts'
import type { RunRecord } from '../runs/record.ts'
import type { Target } from '../runs/target.ts'
import { misfit, validate } from '../validation.ts'
import { approvalIdOf, callIdOf, runOf, runOfCall } from './ids.ts'

/** An answer, by the id that the client knows its request by. */
export interface Given {
  readonly id: string
  readonly answer:
    | { readonly result: unknown }
    | { readonly decision: 'approve' | 'deny'; readonly reason?: string }
  /** Where the body has it. */
  readonly path: string
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
export function idFor(runId: string, { id, kind, toolCallId = id }: InputRequest): string {
  return kind === 'approval' ? approvalIdOf(runId, toolCallId) : callIdOf(runId, toolCallId)
}

/**
 * The answers to a run. All that it asks is to be answered at once. Throws `run_not_found` and `request_not_found` for what nobody
 * asked this client, and `invalid_body`.
 */
export async function answersTo(
  given: readonly Given[],
  target: Target,
  host: Pick<RunHost, 'get'>,
  viewer: Viewer,
): Promise<Answers> {
  const ids = new Set(given.map(({ id }) => runOfCall(id) ?? runOf(id)))
  const [id, ...others] = ids
  if (id === undefined || others.length > 0)
    throw new ServableError(
      'run_not_found',
      `\`${given[0]?.path}\`: no run waits for this, or not for all of it`,
    )
  const record = await host.get(id, viewer)
  checkTarget(record, target)
  const asked = askedBy(record)
  const byId = new Map(asked.map(request => [idFor(id, request), request]))
  const answers = given.map(({ id: key, answer, path }) => {
    const request = byId.get(key)
    if (request === undefined)
      throw new ServableError('request_not_found', `\`${path}\`: the run has not asked this`)
    return { id: request.id, ...answer }
  })
  const left = record.requests?.find(request => !answers.some(answer => answer.id === request.id))
  if (left !== undefined)
    throw misfit(
      given[0]?.path ?? '',
      `must come with all that the run waits for: \`${idFor(id, left)}\` has no answer`,
    )
  return { id, answers: validate(AnswersSchema, answers, 'invalid_body', 'input'), asked }
}

/** The answer that a text is to a run that waits for nothing else. */
export function textAnswerTo(record: RunRecord, text: unknown): Answers | undefined {
  const { id, requests = [] } = record
  const question = requests.length === 1 && typeof text === 'string' ? askedForText(requests) : undefined
  return question && { id, answers: [{ id: question.id, value: text }], asked: askedBy(record) }
}

/** Throws `request_not_found` for a run of another model. */
export function checkTarget(record: RunRecord, { kind, name }: Target): void {
  if (record.kind !== kind || record.name !== name)
    throw new ServableError('request_not_found', 'Another model asked this')
}

/** What a run has asked, also what was answered by now. */
function askedBy({ requests, result }: RunRecord): readonly InputRequest[] {
  return result?.requests ?? requests ?? []
}
