import { Agent, type AgentConfig } from '../../agents/agent.ts'
import type { RunInput, Servable, ServableAgent } from '../../agents/contract.ts'
import { KINDS } from '../../agents/registry.ts'
import type { RunContext } from '../../agents/work/perform.ts'
import { isServableError, messageOf, ServableError, withoutKeyText } from '../../base/errors.ts'
import type { Adapter, AgentFacts } from './adapter.ts'
import { aiSdk } from './ai-sdk/ai-sdk.ts'
import { claudeAgentSdk } from './claude-agent.ts'
import { fieldsOf } from './fields.ts'
import { langGraph } from './langgraph/langgraph.ts'
import { mastra } from './mastra/mastra.ts'
import { openaiAgents } from './openai-agents/openai-agents.ts'
import { voltAgent } from './voltagent.ts'
import { beforeOf, waitFor } from './waits.ts'

/** Options of `toAgent`. Every member is optional. */
export interface ToAgentOptions {
  /**
   * The name under which clients reach the agent: 1 to 200 characters. Required if the agent has neither a name nor an `id`.
   * Default: the agent's name or `id`.
   */
  readonly name?: string
  /** Default: the agent's own, if it has one. */
  readonly description?: string
  /**
   * The model behind the agent. It decides which provider key of a request is used. Default: the model that the framework
   * reports.
   */
  readonly model?: { readonly provider: string; readonly id: string }
  /** What the agent can do beyond text: `['vision']`. Default: none. */
  readonly capabilities?: readonly string[]
  /**
   * Makes the agent of one run, for example one whose model uses the request's `apiKey`. It must be of the same framework.
   * Return nothing to use the given agent. Functions get the key themselves and cannot have this option. Default: every run
   * uses the given agent.
   *
   * @example
   * toAgent(agent, { forRun: ({ apiKey }) => apiKey && makeAgent(createOpenAI({ apiKey })) })
   */
  readonly forRun?: (context: RunContext) => unknown
  /** For OpenAI Agents only, and required there: the package's `run`, or a `Runner`. */
  readonly run?: unknown
  /**
   * For OpenAI Agents only: the package's class `RunState`, which reads a run that waited for an approval. Default: a run
   * whose tool needs an approval fails.
   */
  readonly RunState?: unknown
  /**
   * For OpenAI Agents only: opens the `Session` of a run that has a `sessionId`. `thread` joins the session's id with its
   * user's, if there is one, so that no user reaches another user's session. Default: the agent has no memory of earlier
   * runs.
   */
  readonly session?: (thread: string, context: RunContext) => unknown
}

const ADAPTERS: readonly Adapter[] = [aiSdk, langGraph, openaiAgents, voltAgent, mastra, claudeAgentSdk()]

/** The options of every agent that `toAgent` makes. */
const COMMON: readonly string[] = ['name', 'description', 'model', 'capabilities']

/**
 * Returns a value that is already servable, such as an `Agent` or a `Team`, unchanged. So a list may mix it with agents of
 * other frameworks. Throws `invalid_options` if it gets options.
 */
export function toAgent<T extends Servable>(servable: T): T
/**
 * Makes an agent of a function. The function may be a generator, and may be async. It gets the input and the run's context.
 * Its own name is the default of `name`. The agent is in no registry: give it to `createHandler({ serve: […] })`. Throws
 * `invalid_options` for a class or an invalid option.
 *
 * @example
 * createHandler({ serve: [toAgent(async function shout(input) { return textOf(input).toUpperCase() })] })
 */
export function toAgent(run: AgentConfig['run'], options?: ToAgentOptions): ServableAgent
/**
 * Makes an agent of an agent of the AI SDK (6, 7), Mastra, VoltAgent or OpenAI Agents, of a compiled LangGraph graph,
 * or of `{ name, query, options, processes }` with the `query` and the options of the Claude Agent SDK. At most `processes` of
 * its runs work at the same time: 8 by default. The agent is in no registry: give it to
 * `createHandler({ serve: [toAgent(agent)] })`. Throws `invalid_options` for anything else.
 *
 * @example
 * createHandler({ serve: [toAgent(new ToolLoopAgent({ id: 'helper', model }))] })
 */
export function toAgent(agent: object, options?: ToAgentOptions): ServableAgent
export function toAgent(agent: unknown, options: ToAgentOptions = {}): Servable {
  if (isServable(agent)) {
    checkOptions(options, [], `\`${agent.name}\`, which needs no adapter`)
    return agent
  }
  checkInstance(agent)
  const adapter = ADAPTERS.find(candidate => candidate.recognizes(agent))
  if (adapter !== undefined) return adapted(agent, adapter.forAgent?.() ?? adapter, options)
  if (typeof agent !== 'function') throw unknownShape()
  checkOptions(options, COMMON, 'a function')
  const body = agent as AgentConfig['run']
  return new Agent({ ...configOf({ name: agent.name }, options), run: body, register: false })
}

/** Whether a value is servable, or an agent of a framework that `toAgent` knows. A plain function is not. */
export function isFrameworkAgent(value: unknown): value is object {
  return isServable(value) || ADAPTERS.some(adapter => adapter.recognizes(value))
}

