import { ServableError } from '../../../base/errors.ts'
import type { Target } from '../../../runs/target.ts'
import { skillId } from '../cards/skills.ts'
import type { SendRequest } from '../model.ts'

/** What A2A offers. */
export interface AgentDirectory {
  /** Returns undefined if there is no skill of that id. */
  find(id: string): Target | undefined
  /** Ids of the skills on open cards, agents first. The list is made at each call. */
  ids(): readonly string[]
}

/** Where a message came in. */
export interface Entrance {
  /** The servable of the endpoint, if it belongs to one. */
  readonly agent: Target | undefined
  /** Ids of the skills of the tenant. Undefined: all. */
  readonly skills: ReadonlySet<string> | undefined
}

/**
 * Chooses the servable that answers a message. If the choice is not clear, it throws `invalid_params` with the ids of the
 * skills.
 */
export type AgentChooser = (request: SendRequest, entrance: Entrance) => Target

/**
 * Makes the chooser. It takes the first of these that is given: the endpoint's own servable, the one that the message names
 * (`metadata.agentName`, or a skill in `metadata.skillId`), the default, the only agent, the only skill.
 */
export function createAgentChooser(agents: AgentDirectory, defaultId: string | undefined): AgentChooser {
  return ({ message, metadata }, { agent, skills }) => {
    const mayUse = (id: string) => skills?.has(id) !== false
    const offered = () => agents.ids().filter(mayUse)
    if (agent !== undefined && mayUse(skillId(agent))) return agent
    const usual = defaultId !== undefined && mayUse(defaultId) ? defaultId : undefined
    const id = nameIn(message.metadata) ?? nameIn(metadata) ?? usual ?? onlyOne(offered()) ?? ''
    const found = agent === undefined && mayUse(id) ? agents.find(id) : undefined
    if (found !== undefined) return found
    const shown = offered()
      .slice(0, 50)
      .map(name => `\`${name}\``)
    throw new ServableError(
      'invalid_params',
      `\`message.metadata.agentName\` must name one of ${shown.join(', ') || 'no agents'}`,
    )
  }
}

/** The only agent; where there is none, the only skill. */
function onlyOne(ids: readonly string[]): string | undefined {
  const agents = ids.filter(id => !/^(team|workflow)\//.test(id))
  const [only, ...others] = agents.length > 0 ? agents : ids
  return others.length === 0 ? only : undefined
}

function nameIn(metadata: SendRequest['metadata']): string | undefined {
  for (const key of ['agentName', 'skillId', 'skill']) {
    const name = metadata?.[key]
    if (typeof name === 'string' && name !== '') return name
  }
  return undefined
}
