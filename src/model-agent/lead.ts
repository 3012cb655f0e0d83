import { aside } from '../agents/call.ts'
import type { RunResult, ServableAgent, Usage } from '../agents/contract.ts'
import type { Yielded } from '../agents/perform.ts'
import { optionsFor } from '../agents/provider-key.ts'
import type { TeamContext, TeamStrategy } from '../agents/team.ts'
import type { Tool } from '../agents/tool.ts'
import { addUsage, NO_USAGE, usageOf } from '../agents/usage.ts'
import { ServableError } from '../errors.ts'
import { callModel, type ModelSettings } from './call-model.ts'
import { toUserMessage } from './messages.ts'
import { type ModelSource, modelInfo, modelOf, settingsOf } from './model-agent.ts'
import { SideEvents } from './side-events.ts'
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
 * A strategy in which a model leads the team. Each member is a tool, `ask_name`. The lead may call members often, and several
 * at once. The lead's text is the team's answer. The members' text is progress. The lead has no memory of a session. Its
 * members remember as usual.
 *
 * @example
 * new Team({ name: 'desk', members: [searcher, writer], strategy: lead({ model, instructions: 'Plan, then delegate.' }) })
 */
export function lead(options: LeadOptions): TeamStrategy {
  const info = modelInfo({ name: 'lead', model: options.model })
  return async function* (input, context) {
    const side = new SideEvents<Yielded>()
    const results: RunResult[] = []
    const tools = context.members.map((member, index) =>
      memberTool(member, index, { context, side, results }),
    )
    const keys = optionsFor({ model: info }, context)
    const answer = yield* side.beside(
      callModel({
        model: modelOf(options.model, { apiKey: keys.apiKey, apiKeys: keys.apiKeys ?? {} }, 'lead'),
        instructions: options.instructions ?? '',
        messages: [toUserMessage(input)],
        tools: toModelTools(tools, context),
        output: undefined,
        settings: settingsOf(options),
        signal: context.signal,
      }),
    )
    const own = answer.usage && usageOf({ model: info }, answer.usage)
    return { finishReason: answer.finishReason, ...sumOf(own, results) }
  }
}

/** A member as a tool. Its events appear between those of the lead. */
function memberTool(
  { name, description }: ServableAgent,
  index: number,
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
    async execute(args) {
      const { input } = Object(args) as { input?: unknown }
      if (typeof input !== 'string' || input === '') {
        throw new ServableError('invalid_input', '`input` must be text that tells the member what to do')
      }
      const result = await side.put(aside(name, index, context.call(name, input)))
      results.push(result)
      return result.structured ?? result.text
    },
  }
}

/** The usage of the lead and of all members that it asked. Absent if the lead's is unknown and it asked no member. */
function sumOf(own: Usage | undefined, results: readonly RunResult[]): { usage?: Usage } {
  if (own === undefined && results.length === 0) return {}
  return { usage: results.reduce((sum, { usage }) => addUsage(sum, usage), own ?? NO_USAGE) }
}
