import { ServableError } from '../errors.ts'
import type { Target } from '../runs/run.ts'
import type { SendRequest } from './model.ts'

/** The agents that A2A offers. */
export interface AgentDirectory {
  /** Throws `agent_not_found`. */
  resolve(name: string): Target
  /** The names on offer, looked up anew each time. */
  names(): readonly string[]
}

/** Chooses the agent that answers a message. Throws `invalid_params` that lists the names where nothing tells. */
export type AgentChooser = (request: SendRequest, endpointAgent: string | undefined) => Target

/**
 * Makes the chooser: the endpoint's own agent, else the one that the message names (`metadata.agentName`, or a skill as
 * `metadata.skillId`), else the default, else the only one.
 */
export function createAgentChooser(agents: AgentDirectory, defaultAgent: string | undefined): AgentChooser {
  return ({ message, metadata }, endpointAgent) => {
    const named = endpointAgent ?? nameIn(message.metadata) ?? nameIn(metadata) ?? defaultAgent
    const names = agents.names()
    const name = named ?? (names.length === 1 ? names[0] : undefined)
    if (name !== undefined && names.includes(name)) return agents.resolve(name)
    const shown = names.slice(0, 50).map(each => `\`${each}\``)
    throw new ServableError(
      'invalid_params',
      `\`message.metadata.agentName\` must name one of ${shown.join(', ') || 'no agents'}`,
    )
  }
}

function nameIn(metadata: SendRequest['metadata']): string | undefined {
  for (const key of ['agentName', 'skillId', 'skill']) {
    const name = metadata?.[key]
    if (typeof name === 'string' && name !== '') return name
  }
  return undefined
}
