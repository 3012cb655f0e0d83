import { AiParts } from '../adapters/ai-parts.ts'
import { aside, withFacts } from '../agents/call.ts'
import type { RunResult, ServableAgent, Usage } from '../agents/contract.ts'
import type { Yielded } from '../agents/perform.ts'
import { optionsFor } from '../agents/provider-key.ts'
import type { TeamContext, TeamStrategy } from '../agents/team.ts'
import type { Tool } from '../agents/tool.ts'
import { addUsage, NO_USAGE, nameOf, usageOf } from '../agents/usage.ts'
import { ServableError } from '../errors.ts'
import { callModel, type ModelSettings } from './call-model.ts'
import { toHistory } from './history.ts'
import { toKept, toUserMessage } from './messages.ts'
import { type ModelSource, modelInfo, modelOf, settingsOf } from './model-agent.ts'
import { SideEvents } from './side-events.ts'
import { toTurns } from './told.ts'
import { toModelTools } from './tools.ts'

/** The options of a lead. */
export interface LeadOptions extends ModelSettings {
  /** The same as for a `ModelAgent`. */
  readonly model: ModelSource
  /** The system prompt of the lead. */
  readonly instructions?: string
}

const TASK = {
  type: 'object',
  properties: { input: { type: 'string', description: 'All that the member has to know' } },
  required: ['input'],
}

/**
 * A strategy in which a model leads: each member is a tool, `ask_name`, that it may call as often as it likes, several at once;
 * what the model says is the team's answer, what members say is progress. The lead remembers the session, and so do its members,
 * each by itself.
 *
 * @example
 * new Team({ name: 'desk', members: [searcher, writer], strategy: lead({ model, instructions: 'Plan, then delegate.' }) })
 */
export function lead(options: LeadOptions): TeamStrategy {
  const info = modelInfo({ name: 'lead', model: options.model })
  return async function* (input, context) {
    const side = new SideEvents<Yielded>()
    const results: RunResult[] = []
    const tools = context.members.map(member => memberTool(member, { context, side, results }))
    const modelTools = toModelTools(tools, context)
    const keys = optionsFor({ model: info }, context)
    const session = context.memory?.session(undefined, info.provider)
    const history = toHistory((await session?.read()) ?? [])
    const message = toUserMessage(input)
    const answer = yield* side.beside(
      callModel({
        model: modelOf(options.model, { apiKey: keys.apiKey, apiKeys: keys.apiKeys ?? {} }, 'lead'),
        instructions: options.instructions ?? '',
        messages: [...toTurns(context.history).flat(), ...history.flat(), message],
        tools: modelTools,
        parts: new AiParts({ model: nameOf(info), nameOf: modelTools.nameOf }),
        output: undefined,
        settings: settingsOf(options),
        signal: context.signal,
      }),
    )
    await session?.append([toKept(message), ...answer.messages])
    const own = answer.usage && usageOf({ model: info }, answer.usage)
    return { finishReason: answer.finishReason, ...sumOf(own, results) }
  }
}

/** A member as a tool. Its events appear between those of the lead. */
function memberTool(
  { name, description }: ServableAgent,
  {
    context,
    side,
    results,
  }: { readonly context: TeamContext; readonly side: SideEvents<Yielded>; readonly results: RunResult[] },
): Tool {
  return {
    name: `ask_${name}`,
    description: description ?? `Asks ${name}`,
    parameters: TASK,
    async execute(args, { toolCallId }) {
      const { input } = Object(args) as { input?: unknown }
      if (typeof input !== 'string' || input === '') {
        throw new ServableError('invalid_input', '`input` must be text that tells the member what to do')
      }
      const result = await side.put(within(toolCallId, aside(context.call(name, input))))
      results.push(result)
      return result.structured ?? result.text
    },
  }
}

/** A member's turn is the tool call: what happens in its step, and in no further one, happens in the call. */
async function* within<T>(toolCallId: string, turn: AsyncGenerator<Yielded, T>): AsyncGenerator<Yielded, T> {
  let stepId: string | undefined
  let result = await turn.next()
  try {
    for (; !result.done; result = await turn.next()) {
      const { value } = result
      if (typeof value !== 'string' && value.type === 'step') stepId ??= value.id
      const isOwn = typeof value !== 'string' && (value.parentId === undefined || value.parentId === stepId)
      yield isOwn ? withFacts(value, { parentId: toolCallId }) : value
    }
    return result.value
  } finally {
    if (!result.done) await turn.return(undefined as T)
  }
}

/** Of the lead and of all that it asked; absent where nobody says. */
function sumOf(own: Usage | undefined, results: readonly RunResult[]): { usage?: Usage } {
  if (own === undefined && results.length === 0) return {}
  return { usage: results.reduce((sum, { usage }) => addUsage(sum, usage), own ?? NO_USAGE) }
}
