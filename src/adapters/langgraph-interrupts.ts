/**
 * What graphs ask for with `interrupt`: a question, or approvals in the form of LangChain's `humanInTheLoopMiddleware`.
 *
 * @module
 */

import type { RunContext } from '../agents/perform.ts'
import { type Fields, fieldsOf, listIn, objectIn, textIn } from './fields.ts'
import type { Interrupt } from './langgraph-items.ts'
import { type Asked, type Before, decisionOf, givenBy, lost, questionOf, type Waiting } from './waits.ts'

/** The requests for one interrupt. */
export function asksOf({ id, value }: Interrupt): readonly Asked[] {
  const calls = callsIn(value)
  if (calls === undefined) {
    const schema = objectIn(fieldsOf(value).schema)
    return [
      { key: id, name: 'interrupt', kind: 'question', message: questionOf(value), ...(schema && { schema }) },
    ]
  }
  return calls.map(({ name, args, description, argsSchema, canEdit }, at) => ({
    key: `${id}/${at}`,
    kind: 'approval',
    toolName: String(name),
    args,
    ...(textIn(description) !== undefined && { message: String(description) }),
    ...(canEdit === true && { editable: true, schema: argsSchema ?? { type: 'object' } }),
  }))
}

/** The calls that the middleware asks about; undefined for anything else, or where they cannot be approved or rejected. */
function callsIn(value: unknown): readonly Fields[] | undefined {
  const { actionRequests, reviewConfigs } = fieldsOf(value)
  const configs = new Map(
    listIn(reviewConfigs)
      .map(fieldsOf)
      .map(config => [config.actionName, config]),
  )
  const calls = listIn(actionRequests).map(call => {
    const { allowedDecisions, argsSchema } = configs.get(fieldsOf(call).name) ?? {}
    const allowed = listIn(allowedDecisions)
    const canDecide = allowed.includes('approve') && allowed.includes('reject')
    return { ...fieldsOf(call), argsSchema, canDecide, canEdit: allowed.includes('edit') }
  })
  return calls.length > 0 && calls.every(({ canDecide }) => canDecide) ? calls : undefined
}

/**
 * The values with which the interrupts go on, by their ids. Throws `not_resumable` where the thread does not wait at them:
 * `open` has those at which it does.
 */
export function answersOf({ state, waiting }: Before, open: readonly unknown[], context: RunContext): Fields {
  const answers = listIn(state.interrupts).map((interrupt): [string, unknown] => {
    const id = String(fieldsOf(interrupt).id)
    if (!open.includes(id)) throw lost(`The graph's checkpointer has no thread that waits at \`${id}\``)
    const question = waiting.find(({ key }) => key === id)
    if (question !== undefined) return [id, givenBy(question, context)]
    const decisions = waiting.filter(({ key }) => key.startsWith(`${id}/`))
    return [id, { decisions: decisions.map(each => toDecision(each, context)) }]
  })
  return Object.fromEntries(answers)
}

function toDecision(waiting: Waiting, context: RunContext): object {
  const { approved, reason, editedArgs } = decisionOf(waiting, context)
  if (!approved) return { type: 'reject', ...(reason !== undefined && { message: reason }) }
  if (editedArgs === undefined) return { type: 'approve' }
  return { type: 'edit', editedAction: { name: waiting.request.toolName, args: editedArgs } }
}
