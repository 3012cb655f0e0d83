/**
 * Approvals of tool calls in the AI SDK's messages. VoltAgent uses the same form.
 *
 * @module
 */

import type { RunEvent } from '../../../agents/contract.ts'
import type { RunContext } from '../../../agents/work/perform.ts'
import { fieldsOf, listIn, type UnknownFields } from '../fields.ts'
import { answerTo, type Before } from '../waits.ts'
import type { AiParts } from './ai-parts.ts'

/** The messages of a run that goes on: the earlier messages and the decisions. */
export function decidedMessages({ state, waiting }: Before, context: RunContext): readonly unknown[] {
  const content = waiting.map(each => {
    const { decision, reason } = answerTo(each, context)
    const approved = decision === 'approve'
    return { type: 'tool-approval-response', approvalId: each.key, approved, reason }
  })
  return [...listIn(state.messages), { role: 'tool', content }]
}

/** Sends the calls that waited again, since their ends come in this run. */
export function* repeatCalls({ waiting }: Before, parts: AiParts): Generator<RunEvent> {
  for (const { request } of waiting) {
    const { toolCallId, toolName, args: input } = request
    yield* parts.read({ type: 'tool-call', toolCallId, toolName, input })
  }
}

/** All messages of the agent in one run: AI SDK 7, AI SDK 6, VoltAgent. */
export async function messagesIn({
  responseMessages,
  response,
  steps,
}: UnknownFields): Promise<readonly unknown[]> {
  const last = listIn(await steps).at(-1)
  const { messages } = fieldsOf((await response) ?? fieldsOf(last).response)
  return listIn((await responseMessages) ?? messages)
}
