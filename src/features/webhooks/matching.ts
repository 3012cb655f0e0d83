/**
 * Who hears of an event. Subscriptions of the deployment are found by their owner or agent, so that a run pays for those that may
 * match, and not for all.
 *
 * @module
 */

import type { DeploymentWebhook, WebhookFilter } from './options.ts'
import type { RunNotice } from './payload.ts'

/** What of an event decides who hears of it. */
export type Happened = Pick<RunNotice, 'type' | 'owner'> & {
  readonly run: Pick<RunNotice['run'], 'kind' | 'name'>
}

/** Whether a filter lets an event through. */
export function hears({ events, agents }: WebhookFilter, { type, run }: Happened): boolean {
  if (events !== undefined && !events.includes(type)) return false
  return agents === undefined || namesOf(run).some(name => agents.includes(name))
}

/** The names by which a filter may know what ran. */
function namesOf({ kind, name }: Happened['run']): readonly string[] {
  return kind === 'agent' ? [name, `agent/${name}`] : [`${kind}/${name}`]
}

/** Finds the subscriptions of a deployment that hear of an event. */
export function createMatcher(all: readonly DeploymentWebhook[]): (what: Happened) => DeploymentWebhook[] {
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
    return [...new Set([...others, ...owned, ...named])].filter(each => hears(each, what))
  }
}
