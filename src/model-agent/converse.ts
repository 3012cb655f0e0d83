/**
 * A conversation with a model up to its answer, or up to where somebody must be asked: a client for the result of its tool, a
 * person for an approval.
 *
 * @module
 */

import type { ModelMessage, ToolResultPart } from 'ai'
import type { FinishReason, RunEvent, Usage } from '../agents/contract.ts'
import { isAnswered } from '../agents/input-request.ts'
import type { RunContext } from '../agents/perform.ts'
import { addUsage } from '../agents/usage.ts'
import { takeAnswers } from './answers.ts'
import { callModel, type ModelAnswer, type ModelCall } from './call-model.ts'
import { isRefusal } from './failure.ts'
import { settle } from './settle.ts'
import type { Conversation, Waiting } from './waiting.ts'

/** What came of a conversation. */
export interface Said {
  readonly finishReason: FinishReason
  readonly usage?: Usage
  readonly structured: object | null
  /** With all that was said in its turn. */
  readonly conversation: Conversation
}

/** Goes on with a conversation: first by what was answered, then by asking the model, as often as it takes. */
export async function* converse(
  call: Omit<ModelCall, 'messages'>,
  { turns, turn, waiting }: Conversation,
  run: RunContext,
): AsyncGenerator<RunEvent, Said> {
  const said = [...turn]
  const end = (finishReason: FinishReason, structured: object | null, waits: readonly Waiting[]): Said => ({
    finishReason,
    ...(usage && { usage }),
    structured,
    conversation: { turns, turn: said, waiting: waits },
  })
  let usage: Usage | undefined
  run.scope.meet(waiting.map(({ request }) => request))
  if (!isAnswered(waiting, run.answers)) return end('input_required', null, waiting)
  addResults(said, yield* takeAnswers(waiting, call, run))
  let left = call.settings.maxSteps ?? 10
  while (true) {
    const settings = { ...call.settings, maxSteps: left }
    const answer = yield* callWithHistory({ ...call, settings }, turns, said)
    said.push(...answer.messages)
    if (answer.usage) usage = usage === undefined ? answer.usage : addUsage(usage, answer.usage)
    if (answer.open.length === 0) return end(answer.finishReason, answer.structured, [])
    const waits: Waiting[] = []
    addResults(said, yield* settle(answer.open, waits, call, run))
    if (waits.length > 0) return end('input_required', null, waits)
    left -= answer.steps
    if (left <= 0) return end('tool_calls', null, [])
  }
}

/** A provider that refuses a conversation is asked once more with its newer half: it may be too long for the model. */
async function* callWithHistory(
  call: Omit<ModelCall, 'messages'>,
  turns: readonly (readonly ModelMessage[])[],
  turn: readonly ModelMessage[],
): AsyncGenerator<RunEvent, ModelAnswer> {
  const events = callModel({ ...call, messages: [...turns.flat(), ...turn] })
  let first: IteratorResult<RunEvent, ModelAnswer>
  try {
    first = await events.next()
  } catch (error) {
    if (turns.length === 0 || !isRefusal(error)) throw error
    const newer = turns.slice(Math.ceil(turns.length / 2))
    return yield* callModel({ ...call, messages: [...newer.flat(), ...turn] })
  }
  if (first.done) return first.value
  yield first.value
  return yield* events
}

function addResults(said: ModelMessage[], content: ToolResultPart[]): void {
  if (content.length > 0) said.push({ role: 'tool', content })
}
