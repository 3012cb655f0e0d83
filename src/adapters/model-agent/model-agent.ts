import type { LanguageModel } from 'ai'
import { Agent, type AgentConfig, type AgentContext } from '../../agents/agent.ts'
import type { BusPayload } from '../../agents/bus.ts'
import type { RunInput, RunOutcome } from '../../agents/contract.ts'
import type { Correction } from '../../agents/corrections.ts'
import type { SessionMemory } from '../../agents/memory.ts'
import type { Tool, ToolsOf } from '../../agents/tool.ts'
import { nameOf } from '../../agents/usage.ts'
import type { Yielded } from '../../agents/work/perform.ts'
import { messageOf, ServableError } from '../../base/errors.ts'
import { AiParts } from '../frameworks/ai-sdk/ai-parts.ts'
import { resumeCalls } from './answers.ts'
import type { ModelSettings } from './call-model.ts'
import { systemOf, toTurns } from './client-history.ts'
import { type ConversationEnd, converse } from './converse.ts'
import { toHistory } from './history.ts'
import { toAdvice, toKept, toUserMessage } from './messages.ts'
import { Rounds } from './rounds.ts'
import { settle } from './settle.ts'
import { toModelTools } from './tools.ts'
import { fromKept, type ModelConversation, toKept as toKeptConversation } from './waiting.ts'

/** The provider keys of a run. */
export interface ModelKeys {
  /** The client's key for the provider of this agent's model. Undefined if the client sent none. */
  readonly apiKey: string | undefined
  /** Every key of the request, as `RunOptions.apiKeys`. */
  readonly apiKeys: Readonly<Record<string, string>>
}

/** A model of the AI SDK, or a function that makes one with the keys of a run. */
export type ModelSource = LanguageModel | ((keys: ModelKeys) => LanguageModel)

/** The options of an agent with a model. */
export interface ModelAgentConfig<
  Output = unknown,
  Name extends string = string,
  Schemas extends readonly unknown[] = readonly unknown[],
> extends Pick<
      AgentConfig<Output, Name>,
      | 'name'
      | 'description'
      | 'input'
      | 'output'
      | 'examples'
      | 'page'
      | 'capabilities'
      | 'corrections'
      | 'version'
      | 'register'
      | 'events'
    >,
    ModelSettings {
  /**
   * A model of the AI SDK, or a function that makes one with the keys of a run. Only a function can use a client's own key.
   * When the agent is constructed, the function is called once without keys, to learn the provider and the name of the model.
   */
  readonly model: ModelSource
  /** The system prompt, or a function that returns it for a run. Clients never see it. */
  readonly instructions?: string | ((context: AgentContext) => string | Promise<string>)
  /**
   * Tools that the model may call, or a function that returns them for a run, such as `() => manager.tools()`. If a tool's
   * `parameters` is a Standard Schema, the arguments of `execute` have its type.
   */
  readonly tools?: ToolsOf<Schemas> | ((context: AgentContext) => readonly Tool[] | Promise<readonly Tool[]>)
  /**
   * Stores the conversation of a session in the state of the deployment. If the provider refuses a conversation with 400 or 413,
   * the agent sends it once more without the older half of its turns. Default: true.
   */
  readonly memory?: boolean
  /**
   * Whether a stored run goes on if its process dies: the model is not called again for an answer that is stored, nor a tool for a
   * result. If false, the run ends as `interrupted`. Default: true.
   */
  readonly resume?: boolean
  /**
   * Whether messages reach the agent while it is at work: after the calls of tools at work, and before the next call of the model. If false,
   * each waits for a run of its own. Default: true.
   */
  readonly steering?: boolean
}

/** The most corrections that the model sees. */
const MAX_CORRECTIONS = 20

/**
 * An agent with a model, tools, structured output and the memory of its session. The model also sees the newest corrections
 * of the run's identity, up to 8,000 characters. Without an identity it sees none. If the schema of `output` or of a tool is
 * a Standard Schema, values are checked completely. With plain JSON Schema, only `type` and `required` are checked.
 *
 * @example
 * new ModelAgent({
 *   name: 'helper',
 *   model: ({ apiKey = env.OPENAI_API_KEY }) => createOpenAI({ apiKey })('gpt-5'),
 *   instructions: 'Answer in one sentence.',
 *   tools: [forecast],
 * })
 */
export class ModelAgent<
  Output = unknown,
  Name extends string = string,
  Schemas extends readonly unknown[] = readonly unknown[],
> extends Agent<Output, Name> {
  constructor(config: ModelAgentConfig<Output, Name, Schemas>) {
    const {
      name,
      description,
      output,
      capabilities,
      corrections,
      resume = true,
      steering = true,
      version,
      register,
      events,
      tools,
    } = config
    const { input, examples, page, maxOutputTokens } = config
    super({
      name,
      ...(input !== undefined && { input }),
      ...(examples !== undefined && { examples }),
      ...(page !== undefined && { page }),
      ...(description !== undefined && { description }),
      ...(capabilities !== undefined && { capabilities }),
      ...(corrections !== undefined && { corrections }),
      resume,
      steering,
      ...(version !== undefined && { version }),
      ...(register !== undefined && { register }),
      ...(events !== undefined && { events }),
      ...(output !== undefined && { output }),
      ...(maxOutputTokens !== undefined && { maxOutputTokens }),
      model: modelInfo(config),
      tools: typeof tools === 'function' ? [] : (tools ?? []),
      run: (input, context) => answer(this, config, input, context),
    })
  }
}

