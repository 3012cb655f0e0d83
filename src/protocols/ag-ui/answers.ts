/**
 * What a client of AG-UI answers: interrupts by `resume`, and calls by messages of tools. The ids of interrupts and of messages begin
 * with the id of the run that said them, so that it is found again. Whose it is counts, and never what a client says.
 *
 * @module
 */

import type { Answer, InputRequest } from '../../agents/contract.ts'
import { ServableError } from '../../base/errors.ts'
import { misfit, validate } from '../../base/validation.ts'
import type { RunHost, Viewer } from '../../runs/stored/host.ts'
import type { Target } from '../../runs/target.ts'
import { AnswersSchema } from '../../runs/waiting/answers.ts'
import { givenIn } from '../encoders/history.ts'
import type { Message, ResumeEntry, RunAgentInput, ToolMessage } from './input.ts'
import { lastUserOf } from './messages.ts'

/** Answers to a run that waits. */
export interface Answers {
  /** The id of the run. */
  readonly id: string
  /** None where a question is cancelled: then the run does not go on. */
  readonly answers: readonly Answer[]
  readonly known: Known
  /** Arguments that were edited, by the ids of their calls. */
  readonly edited: ReadonlyMap<string, unknown>
}

/** What a client has of a run that goes on: calls, and their results. */
export interface Known {
  readonly calls?: ReadonlySet<string>
  readonly results?: ReadonlySet<string>
}

/** An id of what a run says. */
export function idIn(runId: string, rest: string | number): string {
  return `${runId}/${rest}`
}

/** The run that said what has this id. */
function runOf(id: string): string {
  return id.split('/', 1)[0] ?? ''
}

/**
 * The answers of a client; undefined where it asks for a new run. Throws `run_not_found` and `request_not_found` for what nobody asked
 * this client, `already_answered` for calls that wait no more, and `invalid_body` for an answer that does not fit.
 */
export async function answersOf(
  { messages, resume }: RunAgentInput,
  { kind, name }: Target,
  host: Pick<RunHost, 'get'>,
  viewer: Viewer,
): Promise<Answers | undefined> {
  const last = messages.at(-1)
  const said = resume[0]?.interruptId ?? (last?.role === 'tool' ? saidIn(messages, last) : undefined)
  if (said === undefined) return undefined
  const id = runOf(said)
  const record = await host.get(id, viewer)
  if (record.kind !== kind || record.name !== name) {
    throw new ServableError('request_not_found', 'Another agent asked this')
  }
  const { requests = [] } = record
  const turn = messages.slice(lastUserOf(messages) + 1)
  const results = turn.filter(message => message.role === 'tool')
  const others = requests.filter(request => !resume.some(({ interruptId }) => interruptId === request.id))
  const answers = [...resumed(resume, requests), ...called(results, others)]
  if (answers.length === 0) throw new ServableError('already_answered', 'The run waits for no result')
  const calls = turn.flatMap(message => ('toolCalls' in message ? (message.toolCalls ?? []) : []))
  // A decision on a call is not its result.
  const approvals = requests.flatMap(request => (request.kind === 'approval' ? [request.toolCallId] : []))
  const given = answers.includes(undefined) ? [] : validate(AnswersSchema, answers, 'invalid_body', 'resume')
  return {
    id,
    answers: given,
    edited: editedIn(given, record.result?.requests ?? requests),
    known: {
      calls: new Set(calls.map(call => call.id)),
      results: new Set(results.map(({ toolCallId }) => toolCallId).filter(each => !approvals.includes(each))),
    },
  }
}

function editedIn(answers: readonly Answer[], requests: readonly InputRequest[]): Map<string, unknown> {
  const edited = new Map<string, unknown>()
  for (const answer of answers) {
    const { toolCallId } = requests.find(({ id }) => id === answer.id) ?? {}
    if (toolCallId !== undefined && 'editedArgs' in answer) edited.set(toolCallId, answer.editedArgs)
  }
  return edited
}

/** The id of the message with the call that has this result. */
function saidIn(messages: readonly Message[], result: ToolMessage): string {
  const message = messages.findLast(
    each => each.role === 'assistant' && each.toolCalls?.some(({ id }) => id === result.toolCallId),
  )
  // A result of no call answers nothing: no run has its id.
  return message?.id ?? result.toolCallId
}

/** The answers to interrupts; undefined for one that has none. */
function resumed(resume: readonly ResumeEntry[], requests: readonly InputRequest[]): unknown[] {
  return resume.map(({ interruptId: id, status, payload }, index) => {
    const request = requests.find(each => each.id === id)
    const kind = request?.kind ?? (status === 'cancelled' || isDecision(payload) ? 'approval' : 'question')
    if (status === 'cancelled') return kind === 'approval' ? { id, decision: 'deny' } : undefined
    return answerTo({ id, kind }, payload, `resume.${index}.payload`)
  })
}

/** The answers that messages of tools are: results of client tools, and decisions on calls that `resume` does not answer. */
function called(results: readonly ToolMessage[], requests: readonly InputRequest[]): unknown[] {
  const byCall = new Map(requests.map(request => [request.toolCallId, request]))
  return results.flatMap(({ toolCallId, content, error }) => {
    const request = byCall.get(toolCallId)
    if (request === undefined) return []
    byCall.delete(toolCallId)
    return [answerTo(request, error ? { error } : givenIn(content), 'messages')]
  })
}

function answerTo({ id, kind }: Pick<InputRequest, 'id' | 'kind'>, value: unknown, path: string): object {
  if (kind === 'approval') return { id, ...decisionOf(givenIn(value), path) }
  if (value === undefined) throw misfit(path, 'is missing')
  return kind === 'question' ? { id, value } : { id, result: value }
}

/** `true`, `{ approved, reason?, editedArgs? }`, or `decision` in place of `approved`. */
function decisionOf(value: unknown, path: string) {
  if (!isDecision(value)) throw misfit(path, 'must have `approved`')
  const {
    decision,
    approved = value === true || decision === 'approve',
    reason,
    editedArgs,
  } = Object(value) as Fields
  const isApproved = approved === true
  return {
    decision: isApproved ? 'approve' : 'deny',
    ...(reason !== undefined && { reason }),
    ...(isApproved && editedArgs !== undefined && { editedArgs }),
  }
}

type Fields = Readonly<Record<string, unknown>>

/** Whether a value says yes or no. */
function isDecision(value: unknown): boolean {
  if (typeof value === 'boolean') return true
  const { approved, decision } = Object(value) as Fields
  return typeof approved === 'boolean' || decision === 'approve' || decision === 'deny'
}
