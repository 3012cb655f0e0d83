import type { Usage } from '../../agents/contract.ts'
import { optionsFor } from '../../agents/provider-key.ts'
import type { TeamStrategy } from '../../agents/team.ts'
import { addUsage, NO_USAGE, nameOf, usageOf } from '../../agents/usage.ts'
import type { ModelSettings } from './call-model.ts'
import { toTurns } from './client-history.ts'
import { converse } from './converse.ts'
import { toHistory } from './history.ts'
import { MemberCalls } from './members.ts'
import { toKept, toUserMessage } from './messages.ts'
import { type ModelSource, modelInfo, modelOf, settingsOf } from './model-agent.ts'
import { fromKept, toKept as toKeptConversation } from './waiting.ts'

/** The options of a lead. */
export interface LeadOptions extends ModelSettings {
  /** The same as for a `ModelAgent`. */
  readonly model: ModelSource
  /** The system prompt of the lead. */
  readonly instructions?: string
}

/**
 * A strategy in which a model leads: each member is a tool, `ask_name`, that it may call as often as it likes, several at once.
 * The model's text is the team's answer; the members' text is progress. The lead and each of its members remember the session
 * separately.
 *
 * @example
 * new Team({ name: 'desk', members: [searcher, writer], strategy: lead({ model, instructions: 'Plan, then delegate.' }) })
 */
export function lead(options: LeadOptions): TeamStrategy {
  const info = modelInfo({ name: 'lead', model: options.model })
  const strategy: TeamStrategy = async function* (input, context) {
    const members = new MemberCalls(context, nameOf(info))
    const { tools, parts, rounds } = members
    const keys = optionsFor({ model: info }, context)
    const session = context.memory?.session(undefined, info.provider)
    const call = {
      model: modelOf(options.model, { apiKey: keys.apiKey, apiKeys: keys.apiKeys ?? {} }, 'lead'),
      instructions: options.instructions ?? '',
      tools,
      parts,
      rounds,
      output: undefined,
      settings: settingsOf(options),
      signal: context.signal,
      traceparent: context.traceparent,
    }
    const begun = fromKept(context.work.read()) ?? {
      turns: [...toTurns(context.history), ...toHistory((await session?.read()) ?? [])],
      turn: [toUserMessage(input)],
      waiting: [],
    }
    const { finishReason, usage, conversation } = yield* converse(call, begun, members)
    const { turn, waiting } = conversation
    const requests = waiting.map(({ request }) => request)
    if (requests.length > 0) context.work.keep(toKeptConversation(conversation))
    else if (session !== undefined) {
      await rounds.remembers()
      await session.append(turn.map(toKept))
    }
    return {
      finishReason,
      ...sumOf(usage && usageOf({ model: info }, usage), members.used),
      ...(requests.length > 0 && { requests }),
    }
  }
  return Object.assign(strategy, { steering: true })
}

/** The usage of the lead and of all members that it called; absent if none of them reports any. */
function sumOf(own: Usage | undefined, used: readonly Usage[]): { usage?: Usage } {
  if (own === undefined && used.length === 0) return {}
  return { usage: used.reduce(addUsage, own ?? NO_USAGE) }
}
