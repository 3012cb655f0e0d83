import { ServableError } from '../base/errors.ts'
import type { AppPage } from './app-page.ts'
import { EventBus } from './bus.ts'
import type { RunEvent, RunInput, RunOptions, RunResult, ServableAgent } from './contract.ts'
import type { CorrectionStore } from './corrections.ts'
import { checkConfig, registerAs, type SharedConfig } from './registry.ts'
import type { Tool, ToolsOf } from './tool.ts'
import { callTool } from './work/call-tool.ts'
import { type BodyResult, perform, runThrough } from './work/perform.ts'
import { type BodyContext, bodyContext } from './work/waits.ts'

/** What the function of an agent gets beside the input: the run, the waits, and the agent's tools. */
export type AgentContext = BodyContext<AgentTools>

/** What the body of an agent has beyond those of other kinds. */
export interface AgentTools {
  /**
   * Calls one of the agent's tools, by its name or as a tool object, and yields the events of the call. The value of `yield*` is
   * the tool's result. Throws `invalid_options` for a name that the agent does not have.
   *
   * @example
   * const sum = yield* context.callTool('calculate', { expression: '1 + 1' })
   */
  callTool<Args, Result>(tool: Tool<Args, Result>, args: Args): AsyncGenerator<RunEvent, Result>
  callTool(name: string, args: unknown): AsyncGenerator<RunEvent, unknown>
}

/** How an agent is made. */
export interface AgentConfig<
  Output = unknown,
  Name extends string = string,
  Schemas extends readonly unknown[] = readonly unknown[],
> extends SharedConfig {
  /** The name under which clients reach it: 1 to 200 characters. */
  readonly name: Name
  readonly description?: string
  /**
   * The work: a function, or a generator that yields text and events as they come, async or not. Either may return text or part
   * of a `RunResult` (usage, structured output, a finish reason). A function may also return such a generator.
   */
  readonly run: (input: RunInput, context: AgentContext) => BodyResult
  readonly model?: { readonly provider: string; readonly id: string }
  /** The most tokens that your function requests for one answer of its model. At least 1. Budgets reserve by it. */
  readonly maxOutputTokens?: number
  /** The agent's tools. If a tool's `parameters` is a Standard Schema, the arguments of `execute` have its type. */
  readonly tools?: ToolsOf<Schemas>
  /**
   * A schema of the structured output, shown to clients as `hasStructuredOutput`. If it is a Standard Schema, typed clients
   * know the type of the output.
   */
  readonly output?: Output
  readonly capabilities?: readonly string[]
  /**
   * `'message'` promises that the first event is a `message`. A2A then answers with a message, however long the agent takes. A
   * run that begins with another event becomes a task. Default: a message answers only if the agent waits for nothing before it.
   */
  readonly answers?: 'message'
  /**
   * Accepts corrections of the agent's output. `true` keeps them in the state; a store keeps them itself. Corrections of a
   * client without an identity are kept, but no model sees them.
   */
  readonly corrections?: true | CorrectionStore
  /**
   * If the process of a stored run dies, the run goes on: its function runs again, and completed named work returns its recorded
   * result. Default: the run ends as `interrupted`.
   */
  readonly resume?: boolean
  /**
   * Whether the function takes messages while it is at work, with `yield* context.steering.take()`. Messages that it does not take start
   * the next run. Default: false, so every message waits for a run of its own.
   */
  readonly steering?: boolean
  /** The version of the function. A run goes on only with the version with which it began. */
  readonly version?: string
}

/**
 * An agent made of your own function. It registers itself by name.
 *
 * @example
 * new Agent({
 *   name: 'greeter',
 *   async *run(input) {
 *     yield 'Hello, '
 *     yield textOf(input)
 *   },
 * })
 */
export class Agent<
  Output = unknown,
  Name extends string = string,
  Schemas extends readonly unknown[] = readonly unknown[],
> implements ServableAgent
{
  readonly kind = 'agent'
  readonly name: Name
  readonly description: string | undefined
  readonly model: { readonly provider: string; readonly id: string } | undefined
  readonly maxOutputTokens: number | undefined
  readonly tools: readonly Tool[]
  readonly output: Output | undefined
  readonly capabilities: readonly string[]
  readonly answers: 'message' | undefined
  readonly corrections: true | CorrectionStore | undefined
  readonly resume: boolean
  readonly steering: boolean
  readonly version: string | undefined
  readonly input: unknown
  readonly examples: readonly string[] | undefined
  readonly page: AppPage | undefined
  /** Emits `run.start`, `run.stream.chunk`, `run.complete` or `run.error`, and the agent's tool calls. */
  readonly events: EventBus
  readonly #body: AgentConfig['run']

  constructor(config: AgentConfig<Output, Name, Schemas>) {
    checkConfig(config, 'Agent')
    checkTools(config)
    if (typeof config.run !== 'function') {
      throw new ServableError('invalid_options', `agent \`${config.name}\`: \`run\` must be a function`)
    }
    if (config.answers !== undefined && config.answers !== 'message') {
      throw new ServableError('invalid_options', `agent \`${config.name}\`: \`answers\` must be 'message'`)
    }
    const { maxOutputTokens: most } = config
    if (most !== undefined && !(Number.isSafeInteger(most) && most > 0)) {
      const text = `agent \`${config.name}\`: \`maxOutputTokens\` must be a whole number, 1 or more`
      throw new ServableError('invalid_options', text)
    }
    this.name = config.name
    this.description = config.description
    this.model = config.model
    this.maxOutputTokens = config.maxOutputTokens
    // Each `execute` takes what its own schema returns. A caller that calls a tool by name has the arguments checked.
    this.tools = (config.tools ?? []) as readonly Tool[]
    this.output = config.output
    this.capabilities = config.capabilities ?? []
    this.answers = config.answers
    this.corrections = config.corrections
    this.resume = config.resume ?? false
    this.steering = config.steering ?? false
    this.version = config.version
    this.input = config.input
    this.examples = config.examples
    this.page = config.page
    this.events = config.events ?? new EventBus()
    this.#body = config.run
    registerAs(this, config.register)
  }

  /** Runs to the end. Rejects when the run fails. */
  run(input: RunInput, options?: RunOptions): Promise<RunResult> {
    return runThrough(this, input, options)
  }

  /** Runs and yields the events as they come. The function starts with the first `next()`. */
  stream(input: RunInput, options?: RunOptions): AsyncIterableIterator<RunEvent> {
    return perform(this, input, options, run =>
      this.#body(
        input,
        bodyContext(run, inner => {
          const call = (tool: string | Tool, args: unknown) =>
            callTool(typeof tool === 'string' ? this.#tool(tool) : tool, args, inner)
          // The overloads describe `call`: the types of the tool's arguments and of its result.
          return { callTool: call as AgentTools['callTool'] }
        }),
      ),
    )
  }

  #tool(name: string): Tool {
    const tool = this.tools.find(candidate => candidate.name === name)
    if (tool !== undefined) return tool
    throw new ServableError('invalid_options', `agent \`${this.name}\` has no tool \`${name}\``)
  }
}

function checkTools({ name, tools = [] }: { readonly name: string; readonly tools?: unknown }): void {
  const isTool = (tool: unknown) =>
    typeof Object(tool).name === 'string' && typeof Object(tool).execute === 'function'
  if (Array.isArray(tools) && tools.every(isTool)) return
  throw new ServableError(
    'invalid_options',
    `agent \`${name}\`: \`tools\` must be an array of tools with a \`name\` and an \`execute\` function`,
  )
}
