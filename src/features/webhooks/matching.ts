/**
 * Finds the subscriptions for an event. Those of the deployment are indexed by owner and agent, so a run pays only for those that
 * may match.
 *
 * @module
 */

import type { DeploymentWebhook, WebhookFilter } from './options.ts'
import type { RunNotice } from './payload.ts'

/** The part of an event that subscriptions are matched with. */
export type MatchedEvent = Pick<RunNotice, 'type' | 'owner'> & {
  readonly run: Pick<RunNotice['run'], 'kind' | 'name'>
}

/** Whether a filter matches an event. */
export function matches({ events, agents }: WebhookFilter, { type, run }: MatchedEvent): boolean {
  if (events !== undefined && !events.includes(type)) return false
  return agents === undefined || namesOf(run).some(name => agents.includes(name))
}

/** The names by which a filter may refer to the target. */
function namesOf({ kind, name }: MatchedEvent['run']): readonly string[] {
  return kind === 'agent' ? [name, `agent/${name}`] : [`${kind}/${name}`]
}

/** Creates a function that finds the deployment's subscriptions for an event. */
export function createMatcher(
  all: readonly DeploymentWebhook[],
): (what: MatchedEvent) => DeploymentWebhook[] {
  const byOwner = new Map<string, DeploymentWebhook[]>()
  const byAgent = new Map<string, DeploymentWebhook[]>()
  const others: DeploymentWebhook[] = []
  const add = (to: Map<string, DeploymentWebhook[]>, names: readonly string[], each: DeploymentWebhook) => {
    for (const name of new Set(names)) {
      const found = to.get(name)
      if (found === undefined) to.set(name, [each])
      else found.push(each)
    }
  }
  for (const each of all) {
    if (each.owners !== undefined) add(byOwner, each.owners, each)
    else if (each.agents !== undefined) add(byAgent, each.agents, each)
    else others.push(each)
  }
  return what => {
    const owned = what.owner === null ? [] : (byOwner.get(what.owner) ?? [])
    const named = namesOf(what.run).flatMap(name => byAgent.get(name) ?? [])
    return [...new Set([...others, ...owned, ...named])].filter(each => matches(each, what))
  }
}