function adapted(agent: unknown, adapter: Adapter, options: ToAgentOptions): ServableAgent {
  checkOptions(options, [...COMMON, 'forRun', ...(adapter.options ?? [])], adapter.what)
  for (const option of ['forRun', 'session'] as const) {
    if (options[option] === undefined || typeof options[option] === 'function') continue
    throw new ServableError('invalid_options', `\`servable\`: \`${option}\` must be a function`)
  }
  adapter.check?.(options)
  const config = configOf(adapter.factsOf(agent), options)
  const resume = adapter.goesOn?.(agent) ?? false
  const { steers: steering = false } = adapter
  const made = new Agent({
    ...config,
    resume,
    steering,
    run: bodyOf(agent, adapter, options),
    register: false,
  })
  const graph = adapter.threadsOf?.(agent)
  return graph === undefined ? made : Object.assign(made, { graph })
}

/** The body of a framework's agent. A provider's failure becomes `provider_failed`. */
function bodyOf(agent: unknown, adapter: Adapter, options: ToAgentOptions): AgentConfig['run'] {
  return async function* run(input: RunInput, context: RunContext) {
    const chosen = (await options.forRun?.(context)) || agent
    if (!adapter.recognizes(chosen)) {
      throw new ServableError('invalid_options', `\`forRun\` must return ${adapter.what}, or nothing`)
    }
    try {
      const before = beforeOf(context, adapter.what)
      if (before?.waits) return before.waits
      const { asked = [], state, ...outcome } = yield* adapter.run(chosen, input, context, options, before)
      if (asked.length === 0) return outcome
      return { ...outcome, ...(await waitFor(context, adapter.what, asked, state)) }
    } catch (error) {
      throw failureOf(error)
    }
  }
}

function configOf(facts: AgentFacts, options: ToAgentOptions): Omit<AgentConfig, 'run'> {
  const description = options.description ?? facts.description
  const model = options.model ?? facts.model
  return {
    name: nameOf(facts, options),
    ...(description !== undefined && { description }),
    ...(model !== undefined && { model }),
    ...(facts.tools !== undefined && { tools: facts.tools }),
    ...(facts.output !== undefined && { output: facts.output }),
    ...(options.capabilities !== undefined && { capabilities: options.capabilities }),
  }
}

function nameOf(facts: AgentFacts, options: ToAgentOptions): string {
  const name = options.name ?? facts.name
  if (typeof name === 'string' && name !== '') return name
  throw new ServableError('invalid_options', "`toAgent`: the agent has no name: give `{ name: '…' }` with it")
}

function isServable(value: unknown): value is Servable {
  const { kind, run, stream } = fieldsOf(value)
  const isKind = KINDS.some(known => known === kind)
  return isKind && (typeof run === 'function' || typeof stream === 'function')
}

/** Throws for a class. Called as a function, it would fail in every run. */
function checkInstance(value: unknown): void {
  if (typeof value !== 'function' || !/^class\b/.test(Function.prototype.toString.call(value))) return
  const name = value.name || 'Agent'
  throw new ServableError(
    'invalid_options',
    `\`servable\`: \`${name}\` is a class: give an instance, \`new ${name}(…)\``,
  )
}

/** Throws for an option that `what` does not have. */
function checkOptions(options: unknown, known: readonly string[], what: string): void {
  if (typeof options !== 'object' || options === null) {
    throw new ServableError('invalid_options', '`toAgent`: the options must be an object')
  }
  const unknown = Object.keys(options).find(name => !known.includes(name))
  if (unknown === undefined) return
  throw new ServableError('invalid_options', `\`servable\`: \`${unknown}\` is not an option of ${what}`)
}

function unknownShape(): ServableError {
  const known = ADAPTERS.map(({ what }) => what).join(', ')
  return new ServableError(
    'invalid_options',
    `\`servable\` takes ${known}, a function \`(input, context) => …\`, or an object with a \`kind\` and a \`run\` or \`stream\` method`,
  )
}

/** Names of provider errors that have no status. */
const NAMES: ReadonlySet<unknown> = new Set([
  'AI_APICallError',
  'AI_RetryError',
  'APIConnectionError',
  'APIConnectionTimeoutError',
])

/** The most levels of causes to search. */
const MAX_DEPTH = 5

/**
 * The error with which a run fails: `provider_failed` for a failure of the model's provider, otherwise the error as it was
 * thrown. Text that looks like a key is removed.
 */
export function failureOf(error: unknown): unknown {
  if (isServableError(error)) return error
  const text = messageOf(error)
  const safeText = withoutKeyText(text)
  if (isProviderFailure(error, MAX_DEPTH))
    return new ServableError('provider_failed', safeText, { cause: error })
  return safeText === text ? error : new ServableError('agent_failed', safeText, { cause: error })
}

function isProviderFailure(error: unknown, depth: number): boolean {
  if (depth === 0) return false
  const { name, status, statusCode, cause, lastError, originalError } = fieldsOf(error)
  if (isFailed(status) || isFailed(statusCode) || NAMES.has(name)) return true
  return [cause, lastError, originalError].some(inner => isProviderFailure(inner, depth - 1))
}

/** Whether the value is the HTTP status of a failure. */
function isFailed(status: unknown): boolean {
  return typeof status === 'number' && status >= 400 && status < 600
}
