/**
 * Holds the whole output of a run until a guard has checked it.
 *
 * @module
 */

import type { ErrorEvent, FinishEvent, RunEvent } from '../../agents/contract.ts'
import { isRunEvent } from '../../agents/event.ts'
import { Fold } from '../../agents/fold.ts'
import { ServableError } from '../../base/errors.ts'
import type { OutputStage } from './guarded-events.ts'
import { guarded, guardFailed, type Refusal } from './refusal.ts'

/** The whole output of a run. */
export interface WholeOutput {
  /** The answer: all text, and the text of messages. For a failed run: the text of the error. */
  readonly text: string
  /** The object of an agent with structured output, else null. */
  readonly structured: object | null
  /** All events to emit, in order: tool calls with arguments and results, reasoning, steps, artifacts, and the end. */
  readonly events: readonly RunEvent[]
}

/** Checks a whole output. */
export type OutputGuard = (output: WholeOutput) => WholeVerdict | Promise<WholeVerdict>

/** Nothing accepts it. A text replaces the answer, and everything else is dropped. Or a refusal. */
export type WholeVerdict = string | Refusal | undefined | void

/** The events of a run, held until its guard has checked all of them. */
export class WholeEvents implements OutputStage {
  readonly #guard: OutputGuard
  readonly #maxLength: number
  /** Called with whether the output may be remembered, once that is known. */
  readonly #onVerdict: (passes: boolean) => Promise<void>
  #fold: Fold
  #held: RunEvent[] = []
  #length = 0

  constructor(
    guard: OutputGuard,
    { maxLength, onVerdict }: { readonly maxLength: number; onVerdict(passes: boolean): Promise<void> },
  ) {
    this.#guard = guard
    this.#maxLength = maxLength
    this.#onVerdict = onVerdict
    this.#fold = new Fold(maxLength)
  }

  async take(event: RunEvent): Promise<readonly RunEvent[]> {
    // A value that is not an event fails the run. A model call has only numbers, which others count.
    if (!isRunEvent(event) || event.type === 'model_call') return [event]
    if (event.type === 'finish') return this.#release(event)
    if (event.type === 'error') return [{ ...event, error: await this.fail(event.error, event) }]
    this.#hold(event)
    return []
  }

  async end(hasFailed: boolean): Promise<readonly RunEvent[]> {
    return hasFailed ? [] : this.#release({ type: 'finish', finishReason: 'stop' })
  }

  async fail(message: string, event?: ErrorEvent): Promise<string> {
    const error = event ?? { type: 'error', error: message, code: 'agent_failed' }
    this.#held = []
    await this.#onVerdict(false)
    return (await this.#verdict({ text: message, structured: null, events: [error] })) ?? message
  }

  #hold(event: RunEvent): void {
    this.#fold.add(event)
    const isText = event.type === 'text' || event.type === 'thinking'
    this.#length += isText ? event.text.length : JSON.stringify(event).length
    if (this.#length > this.#maxLength) {
      throw new ServableError(
        'run_too_large',
        `A guard looks at the whole output, which is larger than ${this.#maxLength} characters`,
      )
    }
    this.#held.push(event)
  }

  async #release(finish: FinishEvent): Promise<readonly RunEvent[]> {
    this.#hold(finish)
    const { text } = this.#fold
    const events = this.#held
    this.#held = []
    const instead = await this.#verdict({ text, structured: finish.structured ?? null, events })
    await this.#onVerdict(instead === undefined)
    if (instead === undefined) return events
    const { finishReason, usage } = finish
    return [
      ...(instead === '' ? [] : [{ type: 'text', text: instead } as const]),
      {
        type: 'finish',
        // The open requests are not emitted, so the run does not wait.
        finishReason: finishReason === 'input_required' ? 'stop' : finishReason,
        ...(usage && { usage }),
      },
    ]
  }

  async #verdict(output: WholeOutput): Promise<string | undefined> {
    const verdict = await guarded('output', () => this.#guard(output))
    if (verdict === undefined) return undefined
    if (typeof verdict === 'string') return verdict
    throw guardFailed('output', 'it must give a text, a refusal or nothing')
  }
}
