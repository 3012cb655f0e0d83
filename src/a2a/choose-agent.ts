import { ServableError } from '../errors.ts'
import type { Target } from '../runs/target.ts'
import type { SendRequest } from './model.ts'

/** The agents that A2A offers. */
export interface AgentDirectory {
  /** Returns undefined if there is no agent of that name. */
  find(name: string): Target | undefined
  /** Names of the agents on open cards. The list is made at each call. */
  names(): readonly string[]
}

/**
 * Chooses the agent that answers a message. If the choice is not clear, it throws `invalid_params` with the names of the
 * agents.
 */
export type AgentChooser = (request: SendRequest, endpointAgent: string | undefined) => Target

/**
 * Makes the chooser. It takes the first of these that is given: the endpoint's own agent, the agent that the message names
 * (`metadata.agentName`, or a skill in `metadata.skillId`), the default agent, the only agent.
 */
export function createAgentChooser(agents: AgentDirectory, defaultAgent: string | undefined): AgentChooser {
  return ({ message, metadata }, endpointAgent) => {
    const named = endpointAgent ?? nameIn(message.metadata) ?? nameIn(metadata) ?? defaultAgent
    const agent = agents.find(named ?? onlyOne(agents.names()) ?? '')
    if (agent !== undefined) return agent
    const shown = agents
      .names()
      .slice(0, 50)
      .map(name => `\`${name}\``)
    throw new ServableError(
      'invalid_params',
      `\`message.metadata.agentName\` must name one of ${shown.join(', ') || 'no agents'}`,
    )
  }
}

function onlyOne(names: readonly string[]): string | undefined {
  return names.length === 1 ? names[0] : undefined
}

function nameIn(metadata: SendRequest['metadata']): string | undefined {
  for (const key of ['agentName', 'skillId', 'skill']) {
    const name = metadata?.[key]
    if (typeof name === 'string' && name !== '') return name
  }
  return undefined
}
