/**
 * Reads the answers of AG-UI clients. They answer interrupts with `resume`, and calls with messages of tools. The ids of
 * interrupts and of messages begin with the id of their run, so that the run is found. The owner of that run decides who may
 * answer it.
 *
 * @module
 */

import {
  type Answer,
  type CallerRuns,
  type InputRequest,
  ServableError,
  type Target,
} from '../../core-entry.ts'
import { AnswersSchema, givenIn, misfit, validate } from '../encoders/index.ts'
import type { AgUiMessage, ResumeEntry, RunAgentInput, ToolMessage } from './input.ts'
import { lastUserOf } from './messages.ts'

/** Answers to a waiting run. */
export interface InterruptAnswers {
  /** The id of the run. */
  readonly id: string
  /** Empty if the client cancelled a question. The run does not continue then. */
  readonly answers: readonly Answer[]
  /** The calls and results that the client has. */
  readonly known: KnownCalls
  /** Edited arguments, by the ids of their calls. */
  readonly edited: ReadonlyMap<string, unknown>
}

/** The ids of the calls, and of the results, that the client has of the run that continues. */
export interface KnownCalls {
  readonly calls?: ReadonlySet<string>
  readonly results?: ReadonlySet<string>
}

/** Makes the id of a message of a run. */
export function idIn(runId: string, rest: string | number): string {
  return `${runId}/${rest}`
}

/** The id of the run whose message has this id. */
function runOf(id: string): string {
  return id.split('/', 1)[0] ?? ''
}

/**
 * Returns the answers of a client, or undefined if it asks for a new run. Throws `run_not_found` and `request_not_found` if there
 * is no such request for this client, `already_answered` for calls that no longer wait, and `invalid_body` for an answer that
 * does not fit.
 */
export async function answersOf(
  { messages, resume }: RunAgentInput,
  { kind, name }: Target,
  runs: Pick<CallerRuns, 'get'>,
): Promise<InterruptAnswers | undefined> {
  const last = messages.at(-1)
  const messageId =
    resume[0]?.interruptId ?? (last?.role === 'tool' ? messageIdOf(messages, last) : undefined)
  if (messageId === undefined) return undefined
  const id = runOf(messageId)
  const record = await runs.get(id)
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
function messageIdOf(messages: readonly AgUiMessage[], result: ToolMessage): string {
  const message = messages.findLast(
    each => each.role === 'assistant' && each.toolCalls?.some(({ id }) => id === result.toolCallId),
  )
  // A result without a call answers nothing, because no run has its id.
  return message?.id ?? result.toolCallId
}

/** The answers to interrupts. Undefined for a cancelled question. */
function resumed(resume: readonly ResumeEntry[], requests: readonly InputRequest[]): unknown[] {
  return resume.map(({ interruptId: id, status, payload }, index) => {
    const request = requests.find(each => each.id === id)
    const kind = request?.kind ?? (status === 'cancelled' || isDecision(payload) ? 'approval' : 'question')
    if (status === 'cancelled') return kind === 'approval' ? { id, decision: 'deny' } : undefined
    return answerTo({ id, kind }, payload, `resume.${index}.payload`)
  })
}

/** The answers in messages of tools: results of client tools, and decisions on calls that `resume` does not answer. */
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

/** Whether a value is a decision. */
function isDecision(value: unknown): boolean {
  if (typeof value === 'boolean') return true
  const { approved, decision } = Object(value) as Fields
  return typeof approved === 'boolean' || decision === 'approve' || decision === 'deny'
}
