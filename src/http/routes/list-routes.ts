/**
 * `GET /agents`, `/teams`, `/workflows` and `/registry`. They exist when auto-discovery is on.
 *
 * @module
 */

import type { ServableAgent, ServableLike, ServableTeam, ServableWorkflow } from '../../agents/contract.ts'
import { jsonReply } from '../../web/reply.ts'
import type { Catalog } from '../catalog.ts'
import type { Route } from '../context.ts'
import { joinPath } from '../router.ts'

/** What a list tells of an agent; never its instructions or keys. */
export interface AgentSummary {
  readonly name: string
  readonly description: string | null
  /** Id of the model, where the agent tells. */
  readonly model: string | null
  readonly provider: string | null
  /** Names of the agent's tools. */
  readonly tools: readonly string[]
  readonly hasStructuredOutput: boolean
  readonly capabilities: readonly string[]
}

/** What a list tells of a team. */
export interface TeamSummary {
  readonly name: string
  readonly description: string | null
  /** Names of the members. */
  readonly members: readonly string[]
}

/** What a list tells of a workflow. */
export interface WorkflowSummary {
  readonly name: string
  readonly description: string | null
  /** Names of the steps. */
  readonly steps: readonly string[]
}

/** The four lists, under `prefix`. */
export function listRoutes(prefix: string, catalog: Catalog): Route[] {
  const list = (path: string, content: () => unknown): Route => ({
    method: 'GET',
    path: joinPath(prefix, path),
    part: 'router',
    endpoint: () => jsonReply(content()),
  })
  return [
    list('agents', () =>
      catalog
        .entries('agent')
        .map(({ name, servable }) => agentSummary(name, servable as ServableLike<ServableAgent>)),
    ),
    list('teams', () =>
      catalog
        .entries('team')
        .map(({ name, servable }) => teamSummary(name, servable as ServableLike<ServableTeam>)),
    ),
    list('workflows', () =>
      catalog
        .entries('workflow')
        .map(({ name, servable }) => workflowSummary(name, servable as ServableLike<ServableWorkflow>)),
    ),
    list('registry', () => catalog.names()),
  ]
}

function agentSummary(name: string, agent: ServableLike<ServableAgent>): AgentSummary {
  return {
    name,
    description: textIn(agent.description),
    model: textIn(agent.model?.id),
    provider: textIn(agent.model?.provider),
    tools: namesOf(agent.tools),
    hasStructuredOutput: agent.output !== undefined && agent.output !== null,
    capabilities: textsIn(agent.capabilities),
  }
}

function teamSummary(name: string, team: ServableLike<ServableTeam>): TeamSummary {
  return { name, description: textIn(team.description), members: namesOf(team.members) }
}

function workflowSummary(name: string, workflow: ServableLike<ServableWorkflow>): WorkflowSummary {
  return { name, description: textIn(workflow.description), steps: namesOf(workflow.steps) }
}

/** Text out of what another's code made; null where it is none. */
function textIn(value: unknown): string | null {
  return typeof value === 'string' ? value : null
}

function textsIn(list: unknown): string[] {
  return Array.isArray(list) ? list.filter(item => typeof item === 'string') : []
}

/** Names out of a list that another's code made; what is no list has none. */
function namesOf(list: unknown): string[] {
  if (!Array.isArray(list)) return []
  return list.flatMap(item => (typeof item?.name === 'string' ? [item.name] : []))
}
