/**
 * A conversation with a model up to its answer, or up to where somebody must be asked: a client for the result of its tool, a
 * person for an approval.
 *
 * @module
 */

import type { ModelMessage } from 'ai'
import type { FinishReason, RunEvent, Usage } from '../../agents/contract.ts'
import { addUsage } from '../../agents/usage.ts'
import type { Yielded } from '../../agents/work/perform.ts'
import { callModel, type ModelCall } from './call-model.ts'
import type { ModelAnswer, OpenCall } from './calls.ts'
import { isRefusal } from './failure.ts'
import type { Settled } from './settle.ts'
import type { Conversation } from './waiting.ts'

/** What came of a conversation. */
export interface Said {
  readonly finishReason: FinishReason
  readonly usage?: Usage
  readonly structured: object | null
  /** With all that was said in its turn. */
  readonly conversation: Conversation
}

/** Does the calls that the model's package does not carry out. */
export interface Calls {
  settle(open: readonly OpenCall[]): AsyncGenerator<Yielded, Settled>
  /** Goes on with those for which a conversation waited. */
  resume(conversation: Conversation): AsyncGenerator<Yielded, Settled>
}

/** Goes on with a conversation: first with the calls that waited, then by asking the model, as often as it takes. */
export async function* converse(
  call: Omit<ModelCall, 'messages'>,
  conversation: Conversation,
  calls: Calls,
): AsyncGenerator<Yielded, Said> {
  const { turns } = conversation
  const { rounds } = call
  const said = [...conversation.turn]
  let usage: Usage | undefined
  const end = (
    finishReason: FinishReason,
    waiting: Settled['waits'] = [],
    structured: object | null = null,
  ) => ({
    finishReason,
    ...(usage && { usage }),
    structured,
    conversation: { turns, turn: said, waiting },
  })
  rounds.begin(said.length)
  let settled = yield* calls.resume(conversation)
  let left = call.settings.maxSteps ?? 10
  edit(said, settled.edited)
  while (true) {
    if (settled.results.length > 0) said.push({ role: 'tool', content: [...settled.results] })
    if (settled.waits.length > 0) return end('input_required', settled.waits)
    if (left <= 0) return end('tool_calls')
    const settings = { ...call.settings, maxSteps: left }
    const answer = yield* ask({ ...call, settings }, turns, said)
    said.push(...answer.messages)
    if (answer.usage) usage = usage === undefined ? answer.usage : addUsage(usage, answer.usage)
    left -= answer.steps
    if (answer.isDone) return end(answer.finishReason, [], answer.structured)
    rounds.begin(said.length)
    settled = yield* calls.settle(answer.open)
  }
}

/** The calls that waited have the arguments with which they ran. Ids may come again: the last call of an id has waited. */
function edit(said: ModelMessage[], edited: Settled['edited'] = new Map()): void {
  const left = new Map(edited)
  if (left.size === 0) return
  for (const [at, message] of [...said.entries()].reverse()) {
    if (message.role !== 'assistant' || typeof message.content === 'string') continue
    const content = message.content.map(part => {
      if (part.type !== 'tool-call' || !left.has(part.toolCallId)) return part
      const input = left.get(part.toolCallId)
      left.delete(part.toolCallId)
      return { ...part, input }
    })
    said[at] = { ...message, content }
  }
}

/** Asks the model, unless its answer is kept. */
function ask(
  call: Omit<ModelCall, 'messages'>,
  turns: readonly (readonly ModelMessage[])[],
  said: readonly ModelMessage[],
): AsyncGenerator<RunEvent, ModelAnswer> {
  call.rounds.begin(said.length)
  const asking = callWithHistory(call, turns, said)
  return call.rounds.isKept ? call.rounds.once(asking, call.parts) : asking
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
