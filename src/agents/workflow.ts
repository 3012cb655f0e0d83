import { ServableError } from '../base/errors.ts'
import type { AppPage } from './app-page.ts'
import { EventBus } from './bus.ts'
import type {
  RunEvent,
  RunInput,
  RunOptions,
  RunResult,
  Servable,
  ServableWorkflow,
  Usage,
} from './contract.ts'
import { checkConfig, registerAs, type SharedConfig } from './registry.ts'
import { addUsage, NO_USAGE } from './usage.ts'
import { asProgress, callServable } from './work/call.ts'
import { type BodyResult, perform, type RunContext, runThrough, type Yielded } from './work/perform.ts'
import { checkStep, type StepOptions } from './work/step.ts'
import { type BodyContext, bodyContext, type StepFacts } from './work/waits.ts'

/** The context of a step, or of your own body: the run, what it may wait for, and `call`. */
export type StepContext = BodyContext<StepCalls>

/** What a workflow has beyond the bodies of other kinds. */
export interface StepCalls {
  /** Runs a servable inside the step: yields its events and returns its result. Throws its errors. */
  call(servable: Servable, input: RunInput): AsyncGenerator<RunEvent, RunResult>
}

/**
 * One step: a function of the previous step's value, or a generator that yields text and events and returns the next value.
 * Text of the last step is the workflow's answer. Text of the others is progress of their step.
 */
export type StepBody<I, O> = (
  value: I,
  context: StepContext & StepFacts,
) => AsyncGenerator<Yielded, O> | Promise<O> | O

interface NamedStep {
  readonly name: string
  readonly options: StepOptions
  readonly body: StepBody<never, unknown>
}

/** Steps in order, from a value of type `I` to one of type `O`. Immutable: `step` returns a new list. */
export class Steps<I, O> {
  /** The steps' names and bodies. */
  readonly list: readonly NamedStep[]
  /** Ties the two type parameters to the list. */
  declare readonly handOver?: (value: I) => O

  constructor(list: readonly NamedStep[]) {
    this.list = list
  }

  /**
   * Adds a step that takes the value of the step before. `options` set its time limit and retries. Throws `invalid_options` for a
   * name that is taken, and for invalid options.
   */
  step<N>(name: string, body: StepBody<O, N>, options: StepOptions = {}): Steps<I, N> {
    if (this.list.some(step => step.name === name)) {
      throw new ServableError('invalid_options', `Two steps are named \`${name}\``)
    }
    if (typeof body !== 'function') {
      throw new ServableError('invalid_options', `Step \`${name}\` needs a function`)
    }
    checkStep(name, options, 'invalid_options')
    return new Steps([...this.list, { name, body, options }])
  }
}

/**
 * Begins a list of steps. The first one gets the input of the run.
 *
 * @example
 * steps()
 *   .step('split', input => textOf(input).split('\n'))
 *   .step('count', lines => `${lines.length} lines`)
 */
export function steps(): Steps<RunInput, RunInput> {
  return new Steps([])
}

/** The options of a workflow: `steps`, or your own `run`. */
export interface WorkflowConfig extends SharedConfig {
  /** The name under which clients reach it: 1 to 200 characters. */
  readonly name: string
  readonly description?: string
  /** Named steps. The value of the last one is the answer: text as text, an object as `structured`. */
  readonly steps?: Steps<RunInput, unknown>
  /** Your own body instead of `steps`. It yields `step` events for its steps. */
  readonly run?: (input: RunInput, context: StepContext) => BodyResult
  /**
   * If the process of a stored run dies, the run goes on, and completed steps return their recorded values. With `false` it ends
   * as `interrupted`. Default: true.
   */
  readonly resume?: boolean
  /** The version of the steps. A run goes on only with the version with which it began. */
  readonly version?: string
}

/** Named steps behind one name. It registers itself by name. */
export class Workflow implements ServableWorkflow {
  readonly kind = 'workflow'
  readonly name: string
  readonly description: string | undefined
  /** The names of the steps; empty for a workflow with a `run` of its own. */
  readonly steps: readonly { readonly name: string }[]
  readonly resume: boolean
  readonly version: string | undefined
  readonly input: unknown
  readonly examples: readonly string[] | undefined
  readonly page: AppPage | undefined
  /** Emits the events of an agent's bus, for the workflow as a whole. */
  readonly events: EventBus
  readonly #body: WorkflowBody

  constructor(config: WorkflowConfig) {
    checkConfig(config, 'Workflow')
    const list = config.steps?.list ?? []
    this.name = config.name
    this.description = config.description
    this.steps = list.map(({ name }) => ({ name }))
    this.resume = config.resume ?? true
    this.version = config.version
    this.input = config.input
    this.examples = config.examples
    this.page = config.page
    this.events = config.events ?? new EventBus()
    this.#body = bodyOf(config, list)
    registerAs(this, config.register)
  }

  /** Runs to the end. Rejects when the run fails. */
  run(input: RunInput, options?: RunOptions): Promise<RunResult> {
    return runThrough(this, input, options)
  }

  /** Runs and yields the events as they come. */
  stream(input: RunInput, options?: RunOptions): AsyncIterableIterator<RunEvent> {
    return perform(this, input, options, run => {
      let usage: Usage | undefined
      const callsIn = (inner: RunContext): StepCalls => ({
        async *call(servable, message) {
          const result = yield* callServable(servable, message, inner)
          usage = addUsage(usage ?? NO_USAGE, result.usage)
          return result
        },
      })
      return this.#body(input, bodyContext(run, callsIn), () => usage)
    })
  }
}

/** `usageSoFar` returns the added usage of the steps' calls. */
type WorkflowBody = (input: RunInput, context: StepContext, usageSoFar: () => Usage | undefined) => BodyResult

function bodyOf(config: WorkflowConfig, list: readonly NamedStep[]): WorkflowBody {
  const { run } = config
  if (run !== undefined && config.steps !== undefined) {
    throw new ServableError(
      'invalid_options',
      `workflow \`${config.name}\`: give \`steps\` or \`run\`, not both`,
    )
  }
  if (typeof run === 'function') return run
  if (list.length > 0) {
    return async function* (input, context, usageSoFar) {
      const outcome = yield* walk(list, input, context)
      return { ...outcome, usage: usageSoFar() }
    }
  }
  throw new ServableError(
    'invalid_options',
    `workflow \`${config.name}\`: needs at least one step in \`steps\`, or a \`run\` function`,
  )
}

async function* walk(
  list: readonly NamedStep[],
  input: RunInput,
  context: StepContext,
): AsyncGenerator<Yielded, Partial<RunResult>> {
  let value: unknown = input
  for (const [index, { name, body, options }] of list.entries()) {
    // `Steps.step` has checked that the value of the step before has the type that this one takes.
    const work = context.step(name, inner => body(value as never, inner), options)
    value = yield* index === list.length - 1 ? work : asProgress(work)
  }
  return toOutcome(value)
}

function toOutcome(value: unknown): Partial<RunResult> {
  if (value == null) return {}
  if (isRunResult(value))
    return { finishReason: value.finishReason, structured: value.structured, text: value.text }
  return typeof value === 'object' ? { structured: value } : { text: String(value) }
}

/** The last step may return the result of `context.call`. */
function isRunResult(value: unknown): value is RunResult {
  return typeof value === 'object' && value !== null && 'finishReason' in value && 'toolCalls' in value
}