/** The provider and the name of a model. Throws `invalid_options` for other values. */
export function modelInfo({ name, model }: Pick<ModelAgentConfig, 'name' | 'model'>): {
  provider: string
  id: string
} {
  const made = modelOf(model, { apiKey: undefined, apiKeys: {} }, name)
  if (typeof made === 'string') {
    const [provider = '', ...rest] = made.split('/')
    return { provider, id: rest.join('/') || provider }
  }
  const { provider, modelId } = Object(made) as { provider?: unknown; modelId?: unknown }
  if (typeof provider === 'string' && typeof modelId === 'string') return { provider, id: modelId }
  throw new ServableError(
    'invalid_options',
    `agent \`${name}\`: \`model\` must be a model of the AI SDK, or a function that makes one`,
  )
}

/** The model for a run's keys. Throws `invalid_options` if it cannot be made. */
export function modelOf(source: ModelSource, keys: ModelKeys, name: string): LanguageModel {
  if (typeof source !== 'function') return source
  try {
    return source(keys)
  } catch (cause) {
    throw new ServableError(
      'invalid_options',
      `agent \`${name}\`: \`model\` could not be made: ${messageOf(cause)}`,
      { cause },
    )
  }
}

async function* answer(
  agent: Agent,
  config: ModelAgentConfig,
  input: RunInput,
  context: AgentContext,
): AsyncGenerator<Yielded, RunOutcome> {
  const { model, tools = [], output, memory = true } = config
  const { apiKey, apiKeys = {}, signal, traceparent, runId, clientTools } = context
  const session = memory ? context.memory?.session(agent) : undefined
  const own = typeof tools === 'function' ? await tools(context) : tools
  const rounds = new Rounds(context)
  const modelTools = toModelTools(own, context, rounds, clientTools)
  const call = {
    model: modelOf(model, { apiKey, apiKeys }, agent.name),
    instructions: await instructionsOf(agent, config, context),
    tools: modelTools,
    output,
    settings: settingsOf(config),
    signal,
    traceparent,
    parts: new AiParts({
      ...{ model: nameOf(agent.model), nameOf: modelTools.nameOf },
      keepsCalls: context.work.keepsCalls,
    }),
    rounds,
  }
  const kept = fromKept(context.work.read())
  const end = yield* converse(call, kept ?? (await begun(input, context, session)), {
    settle: open => settle(open, call, context),
    resume: ({ waiting }) => resumeCalls(waiting, call, context),
  })
  const { turn, waiting } = end.conversation
  if (waiting.length > 0) context.work.keep(toKeptConversation(end.conversation))
  else if (session !== undefined) {
    await rounds.remembers()
    await remember(agent, runId, () => session.append(turn.map(toKept)))
  }
  return outcomeOf(end)
}

/** A new conversation, with the stored messages of the session or the client's history. */
async function begun(
  input: RunInput,
  { history }: AgentContext,
  session: SessionMemory | undefined,
): Promise<ModelConversation> {
  const turns = history === undefined ? toHistory((await session?.read()) ?? []) : toTurns(history)
  return { turns, turn: [toUserMessage(input)], waiting: [] }
}

function outcomeOf({ finishReason, usage, structured, conversation }: ConversationEnd): RunOutcome {
  const requests = conversation.waiting.map(({ request }) => request)
  return {
    finishReason,
    structured,
    ...(usage && { usage }),
    ...(requests.length > 0 && { requests }),
  }
}

/** Stores the turn. The run has its answer already, so a failure does not end it. It is reported on the bus. */
async function remember(agent: Agent, runId: string, keep: () => Promise<void>): Promise<void> {
  const who: BusPayload = { kind: agent.kind, name: agent.name, runId }
  try {
    await keep()
    agent.events.emit('memory.stored', { ...who })
  } catch (error) {
    agent.events.emit('memory.error', { ...who, error: messageOf(error) })
  }
}

async function instructionsOf(
  agent: Agent,
  { instructions = '' }: ModelAgentConfig,
  context: AgentContext,
): Promise<string> {
  const own = typeof instructions === 'function' ? await instructions(context) : instructions
  const advice = toAdvice(await correctionsOf(agent, context))
  return [own, ...systemOf(context.history), advice].filter(text => text !== '').join('\n\n')
}

/** The corrections of the run's identity, from the state or from the agent's own store. */
async function correctionsOf(
  agent: Agent,
  { memory, identity }: AgentContext,
): Promise<readonly Correction[]> {
  const { corrections } = agent
  // Without an identity all clients would be one owner, and each could influence the answers for all others.
  if (corrections === undefined || identity === undefined) return []
  if (corrections === true) return (await memory?.corrections(agent, MAX_CORRECTIONS)) ?? []
  const name = memory?.nameOf(agent) ?? agent.name
  const page = await corrections.list?.({ agent: name, owner: identity, limit: MAX_CORRECTIONS })
  return page?.corrections ?? []
}

/** The settings of a call, taken from all options. */
export function settingsOf({
  maxSteps,
  maxRetries,
  temperature,
  maxOutputTokens,
  providerOptions,
}: ModelSettings): ModelSettings {
  return {
    ...(maxSteps !== undefined && { maxSteps }),
    ...(maxRetries !== undefined && { maxRetries }),
    ...(temperature !== undefined && { temperature }),
    ...(maxOutputTokens !== undefined && { maxOutputTokens }),
    ...(providerOptions !== undefined && { providerOptions }),
  }
}
