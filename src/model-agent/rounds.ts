/**
 * What a model and its tools have done in a run that goes on if its process dies: each answer and each result is kept once it is
 * there.
 *
 * @module
 */

import type { ModelMessage } from 'ai'
import type { AiParts } from '../adapters/ai-parts.ts'
import type { RunEvent } from '../agents/contract.ts'
import type { RunContext } from '../agents/perform.ts'
import { ServableError } from '../errors.ts'
import { callsIn, type ModelAnswer, type OpenCall } from './call-model.ts'
import { readMessages } from './history.ts'

/** The rounds of one conversation. Each has the place at which it stands in its turn: that is the same when the run goes on. */
export class Rounds {
  /** Whether there is something to keep or to find: then the model is asked for one answer at a time. */
  readonly isKept: boolean
  readonly #run: Pick<RunContext, 'runId' | 'work'>
  readonly #used = new Set<string>()
  #at = 0
  #calls = 0

  constructor(run: Pick<RunContext, 'runId' | 'work'>) {
    this.#run = run
    this.isKept = run.work.isJournalled || run.work.isCut
  }

  /** What comes now stands after so many messages of the turn. */
  begin(at: number): void {
    this.#at = at
    this.#calls = 0
  }

  /** The path of the next call of a tool. No name has it. */
  nextCall(): string {
    return `${this.#run.work.place}#${this.#at}.${this.#calls++}`
  }

  /** See `ToolContext.idempotencyKey`. */
  keyOf(path: string): string {
    return `${this.#run.work.first ?? this.#run.runId}/${path}`
  }

  /** Asks the model, unless its answer is kept: then its text is said again. */
  async *once(
    asking: AsyncGenerator<RunEvent, ModelAnswer>,
    parts: AiParts,
  ): AsyncGenerator<RunEvent, ModelAnswer> {
    const path = `${this.#run.work.place}#${this.#at}.model`
    const kept = this.keptAt(path)
    if (kept === undefined) {
      const answer = yield* asking
      await this.keep(path, answer)
      return answer
    }
    const answer = toAnswer(kept)
    const text = textIn(answer.messages)
    if (text !== '') yield { type: 'text', text }
    const open = new Set(answer.open.map(({ toolCallId }) => toolCallId))
    for (const call of callsIn(answer.messages).calls) {
      if (!open.has(call.toolCallId)) passOver(call, parts)
    }
    return answer
  }

  /** What is kept at a path. */
  keptAt(path: string): unknown {
    if (!this.isKept) return undefined
    this.#used.add(path)
    return this.#run.work.stateAt(path) ?? undefined
  }

  /** Keeps what has come of something, with all that was said until now. */
  async keep(path: string, result: unknown): Promise<void> {
    if (!this.isKept) return
    this.#run.work.keepAt(path, result)
    await this.#run.work.checkpoint()
  }

  /** The conversation is kept as a whole. */
  forget(): void {
    for (const path of this.#used) this.#run.work.keepAt(path, null)
  }
}

/** Takes in a call that the log tells with its end: the next one of its id is another call. */
export function passOver(call: OpenCall, parts: AiParts): void {
  Array.from(parts.read({ type: 'tool-call', ...call }))
  Array.from(parts.read({ type: 'tool-result', toolCallId: call.toolCallId, output: null }))
}

function toAnswer(kept: unknown): ModelAnswer {
  const answer = Object(kept) as ModelAnswer
  const messages = Array.isArray(answer.messages) ? readMessages(answer.messages) : undefined
  if (messages !== undefined && Array.isArray(answer.open)) return { ...answer, messages }
  throw new ServableError('workflow_changed', 'The run that goes on was not of this agent')
}

/** What a model has said in its messages. */
function textIn(messages: readonly ModelMessage[]): string {
  const texts = messages.flatMap(({ role, content }) => {
    if (role !== 'assistant') return []
    if (typeof content === 'string') return [content]
    return content.flatMap(part => (part.type === 'text' ? [part.text] : []))
  })
  return texts.join('')
}
