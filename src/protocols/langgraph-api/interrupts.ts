/**
 * What a run waits for, as interrupts of LangGraph, and the answers to these. All approvals of a run are one interrupt, in the form of
 * LangChain's middleware for humans in the loop.
 *
 * @module
 */

import { type Answer, type InputRequest, type RunRecord, ServableError } from '../../core-entry.ts'
import { AnswersSchema, isObject, misfit, validate } from '../encoders/index.ts'

/** What a thread waits for. */
export interface Interrupt {
  readonly id: string
  readonly value: object
}

/** The interrupts of a run that waits. Calls of the client's tools are none: their results come as messages. */
export function interruptsOf(runId: string, requests: readonly InputRequest[] = []): readonly Interrupt[] {
  const approvals = requests.filter(isApproval)
  const questions = requests.filter(({ kind }) => kind === 'question')
  const asked =
    approvals.length > 0 ? [{ id: runId.replaceAll('-', ''), value: approvalValue(approvals) }] : []
  return [
    ...asked,
    ...questions.map(({ id, message, schema }) => ({ id, value: questionValue(message, schema) })),
  ]
}

function isApproval({ kind }: InputRequest): boolean {
  return kind === 'approval'
}

function approvalValue(approvals: readonly InputRequest[]): object {
  return {
    action_requests: approvals.map(({ toolName, args, message }) => ({
      ...{
        name: toolName,
        args,
        description: message ?? `Tool execution requires approval\n\nTool: ${toolName}`,
      },
    })),
    review_configs: approvals.map(({ toolName, editable }) => ({
      action_name: toolName,
      allowed_decisions: editable ? ['approve', 'edit', 'reject'] : ['approve', 'reject'],
    })),
  }
}

function questionValue(question: string | undefined, schema: unknown): object {
  const { enum: options } = Object(schema) as { readonly enum?: unknown }
  return { question, ...(Array.isArray(options) && { options }), ...(schema !== undefined && { schema }) }
}

/** The requests behind each interrupt: of a graph in their order, as the graph has named its own interrupts. */
function askedBy(
  interrupts: readonly Interrupt[],
  requests: readonly InputRequest[],
): ReadonlyMap<string, readonly InputRequest[]> {
  const waiting = [...requests]
  return new Map(
    interrupts.map(({ id, value }) => {
      const { action_requests: snake, actionRequests: calls = snake } = Object(value) as Record<
        string,
        unknown
      >
      const isDecided = Array.isArray(calls) && waiting[0] !== undefined && isApproval(waiting[0])
      return [id, waiting.splice(0, isDecided ? calls.length : 1)]
    }),
  )
}

/**
 * The answers in `command.resume`: a value for the only interrupt, or values by the ids of interrupts. Throws `already_answered` if
 * nothing waits, and `invalid_body`.
 */
export function answersIn(
  resume: unknown,
  { id, requests = [] }: Pick<RunRecord, 'id' | 'requests'>,
  ofGraph?: readonly Interrupt[],
): readonly Answer[] {
  const [approvals, others] = [requests.filter(isApproval), requests.filter(each => !isApproval(each))]
  const asked =
    ofGraph === undefined
      ? askedBy(interruptsOf(id, requests), [...approvals, ...others])
      : askedBy(ofGraph, requests)
  const ids = [...asked.keys()]
  if (ids.length === 0) throw new ServableError('already_answered', 'The thread waits for nothing')
  const isById =
    isObject(resume) && Object.keys(resume).length > 0 && Object.keys(resume).every(key => asked.has(key))
  if (!isById && ids.length > 1)
    throw misfit('command.resume', `must have a value for each of: ${ids.join(', ')}`)
  const values: readonly (readonly [string, unknown])[] = isById
    ? Object.entries(resume)
    : [[ids[0] ?? '', resume]]
  const answers = values.flatMap(([key, value]) => {
    const behind = asked.get(key) ?? []
    const [first] = behind
    return first?.kind === 'question' ? [{ id: first.id, value }] : decisionsIn(value, behind)
  })
  return validate(AnswersSchema, answers, 'invalid_body', 'command.resume')
}

/** The decisions on calls, in their order. One decision alone is for one call alone. */
function decisionsIn(value: unknown, approvals: readonly InputRequest[]): object[] {
  const { decisions = value } = Object(value) as { readonly decisions?: unknown }
  const given = Array.isArray(decisions) ? decisions : [decisions]
  if (given.length !== approvals.length) {
    throw misfit('command.resume.decisions', `must have ${approvals.length} decisions, one for each call`)
  }
  return approvals.map(({ id }, at) => ({ id, ...decisionIn(given[at], `command.resume.decisions.${at}`) }))
}

const APPROVED: readonly unknown[] = ['approve', 'accept', 'edit', true]
const DENIED: readonly unknown[] = ['reject', 'ignore', 'response', false]

function decisionIn(decision: unknown, field: string): object {
  const fields = isObject(decision) ? decision : { type: decision }
  const { type, message, args } = fields
  const reason = [message, args].find(each => typeof each === 'string')
  if (DENIED.includes(type)) return { decision: 'deny', ...(reason !== undefined && { reason }) }
  if (!APPROVED.includes(type)) throw misfit(`${field}.type`, 'must be `approve`, `edit` or `reject`')
  if (type !== 'edit') return { decision: 'approve' }
  const { edited_action: snake, editedAction: edited = snake ?? args } = fields
  const { args: editedArgs } = Object(edited) as { readonly args?: unknown }
  if (editedArgs === undefined) throw misfit(`${field}.edited_action.args`, 'is missing')
  return { decision: 'approve', editedArgs }
}
