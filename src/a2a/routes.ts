/**
 * Mounts A2A: JSON-RPC at the base path, HTTP+JSON below it, both again for each agent, and the cards.
 *
 * @module
 */

import type { ServableAgent } from '../agents/contract.ts'
import { ServableError } from '../errors.ts'
import type { Catalog } from '../http/catalog.ts'
import type { RequestState, Route } from '../http/context.ts'
import type { KeyReader } from '../http/key-headers.ts'
import { joinPath } from '../http/router.ts'
import type { Approvals } from '../runs/approvals.ts'
import type { StreamCount } from '../web/sse.ts'
import { cardRoutes } from './card-routes.ts'
import { createCards } from './cards.ts'
import { createAgentChooser } from './choose-agent.ts'
import type { BindingOptions } from './endpoint.ts'
import { createExtendedCard } from './extended-card.ts'
import { answerJsonRpc } from './jsonrpc.ts'
import { createOperations } from './operations.ts'
import type { A2ASettings } from './options.ts'
import { restRoutes } from './rest.ts'
import type { TaskHost } from './task-host.ts'

/** What A2A needs. */
export interface A2ARoutesOptions {
  readonly settings: A2ASettings
  readonly agents: Catalog
  readonly host: TaskHost
  readonly approvals: Approvals | undefined
  readonly readKeys: KeyReader
  readonly production: boolean
  readonly publicUrl: string | undefined
  readonly countStream: StreamCount | undefined
  readonly checkServed: BindingOptions['checkServed']
}

/** All routes of A2A. */
export function a2aRoutes({
  settings,
  agents,
  host,
  approvals,
  readKeys,
  production,
  publicUrl,
  countStream,
  checkServed,
}: A2ARoutesOptions): Route[] {
  const { basePath, inputModes, listAnonymous, maxBodyBytes } = settings
  const hidden = new Set(settings.extendedCard?.agents)
  const names = () =>
    agents
      .entries('agent')
      .map(({ name }) => name)
      .filter(name => !hidden.has(name))
  const find = (name: string) => agents.find('agent', name)
  const chooseAgent = createAgentChooser({ names, find }, settings.default)
  const cards = createCards({
    settings,
    publicUrl,
    subjects: () => agents.entries('agent').map(subjectOf),
    hidden,
  })
  const operations = createOperations({
    host,
    approvals,
    chooseAgent,
    inputModes,
    listAnonymous,
    maxParts: settings.maxParts,
    hasPush: settings.push !== undefined,
    extendedCard: createExtendedCard(settings, cards),
  })
  const options: BindingOptions = {
    operations,
    readKeys,
    maxBodyBytes,
    production,
    countStream,
    hasExtendedCard: settings.extendedCard !== undefined,
    checkServed,
  }

  const named = ({ params: { agent = '' } }: RequestState): string => {
    if (find(agent) !== undefined) return agent
    throw new ServableError('agent_not_found', 'There is no such agent')
  }
  const endpoint = (base: string, agentOf: (state: RequestState) => string | undefined): Route[] => [
    {
      method: 'POST',
      path: joinPath(base),
      part: 'a2a',
      endpoint: (request, state) => answerJsonRpc(request, state, options, agentOf),
    },
    ...restRoutes(base, options, agentOf),
  ]
  return [
    ...cardRoutes({ settings, publicUrl, cards }),
    ...endpoint(joinPath(basePath, 'agents/:agent'), named),
    ...endpoint(basePath, () => undefined),
    // The tenant in the path is an agent's name. At the root, this route would match the paths of all other routes.
    ...(joinPath(basePath) === '/' ? [] : restRoutes(joinPath(basePath, ':agent'), options, named)),
  ]
}

function subjectOf({ name, servable }: ReturnType<Catalog['entries']>[number]) {
  // `entries('agent')` returns only agents.
  const { description, capabilities } = servable as Partial<ServableAgent>
  return { name, description, capabilities }
}
