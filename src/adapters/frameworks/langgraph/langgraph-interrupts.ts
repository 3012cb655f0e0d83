/**
 * Requests of graphs that call `interrupt`: a question, or approvals in the form of LangChain's `humanInTheLoopMiddleware`.
 *
 * @module
 */

import type { RunContext } from '../../../agents/work/perform.ts'
import { fieldsOf, listIn, objectIn, textIn, type UnknownFields } from '../fields.ts'
import {
  type AgentQuestion,
  type AgentRequest,
  answerTo,
  type Before,
  lost,
  questionOf,
  type WaitingRequest,
} from '../waits.ts'
import type { Interrupt } from './langgraph-items.ts'

/** The requests for one interrupt. */
export function asksOf({ id, value }: Interrupt): readonly AgentRequest[] {
  const { actionRequests, reviewConfigs, schema } = fieldsOf(value)
  const configs = new Map(
    listIn(reviewConfigs).map(config => [fieldsOf(config).actionName, fieldsOf(config)]),
  )
  const calls = listIn(actionRequests).map(call => ({
    ...configs.get(fieldsOf(call).name),
    ...fieldsOf(call),
  }))
  if (calls.length > 0 && calls.every(call => allows(call, 'approve') && allows(call, 'reject'))) {
    return calls.map((call, at) => toApproval(`${id}/${at}`, call))
  }
  const question: AgentQuestion = { kind: 'question', name: 'interrupt', message: questionOf(value) }
  return [{ key: id, ...question, ...(objectIn(schema) && { schema }) }]
}

/** An interrupt as text. If a node asks twice, both have one id, and only the values differ. */
export function toText(interrupt: unknown): string {
  const { id, value } = fieldsOf(interrupt)
  return JSON.stringify([id, value])
}

/** Whether a call of the middleware allows a decision. */
function allows({ allowedDecisions }: UnknownFields, decision: string): boolean {
  return listIn(allowedDecisions).includes(decision)
}

function toApproval(key: string, call: UnknownFields): AgentRequest {
  const { name, args, description, argsSchema: schema = { type: 'object' } } = call
  const message = textIn(description)
  const edits = allows(call, 'edit') && ({ editable: true, schema } as const)
  return { key, kind: 'approval', toolName: String(name), args, ...(message && { message }), ...edits }
}

/**
 * The values with which the interrupts go on, by their ids. `open` has the interrupts at which the thread waits. Throws
 * `not_resumable` if the thread does not wait at these.
 */
export function answersOf(
  { state, waiting }: Before,
  open: readonly unknown[],
  context: RunContext,
): UnknownFields {
  const answers = listIn(state.interrupts).map((interrupt): [string, unknown] => {
    const id = String(fieldsOf(interrupt).id)
    if (!open.includes(toText(interrupt))) throw lost('The checkpointer of the graph has lost the interrupt')
    const question = waiting.find(({ key }) => key === id)
    if (question !== undefined) return [id, answerTo(question, context).value]
    const decisions = waiting.filter(({ key }) => key.startsWith(`${id}/`))
    return [id, { decisions: decisions.map(each => toDecision(each, context)) }]
  })
  return Object.fromEntries(answers)
}

function toDecision(waiting: WaitingRequest, context: RunContext): object {
  const { decision, reason, editedArgs } = answerTo(waiting, context)
  if (decision !== 'approve') return { type: 'reject', message: reason }
  if (editedArgs === undefined) return { type: 'approve' }
  return { type: 'edit', editedAction: { name: waiting.request.toolName, args: editedArgs } }
}
