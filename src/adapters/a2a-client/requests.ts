/**
 * Reads the requests of a remote agent, and writes the answers to them.
 *
 * @module
 */

import type { Part } from '@a2a-js/sdk'
import type { ContentPart } from '../../agents/contract.ts'
import { MAX_REQUESTS } from '../../agents/event.ts'
import type { RunContext } from '../../agents/work/perform.ts'
import { isObject } from '../../base/validation.ts'
import { type AgentRequest, answerTo, type WaitingRequest } from '../frameworks/waits.ts'
import { unfit } from './failure.ts'
import { dataPart, textOfParts, textPart } from './parts.ts'

/** The key of a question that is answered with text. */
const AS_TEXT = 'text'

const KINDS = ['approval', 'question', 'client_tool'] as const

/**
 * The requests in a status message: those of another servable, or else one question with the text of the message. Throws
 * `invalid_agent_response` for malformed requests.
 */
export function requestsIn(parts: readonly ContentPart[]): readonly AgentRequest[] {
  const requests = parts.flatMap(part => {
    const found = part.type === 'data' && isObject(part.data) ? part.data.requests : undefined
    return Array.isArray(found) ? found : []
  })
  if (requests.length > MAX_REQUESTS) throw unfit(`asks for more than ${MAX_REQUESTS} things at once`)
  if (requests.length > 0) return requests.map(requestOf)
  const message = textOfParts(parts) || 'The remote agent needs more input'
  return [{ key: AS_TEXT, kind: 'question', name: 'input', message, schema: { type: 'string' } }]
}

function requestOf(request: unknown): AgentRequest {
  const { id, kind: named, message, toolCallId, toolName, args, schema, editable, digest } = Object(request)
  const kind = KINDS.find(each => each === named)
  const isTool = kind !== 'question'
  if (kind === undefined || typeof id !== 'string' || (isTool && typeof toolName !== 'string')) {
    throw unfit('asks for something that is neither an approval, a question nor a client tool')
  }
  return {
    key: JSON.stringify({ id, ...(typeof digest === 'string' && { digest }) }),
    kind,
    ...(kind === 'question' && { name: 'input' }),
    ...(typeof message === 'string' && { message }),
    ...(isTool && typeof toolCallId === 'string' && { toolCallId }),
    ...(isTool && { toolName, args }),
    ...(schema !== undefined && { schema }),
    ...(editable === true && { editable }),
  }
}

/** The parts that answer the requests, under the ids of the remote agent. Text never approves. */
export function answeringParts(waiting: readonly WaitingRequest[], context: RunContext): Part[] {
  const [first] = waiting
  if (first?.key === AS_TEXT) {
    const { value } = answerTo(first, context)
    return [textPart(typeof value === 'string' ? value : JSON.stringify(value))]
  }
  const answers = waiting.map(each => {
    const { id: _, digest: __, ...answer } = answerTo(each, context)
    return { ...JSON.parse(each.key), ...answer }
  })
  return [dataPart({ answers })]
}
