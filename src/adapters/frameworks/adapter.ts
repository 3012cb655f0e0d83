/**
 * The interface of an adapter for one framework.
 *
 * @module
 */

import type { RunInput, RunResult } from '../../agents/contract.ts'
import type { GraphThreads } from '../../agents/graph.ts'
import type { Tool } from '../../agents/tool.ts'
import type { RunContext, Yielded } from '../../agents/work/perform.ts'
import type { AgentRequest, Before } from './waits.ts'

/** What an adapter reads from a framework's agent. Unknown facts are absent. */
export interface AgentFacts {
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
  /** The name of its agents in messages: `an AI SDK agent`. It is also stored with a run that waits. */
  readonly what: string
  /** Whether a value has the structure of the framework's agents. */
  recognizes(value: unknown): boolean
  /** Options that only this framework has. */
  readonly options?: readonly (keyof AdapterOptions)[]
  /** Throws `invalid_options` if a required option is missing. */
  check?(options: AdapterOptions): void
  factsOf(agent: unknown): AgentFacts
  /** An adapter of its own for each agent, if it counts something. */
  forAgent?(): Adapter
  /** Whether a run whose process died can go on with what the framework has kept of it. Default: it cannot. */
  goesOn?(agent: unknown): boolean
  /** The threads of a graph; undefined if it keeps none. */
  threadsOf?(agent: unknown): GraphThreads | undefined
  /** Whether a run takes messages while it is at work. Default: it does not, and each message waits for a run of its own. */
  readonly steers?: boolean
  /**
   * Runs the agent. `context.signal` fires with the run's signal, and when the reader leaves. `before` is the state of the
   * waiting run that this one continues, once all its requests are answered.
   */
  run(
    agent: unknown,
    input: RunInput,
    context: RunContext,
    options: AdapterOptions,
    before: Before | undefined,
  ): AsyncGenerator<Yielded, AdapterEnd>
}

/** The end of a run. With requests in `asked` the run waits. */
export interface AdapterEnd extends Partial<RunResult> {
  readonly asked?: readonly AgentRequest[]
  /** The state that the framework needs to go on: JSON. */
  readonly state?: () => object
}
