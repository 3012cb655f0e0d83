/**
 * Runs a conversation with a model until its answer, or until somebody must be asked: a client for the result of its tool, a
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
import { toUserMessage } from './messages.ts'
import type { Rounds } from './rounds.ts'
import type { Settled } from './settle.ts'
import type { ModelConversation } from './waiting.ts'

/** The result of a conversation. */
export interface ConversationEnd {
  readonly finishReason: FinishReason
  readonly usage?: Usage
  readonly structured: object | null
  /** The conversation, with all messages of its turn. */
  readonly conversation: ModelConversation
}

/** Carries out the calls that the model's package does not. */
export interface CallHandler {
  settle(open: readonly OpenCall[]): AsyncGenerator<Yielded, Settled>
  /** Goes on with the calls for which a conversation waited. */
  resume(conversation: ModelConversation): AsyncGenerator<Yielded, Settled>
}

/** Goes on with a conversation: first with the calls that waited, then by calling the model as often as needed. */
export async function* converse(
  call: Omit<ModelCall, 'messages'>,
  conversation: ModelConversation,
  calls: CallHandler,
): AsyncGenerator<Yielded, ConversationEnd> {
  const { turns } = conversation
  const { rounds } = call
  const turn = [...conversation.turn]
  let usage: Usage | undefined
  const end = (
    finishReason: FinishReason,
    waiting: Settled['waits'] = [],
    structured: object | null = null,
  ) => ({
    finishReason,
    ...(usage && { usage }),
    structured,
    conversation: { turns, turn, waiting },
  })
  rounds.begin(turn.length)
  let settled = yield* calls.resume(conversation)
  let left = call.settings.maxSteps ?? 10
  edit(turn, settled.edited)
  while (true) {
    if (settled.results.length > 0) turn.push({ role: 'tool', content: [...settled.results] })
    if (settled.waits.length > 0) return end('input_required', settled.waits)
    if (left <= 0) return end('tool_calls')
    yield* steer(rounds, turn)
    const settings = { ...call.settings, maxSteps: left }
    const answer = yield* ask({ ...call, settings }, turns, turn)
    turn.push(...answer.messages)
    usage = sumOf(usage, answer.usage)
    left -= answer.steps
    // A message that came during the answer is answered too.
    const isOver = answer.isDone && !(left > 0 && (yield* steer(rounds, turn)))
    if (isOver) return end(answer.finishReason, [], answer.structured)
    rounds.begin(turn.length)
    settled = answer.isDone ? NOTHING : yield* calls.settle(answer.open)
  }
}

function sumOf(before: Usage | undefined, more: Usage | undefined): Usage | undefined {
  return before !== undefined && more !== undefined ? addUsage(before, more) : (before ?? more)
}

const NOTHING: Settled = { results: [], waits: [] }

/** Adds the messages that came in the meantime. Returns whether there were any. */
async function* steer(rounds: Rounds, turn: ModelMessage[]): AsyncGenerator<RunEvent, boolean> {
  const news = yield* rounds.steered(turn.length)
  turn.push(...news.map(({ input }) => toUserMessage(input)))
  return news.length > 0
}

/**
 * Gives the calls that waited the arguments with which they ran. Ids may repeat: the last call of an id is the one that waited.
 */
function edit(turn: ModelMessage[], edited: Settled['edited'] = new Map()): void {
  const left = new Map(edited)
  if (left.size === 0) return
  for (const [at, message] of [...turn.entries()].reverse()) {
    if (message.role !== 'assistant' || typeof message.content === 'string') continue
    const content = message.content.map(part => {
      if (part.type !== 'tool-call' || !left.has(part.toolCallId)) return part
      const input = left.get(part.toolCallId)
      left.delete(part.toolCallId)
      return { ...part, input }
    })
    turn[at] = { ...message, content }
  }
}

/** Calls the model, unless its answer is stored. */
function ask(
  call: Omit<ModelCall, 'messages'>,
  turns: readonly (readonly ModelMessage[])[],
  turn: readonly ModelMessage[],
): AsyncGenerator<RunEvent, ModelAnswer> {
  call.rounds.begin(turn.length)
  const asking = callWithHistory(call, turns, turn)
  return call.rounds.isKept ? call.rounds.once(asking, call.parts) : asking
}

/** If the provider refuses a conversation, calls it once more with the newer half: it may be too long for the model. */
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
