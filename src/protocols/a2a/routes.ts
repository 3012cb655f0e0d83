/**
 * Mounts A2A: JSON-RPC at the base path, HTTP+JSON below it, both again for each servable, and the cards.
 *
 * @module
 */

import type { Kind, ServableAgent } from '../../agents/contract.ts'
import { examplesIn } from '../../agents/registry.ts'
import { ServableError } from '../../base/errors.ts'
import type { Catalog } from '../../http/catalog.ts'
import type { RequestState, Route } from '../../http/context.ts'
import { joinPath } from '../../http/router.ts'
import type { KeyReader } from '../../http/security/key-headers.ts'
import type { Permit } from '../../runs/permit.ts'
import type { Target } from '../../runs/target.ts'
import type { Approvals } from '../../runs/waiting/approvals.ts'
import type { StreamCount } from '../../web/sse.ts'
import { cardRoutes } from './cards/card-routes.ts'
import { createCards, createExtendedCard } from './cards/cards.ts'
import { findSkill, KIND_PATHS, skillId, skillsIn } from './cards/skills.ts'
import type { BindingOptions } from './endpoint.ts'
import { answerJsonRpc } from './jsonrpc.ts'
import { createOperations } from './operations.ts'
import type { A2ASettings } from './options.ts'
import { restRoutes } from './rest.ts'
import { createAgentChooser } from './tasks/choose-agent.ts'
import type { TaskHost } from './tasks/task-host.ts'
import { Tenants } from './tenants.ts'

/** What A2A needs. */
export interface A2ARoutesOptions {
  readonly settings: A2ASettings
  readonly agents: Catalog
  readonly host: TaskHost
  readonly approvals: Approvals | undefined
  readonly permit: Permit | undefined
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
  permit,
  readKeys,
  production,
  publicUrl,
  countStream,
  checkServed,
}: A2ARoutesOptions): Route[] {
  const { basePath, inputModes, listAnonymous, maxBodyBytes, extensions, streaming } = settings
  const tenants = new Tenants(settings.tenants)
  const hidden = new Set(settings.extendedCard?.agents)
  const ids = () =>
    skillsIn(agents)
      .map(skillId)
      .filter(id => !hidden.has(id))
  const chooseAgent = createAgentChooser({ ids, find: id => findSkill(agents, id) }, settings.default)
  const subjects = () => skillsIn(agents).map(subjectOf)
  const cards = createCards({ settings, publicUrl, subjects, hidden, tenants })
  const operations = createOperations({
    host,
    approvals,
    permit,
    chooseAgent,
    inputModes,
    listAnonymous,
    extensions,
    tenants,
    hasStreams: streaming,
    hasPush: settings.push !== undefined,
    extendedCard: createExtendedCard(settings, cards, tenants),
  })
  const options: BindingOptions = {
    operations,
    readKeys,
    maxBodyBytes,
    production,
    countStream,
    hasExtendedCard: settings.extendedCard !== undefined,
    checkServed,
    extensions,
    tenants,
  }

  const named =
    (kind: Kind) =>
    ({ params: { agent = '' } }: RequestState): Target => {
      const found = agents.find(kind, agent)
      if (found !== undefined) return found
      throw new ServableError(`${kind}_not_found`, `There is no such ${kind}`)
    }
  const ofAll = () => undefined
  const endpoint = (base: string, agentOf: (state: RequestState) => Target | undefined): Route[] => [
    {
      method: 'POST',
      path: joinPath(base),
      part: 'a2a',
      endpoint: (request, state) => answerJsonRpc(request, state, options, agentOf),
    },
    ...restRoutes(base, options, agentOf),
  ]
  // At the root, a path of one segment would match all other routes.
  const isRoot = joinPath(basePath) === '/'
  const below = (): Route[] => {
    const tenant = joinPath(basePath, ':tenant')
    if (tenants.isOn) return isRoot ? restRoutes(tenant, options, ofAll) : endpoint(tenant, ofAll)
    // Without tenants, the tenant in the path is an agent's name.
    return isRoot ? [] : restRoutes(joinPath(basePath, ':agent'), options, named('agent'))
  }
  return [
    ...cardRoutes({ settings, publicUrl, cards, tenants }),
    ...KIND_PATHS.flatMap(([kind, segment]) => endpoint(joinPath(basePath, segment, ':agent'), named(kind))),
    ...endpoint(basePath, ofAll),
    ...below(),
  ]
}

function subjectOf({ kind, name, servable }: ReturnType<typeof skillsIn>[number]) {
  // Only agents have capabilities.
  const { description, capabilities, examples } = servable as Partial<ServableAgent>
  return { kind, name, description, capabilities, examples: examplesIn(examples) }
}
