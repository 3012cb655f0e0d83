/**
 * The interface of an adapter for one framework.
 *
 * @module
 */

import type { RunInput, RunResult } from '../../agents/contract.ts'
import type { Tool } from '../../agents/tool.ts'
import type { RunContext, Yielded } from '../../agents/work/perform.ts'
import type { Asked, Before } from './waits.ts'

/** What a framework's agent says about itself. Unknown facts are absent. */
export interface Facts {
  /** Not checked yet. */
  readonly name: unknown
  readonly description?: string | undefined
  readonly model?: { readonly provider: string; readonly id: string } | undefined
  readonly tools?: readonly Tool[] | undefined
  /** The description of the structured output. */
  readonly output?: unknown
}

/** The options of `toAgent` that adapters read. */
export interface AdapterOptions {
  readonly run?: unknown
  readonly RunState?: unknown
  readonly session?: (thread: string, context: RunContext) => unknown
}

/** The adapter of one framework. */
export interface Adapter {
  /** The name of its agents, for messages: `an AI SDK agent`. What is kept of a run that waits has it too. */
  readonly what: string
  /** Whether a value has the structure of the framework's agents. */
  recognizes(value: unknown): boolean
  /** Options that only this framework has. */
  readonly options?: readonly (keyof AdapterOptions)[]
  /** Throws `invalid_options` if a required option is missing. */
  check?(options: AdapterOptions): void
  factsOf(agent: unknown): Facts
  /**
   * Runs the agent. `context.signal` fires with the run's signal, and when the reader leaves. `before` is what a run left that
   * waited, if all of it was answered.
   */
  run(
    agent: unknown,
    input: RunInput,
    context: RunContext,
    options: AdapterOptions,
    before: Before | undefined,
  ): AsyncGenerator<Yielded, Ending>
}

/** The end of a run. If the agent asks for something, the run waits. */
export interface Ending extends Partial<RunResult> {
  readonly asked?: readonly Asked[]
  /** What the framework needs to go on: JSON. */
  readonly state?: () => object
}
