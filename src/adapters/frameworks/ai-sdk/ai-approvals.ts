/**
 * Approvals of tool calls, as the AI SDK has them in its messages. VoltAgent has the same.
 *
 * @module
 */

import type { RunEvent } from '../../../agents/contract.ts'
import type { RunContext } from '../../../agents/work/perform.ts'
import { type Fields, fieldsOf, listIn } from '../fields.ts'
import { answerTo, type Before } from '../waits.ts'
import type { AiParts } from './ai-parts.ts'

/** The messages of a run that goes on: what was said, and what was decided. */
export function decidedMessages({ state, waiting }: Before, context: RunContext): readonly unknown[] {
  const content = waiting.map(each => {
    const { decision, reason } = answerTo(each, context)
    const approved = decision === 'approve'
    return { type: 'tool-approval-response', approvalId: each.key, approved, reason }
  })
  return [...listIn(state.messages), { role: 'tool', content }]
}

/** Tells the calls that waited again: their ends come in this run. */
export function* tellAgain({ waiting }: Before, parts: AiParts): Generator<RunEvent> {
  for (const { request } of waiting) {
    const { toolCallId, toolName, args: input } = request
    yield* parts.read({ type: 'tool-call', toolCallId, toolName, input })
  }
}

/** All messages of the agent in one run: AI SDK 7, AI SDK 6, VoltAgent. */
export async function saidIn({ responseMessages, response, steps }: Fields): Promise<readonly unknown[]> {
  const last = listIn(await steps).at(-1)
  const { messages } = fieldsOf((await response) ?? fieldsOf(last).response)
  return listIn((await responseMessages) ?? messages)
}
