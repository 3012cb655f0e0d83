/**
 * What a model and its tools have done in a run that goes on if its process dies: each answer and each result is kept once it is
 * there.
 *
 * @module
 */

import type { RunEvent } from '../../agents/contract.ts'
import type { RunContext } from '../../agents/work/perform.ts'
import type { AiParts } from '../frameworks/ai-sdk/ai-parts.ts'
import { callsIn, type ModelAnswer, type OpenCall } from './calls.ts'

/** A call of a tool, and its path in the run. */
export interface Doing {
  readonly call: OpenCall
  readonly path: string
  /** See `ToolContext`. */
  readonly idempotencyKey: string
}

/**
 * The rounds of one conversation. Each has the place at which it stands in its turn. That is the same when the run goes on, and no
 * round that comes after a wait has the place of one before it.
 */
export class Rounds {
  /** Whether there is something to keep or to find: then the model is asked for one answer at a time. */
  readonly isKept: boolean
  readonly #work: RunContext['work']
  readonly #first: string
  #at = 0
  #calls = 0

  constructor({ runId, work }: Pick<RunContext, 'runId' | 'work'>) {
    this.#work = work
    this.#first = work.first ?? runId
    this.isKept = work.isJournalled || work.isCut
  }

  /** What comes now stands after so many messages of the turn. */
  begin(at: number): void {
    this.#at = at
    this.#calls = 0
  }

  /** The next call of a tool, with its path in the run. No name has it. */
  next(call: OpenCall): Doing {
    const path = `${this.#work.place}#${this.#at}.${this.#calls++}`
    return { call, path, idempotencyKey: `${this.#first}/${path}` }
  }

  /** Asks the model, unless its answer is kept: then its text is said again. */
  async *once(
    asking: AsyncGenerator<RunEvent, ModelAnswer>,
    parts: AiParts,
  ): AsyncGenerator<RunEvent, ModelAnswer> {
    const path = `${this.#work.place}#${this.#at}.model`
    const kept = this.keptAt(path) as ModelAnswer | undefined
    if (kept === undefined) {
      const answer = yield* asking
      await this.keep(path, answer)
      return answer
    }
    for (const { content } of kept.messages) {
      if (typeof content === 'string') continue
      for (const part of content) if (part.type === 'text') yield { type: 'text', text: part.text }
    }
    const { calls, open } = callsIn(kept.messages)
    for (const call of calls) if (!open.includes(call)) passOver(call, parts)
    return kept
  }

  /** What is kept at a path. */
  keptAt(path: string): unknown {
    return this.#work.stateAt(path)
  }

  /** Keeps what has come of something, with all that was said until now. */
  async keep(path: string, result: unknown): Promise<void> {
    this.#work.keepAt(path, result)
    await this.#work.checkpoint()
  }
}

/** Takes in a call that the log tells with its end: the next one of its id is another call. */
export function passOver(call: OpenCall, parts: AiParts): void {
  for (const type of ['tool-call', 'tool-result']) Array.from(parts.read({ ...call, type, output: null }))
}
