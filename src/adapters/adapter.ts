/**
 * What this room asks of the code for one framework.
 *
 * @module
 */

import type { RunInput, RunOutcome } from '../agents/contract.ts'
import type { RunContext, Yielded } from '../agents/perform.ts'
import type { Tool } from '../agents/tool.ts'

/** What a framework's agent tells of itself; what it does not tell is absent. */
export interface Facts {
  /** Not yet checked. */
  readonly name: unknown
  readonly description?: string | undefined
  readonly model?: { readonly provider: string; readonly id: string } | undefined
  readonly tools?: readonly Tool[] | undefined
  /** What describes the structured output. */
  readonly output?: unknown
}

/** What adapters read of the options of `toAgent`. */
export interface AdapterOptions {
  readonly run?: unknown
  readonly session?: (thread: string, context: RunContext) => unknown
}

/** One framework. */
export interface Adapter {
  /** What it takes, for messages: `an AI SDK agent`. */
  readonly what: string
  /** Whether a value has the structure of the framework's agents. */
  recognizes(value: unknown): boolean
  /** Options that this framework alone has. */
  readonly options?: readonly (keyof AdapterOptions)[]
  /** Throws `invalid_options` where the framework needs an option that is missing. */
  check?(options: AdapterOptions): void
  factsOf(agent: unknown): Facts
  /** Runs it. `context.signal` fires when the run's does, and when its reader leaves. */
  run(
    agent: unknown,
    input: RunInput,
    context: RunContext,
    options: AdapterOptions,
  ): AsyncGenerator<Yielded, RunOutcome>
}
