/**
 * Stores what a model and its tools have done, so that a run can go on if its process dies. Each answer and each result is stored
 * as soon as it exists.
 *
 * @module
 */

import type { AnsweredBy, RunEvent } from '../../agents/contract.ts'
import type { Steering } from '../../agents/memory.ts'
import type { CallFacts } from '../../agents/tool.ts'
import { type SteeredMessage, steeredEvent } from '../../agents/turn.ts'
import type { RunContext } from '../../agents/work/perform.ts'
import type { AiParts } from '../frameworks/ai-sdk/ai-parts.ts'
import { callsIn, type ModelAnswer, type OpenCall } from './calls.ts'

/** What is stored of a call that has no end. Its result replaces it. */
interface Begun {
  readonly begun: number
}

/** A call of a tool, and its path in the run. */
export interface PlannedCall {
  readonly call: OpenCall
  readonly path: string
  /** As in `ToolContext`. */
  readonly idempotencyKey: string
  readonly attempt: number
  /** Who approved it. */
  readonly approval?: AnsweredBy | undefined
}

/**
 * The rounds of one conversation. The path of a round has its position in the turn. It is the same when the run goes on, and a
 * round after a wait never has the position of one before it.
 */
export class Rounds {
  /** Whether the model gives one answer at a time: answers and results are stored, or messages may come in between. */
  readonly isKept: boolean
  /** Whether they are stored or to be read. */
  readonly #keeps: boolean
  readonly #steering: Steering | undefined
  readonly #work: RunContext['work']
  readonly #first: string
  #at = 0
  #calls = 0

  constructor({ runId, work, inbox: steering }: Pick<RunContext, 'runId' | 'work' | 'inbox'>) {
    this.#work = work
    this.#first = work.first ?? runId
    this.#steering = steering
    this.#keeps = work.isJournalled || work.isCut
    this.isKept = this.#keeps || steering !== undefined
  }

  /** Starts a round after `at` messages of the turn. */
  begin(at: number): void {
    this.#at = at
    this.#calls = 0
  }

  /** The next tool call with its path in the run. No name equals it. */
  next(call: OpenCall): PlannedCall {
    const path = `${this.#work.prefix}#${this.#at}.${this.#calls++}`
    return { call, path, idempotencyKey: `${this.#first}/${path}`, attempt: this.#begunAt(path) + 1 }
  }

  /** Calls the model, unless its answer is stored. Then it yields the stored text again. */
  async *once(
    asking: AsyncGenerator<RunEvent, ModelAnswer>,
    parts: AiParts,
  ): AsyncGenerator<RunEvent, ModelAnswer> {
    const path = `${this.#work.prefix}#${this.#at}.model`
    const kept = this.keptAt(path) as ModelAnswer | undefined
    if (kept === undefined) {
      const answer = yield* asking
      // It is stored with the calls that begin because of it, or with the end.
      if (!this.#keeps) return answer
      this.#work.keepAt(path, answer)
      this.#work.checkpointLater()
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

  /** Takes the messages that came since the last round, after `at` messages of the turn. A run that goes on gets them there again. */
  async *steered(at: number): AsyncGenerator<RunEvent, readonly SteeredMessage[]> {
    const steering = this.#steering
    if (steering === undefined) return []
    const path = `${this.#work.prefix}#${at}.steered`
    const kept = this.keptAt(path) as readonly SteeredMessage[] | undefined
    if (kept !== undefined) {
      steering.know(kept)
      return kept
    }
    // The stored answer was given without new messages.
    if (this.keptAt(`${this.#work.prefix}#${at}.model`) !== undefined) return []
    const news = await steering.take()
    if (news.length === 0) return news
    yield* news.map(steeredEvent)
    await this.keep(path, news)
    return news
  }

  /** The stored value at a path. */
  keptAt(path: string): unknown {
    return this.#work.stateAt(path)
  }

  /** How many times the call at a path has begun without an end. */
  #begunAt(path: string): number {
    const { begun = 0 } = Object(this.keptAt(path)) as Partial<Begun>
    return begun
  }

  /** Stores that calls begin, together with the answer that asks for them. Without calls it stores the answer. */
  async begun(calls: readonly PlannedCall[]): Promise<void> {
    if (!this.#keeps) return
    for (const { path, attempt } of calls) this.#work.keepAt(path, { begun: attempt } satisfies Begun)
    await (calls.length > 0 ? this.#work.checkpoint() : this.#work.settled())
  }

  /** Stores the last answer before a member's memory gets its turn, which is stored at once. The run's own is stored with its end. */
  async remembers(): Promise<void> {
    if (this.#work.prefix !== '') await this.#work.settled()
  }

  /** Stores a result, with all output until now. */
  async keep(path: string, result: unknown): Promise<void> {
    if (!this.#keeps) return
    this.#work.keepAt(path, result)
    await this.#work.checkpoint()
  }
}

/** Reads a call whose events were sent, so that the next one of its id counts as another call. */
export function passOver(call: OpenCall, parts: AiParts): void {
  for (const type of ['tool-call', 'tool-result']) Array.from(parts.read({ ...call, type, output: null }))
}

/** The facts of a call for its tool. */
export function factsOf(
  { call, idempotencyKey, attempt, approval }: PlannedCall,
  signal: AbortSignal,
): CallFacts {
  const facts = { toolCallId: call.toolCallId, idempotencyKey, attempt, signal }
  return approval === undefined ? facts : { ...facts, approval }
}
