/**
 * The interface of an adapter for one framework.
 *
 * @module
 */

import type { RunInput, RunOutcome } from '../agents/contract.ts'
import type { RunContext, Yielded } from '../agents/perform.ts'
import type { Tool } from '../agents/tool.ts'

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
  /** The name of its agents, for messages: `an AI SDK agent`. */
  readonly what: string
  /** Whether a value has the structure of the framework's agents. */
  recognizes(value: unknown): boolean
  /** Options that only this framework has. */
  readonly options?: readonly (keyof AdapterOptions)[]
  /** Throws `invalid_options` if a required option is missing. */
  check?(options: AdapterOptions): void
  factsOf(agent: unknown): Facts
  /** Runs the agent. `context.signal` fires with the run's signal, and when the reader leaves. */
  run(
    agent: unknown,
    input: RunInput,
    context: RunContext,
    options: AdapterOptions,
  ): AsyncGenerator<Yielded, RunOutcome>
}
