/**
 * The core's other operations: lists, the document itself, the index and the health check.
 *
 * @module
 */

import type { Builders, Description, Paths } from '../../core/builders.ts'
import { listSchemas, serviceSchemas } from './schemas.ts'

/** Describes the lists of agents, teams and workflows, if there are any, and the document. */
export function describeDiscovery(
  { at, read, ref, list, operation, answer, json }: Builders,
  { hasLists, specPath }: { readonly hasLists: boolean; readonly specPath: string },
): Description {
  const responses = { 200: answer('OpenAPI 3.0.3', json({ type: 'object' })) }
  const lists: Paths = {
    [at('agents')]: { get: read('listAgents', 'All agents', list(ref('AgentSummary'))) },
    [at('teams')]: { get: read('listTeams', 'All teams', list(ref('TeamSummary'))) },
    [at('workflows')]: { get: read('listWorkflows', 'All workflows', list(ref('WorkflowSummary'))) },
    [at('registry')]: { get: read('listNames', 'All names', ref('RegistryNames')) },
  }
  const spec = { get: operation('operation', 'getSpec', 'This document', { responses, problems: [401] }) }
  return {
    tags: [{ name: 'discovery', description: 'Agents, teams and workflows' }],
    paths: { ...(hasLists && lists), [at(specPath)]: spec },
  }
}

/** Describes the index, if there is one, the health check, and the schemas of the lists. */
export function describeIndex(build: Builders, hasIndex: boolean): Description {
  const { at, operation, answer, json, ref, open, parameter } = build
  const links = answer('Links by what they lead to', json(ref('Index')))
  const index: Paths = {
    [at('')]: {
      get: operation('operation', 'getIndex', 'Links to what is mounted', {
        responses: { 200: links },
        problems: [401],
      }),
    },
  }
  const versions = 'Include versions. Needs the scope `admin`'
  const content = json(ref('Health'))
  const health = operation('operation', 'getHealth', 'Whether requests can be served', {
    parameters: [parameter('query', 'versions', versions)],
    responses: { 200: answer('They can', content), 503: answer('They cannot', content) },
    problems: [401, 403, 429],
  })
  return {
    paths: { ...(hasIndex && index), [at('health')]: { get: { ...health, ...open } } },
    schemas: listSchemas(build),
  }
}

/** Describes the tag and the schemas that come last: those of the service, and the problem document of errors. */
export function describeService(build: Builders): Description {
  return {
    tags: [{ name: 'operation', description: 'The service itself' }],
    schemas: serviceSchemas(build),
  }
}
