/**
 * Reads the answers of a page: approvals, and the outputs of the tools that the page runs. Questions are calls of such a tool.
 * The answers are parts of the assistant's message, which the page sends back.
 *
 * @module
 */

import { type Answer, type InputRequest, ServableError } from '../../core-entry.ts'
import { AnswersSchema, isObject, validate } from '../encoders/index.ts'
import type { UiMessage, UiPart } from './messages.ts'

/** Matches the ids of runs. */
const RUN_ID = /^[\da-f-]{36}$/

/**
 * The id of the waiting run. It is in the metadata of the message. If a page has lost the metadata, it is the beginning of the
 * ids of approvals, or the id of the message, which is that of its first run. Throws `run_not_found`.
 */
export function waitingRunOf({ id, metadata, parts }: UiMessage): string {
  const ofRequest = parts.findLast(isDecided)?.approval
  const [asked] = isObject(ofRequest) ? String(ofRequest.id).split('/', 1) : []
  const named = isObject(metadata) ? metadata.runId : undefined
  const found = [named, asked, id].find(each => typeof each === 'string' && RUN_ID.test(each))
  if (found !== undefined) return String(found)
  throw new ServableError('run_not_found', 'The message is none of a run that waits')
}

/**
 * The answers to requests in a message. Nothing else in the message counts: a call runs with its stored input. Throws
 * `request_not_found` if there are no answers, and `invalid_body`.
 */
export function answersIn({ parts }: UiMessage, requests: readonly InputRequest[]): Answer[] {
  const answers = requests.flatMap(
    request => parts.map(part => answerTo(request, part)).findLast(each => each !== undefined) ?? [],
  )
  if (answers.length > 0) return validate(AnswersSchema, answers, 'invalid_body', 'answers')
  throw new ServableError('request_not_found', 'The message answers nothing that its run has asked')
}

function answerTo({ id, kind, toolCallId = id }: InputRequest, part: UiPart): Answer | undefined {
  if (kind === 'approval') return decisionOf(id, part)
  if (part.toolCallId !== toolCallId) return undefined
  const { state, output = null, errorText } = part
  if (state === 'output-available')
    return kind === 'question' ? { id, value: output } : { id, result: output }
  return state === 'output-error' && kind === 'client_tool' ? { id, result: { error: errorText } } : undefined
}

function decisionOf(id: string, part: UiPart): Answer | undefined {
  const { approval } = part
  if (!isDecided(part) || !isObject(approval) || approval.id !== id) return undefined
  const { approved, reason } = approval
  return {
    id,
    decision: approved === true ? 'approve' : 'deny',
    ...(typeof reason === 'string' && reason !== '' && { reason }),
  }
}

function isDecided({ state }: UiPart): boolean {
  return state === 'approval-responded'
}
