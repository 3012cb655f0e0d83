/**
 * The OpenAPI 3.0.3 document of a handler, made anew at each request, so that what is registered later is in it.
 *
 * @module
 */

import type { Kind } from '../agents/contract.ts'
import { KINDS } from '../agents/registry.ts'
import type { Catalog } from '../http/catalog.ts'
import { joinPath } from '../http/router.ts'
import type { SecurityRequirement } from '../http/security.ts'
import { type A2AParts, a2aOperations } from './a2a-operations.ts'
import { adminOperations } from './admin-operations.ts'
import {
  answer,
  eventStream,
  json,
  type Operation,
  type Operations,
  operation,
  parameter,
  type Row,
} from './operation.ts'
import type { SwaggerSettings } from './options.ts'
import { createSchemas, ref, type Schema } from './schemas.ts'
import {
  type DocumentSecurity,
  demanded,
  guardedBy,
  keyed,
  open,
  secured,
  securitySchemes,
} from './security.ts'

/** What the document tells of. */
export interface DocumentParts {
  readonly swagger: SwaggerSettings
  readonly prefix: string
  readonly catalog: Catalog
  readonly security: DocumentSecurity
  readonly hasIndex: boolean
  readonly hasLists: boolean
  readonly hasUploads: boolean
  readonly hasTools: boolean
  readonly hasMetrics: boolean
  readonly hasAdmin: boolean
  /** Undefined where A2A is off. */
  readonly a2a: A2AParts | undefined
}

/** An OpenAPI document. */
export interface OpenApiDocument {
  readonly openapi: '3.0.3'
  readonly info: { readonly title: string; readonly version: string; readonly description?: string }
  readonly servers?: SwaggerSettings['servers']
  readonly tags: readonly { readonly name: string; readonly description: string }[]
  readonly paths: Readonly<Record<string, Operations>>
  /** What every operation demands that says nothing else: any one of these. */
  readonly security?: readonly SecurityRequirement[]
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>
    readonly securitySchemes: Readonly<Record<string, Schema>>
  }
}

/** Names that stand in the document; a longer list says nothing to a reader. */
const MAX_NAMES = 200

/** Makes the document. */
export function createDocument(parts: DocumentParts): OpenApiDocument {
  const { swagger, security, hasMetrics, hasAdmin } = parts
  const { title, version, description, servers } = swagger
  return {
    openapi: '3.0.3',
    info: { title, version, ...(description !== undefined && { description }) },
    ...(servers !== undefined && { servers }),
    tags: TAGS.filter(({ name }) => (name !== 'metrics' || hasMetrics) && (name !== 'admin' || hasAdmin)),
    paths: pathsOf(parts),
    components: {
      schemas: createSchemas(),
      securitySchemes: securitySchemes(security),
    },
    ...demanded(security),
  }
}

const TAGS = [
  { name: 'run', description: 'Run agents, teams and workflows' },
  { name: 'runs', description: 'Stored runs, read again' },
  { name: 'discovery', description: 'What is served' },
  { name: 'metrics', description: 'What was counted' },
  { name: 'admin', description: 'Tool servers and toolkits' },
  { name: 'operation', description: 'The service itself' },
] as const

function pathsOf(parts: DocumentParts): OpenApiDocument['paths'] {
  const { swagger, security, hasLists, hasIndex, hasTools, hasMetrics, hasAdmin, a2a } = parts
  const prefix = swagger.routePrefix ?? parts.prefix
  const at = (path: string) => joinPath(prefix, path)
  const paths: Record<string, Operations> = {}
  // In the order of the routes: where two have one path, the first one answers.
  const add = (path: string, operations: Operations) => {
    paths[path] = { ...operations, ...paths[path] }
  }
  for (const kind of KINDS) {
    add(at(`${kind}s/{name}/run`), { post: runOperation(kind, parts) })
    add(at(`${kind}s/{name}/stream`), { post: streamOperation(kind, parts) })
  }
  const own: readonly Row[] = [
    ...followedOperations(),
    ...(hasLists ? listOperations() : []),
    specOperation(swagger.specPath),
    correctionOperations(parts),
    ...(hasIndex ? [indexOperation()] : []),
    ...secured([healthOperation()], open(security)),
    ...(hasTools ? toolOperations() : []),
    ...(hasAdmin ? secured(adminOperations(), guardedBy('admin', security)) : []),
    ...(hasMetrics ? secured(metricsOperations(), guardedBy('metrics', security)) : []),
  ]
  for (const [path, operations] of own) add(at(path), operations)
  if (a2a !== undefined) {
    const demands = { card: open(security), extendedCard: guardedBy('card', security) }
    const rows = a2aOperations(a2a, nameParameter('agent', parts), demands)
    for (const [path, operations] of rows) add(path, operations)
  }
  return paths
}

const runParameters = (kind: Kind, parts: DocumentParts): readonly Schema[] => [
  nameParameter(kind, parts),
  parameter('header', 'Idempotency-Key', 'The same key and body give the same run', {
    type: 'string',
    minLength: 1,
    maxLength: 255,
  }),
  parameter('header', 'Prefer', '`respond-async` answers at once with the record of the run'),
]

const runIdHeader: Schema = { 'x-run-id': { description: 'Id of the run', schema: { type: 'string' } } }

function nameParameter(kind: Kind, { catalog }: DocumentParts): Schema {
  const names = catalog.entries(kind).map(({ name }) => name)
  const isShort = names.length > 0 && names.length <= MAX_NAMES
  return parameter('path', 'name', `Name of the ${kind}`, {
    type: 'string',
    ...(isShort && { enum: names }),
  })
}

function runBody({ hasUploads }: DocumentParts): Schema {
  const content = json(ref('RunBody'), { input: 'Hello' })
  if (!hasUploads) return { required: true, content }
  const form: Schema = {
    type: 'object',
    properties: {
      input: { type: 'string' },
      files: { type: 'array', items: { type: 'string', format: 'binary' } },
      sessionId: { type: 'string' },
      userId: { type: 'string' },
      apiKey: { type: 'string' },
      background: { type: 'string', enum: ['true', 'false'] },
    },
  }
  return { required: true, content: { ...content, 'multipart/form-data': { schema: form } } }
}

const RUN_PROBLEMS = [400, 401, 403, 404, 413, 415, 422, 429, 500, 502, 503, 504] as const
const UPLOAD_PROBLEMS = [...RUN_PROBLEMS, 408] as const

const title = (kind: Kind) => `${kind[0]?.toUpperCase()}${kind.slice(1)}`

const withArticle = (kind: Kind) => (kind === 'agent' ? 'an agent' : `a ${kind}`)

function runOperation(kind: Kind, parts: DocumentParts): Operation {
  const result = answer('The result', json(ref('RunResult')), runIdHeader)
  return startOperation('run', 'result', kind, parts, result)
}

function streamOperation(kind: Kind, parts: DocumentParts): Operation {
  const what = 'Server-sent events: each `data` is one of these'
  const events = answer(what, eventStream(ref('RunEvent')), runIdHeader)
  return startOperation('stream', 'events as they come', kind, parts, events)
}

function startOperation(
  verb: string,
  what: string,
  kind: Kind,
  parts: DocumentParts,
  content: Schema,
): Operation {
  return operation('run', `${verb}${title(kind)}`, `Run ${withArticle(kind)} and get its ${what}`, {
    parameters: runParameters(kind, parts),
    requestBody: runBody(parts),
    responses: { 200: content, 202: answer('The run has begun', json(ref('RunRecord')), runIdHeader) },
    problems: parts.hasUploads ? UPLOAD_PROBLEMS : RUN_PROBLEMS,
    ...keyed(parts.security),
  })
}

function correctionOperations(parts: DocumentParts): Row {
  const name = nameParameter('agent', parts)
  const example = { originalValue: 'Oslo', correctedValue: 'Bergen', field: 'city' }
  return [
    'agents/{name}/corrections',
    {
      post: operation('run', 'addCorrection', 'Keep a correction of the output of an agent', {
        parameters: [name],
        requestBody: { required: true, content: json(ref('CorrectionBody'), example) },
        responses: { 201: answer('It is kept', json(ref('Correction'))) },
        problems: [400, 401, 403, 404, 413, 415, 429, 503],
      }),
      get: operation('run', 'listCorrections', 'List corrections, newest first', {
        parameters: [name, ...pageParameters()],
        responses: { 200: answer(PAGE, json(ref('CorrectionPage'))) },
        problems: [400, 401, 404, 503],
      }),
    },
  ]
}

const pageParameters = (): readonly Schema[] => [
  parameter('query', 'limit', 'Most entries of the page', {
    type: 'integer',
    minimum: 1,
    maximum: 100,
    default: 50,
  }),
  parameter('query', 'cursor', 'From the page before'),
]

/** One request looks at so many runs and no more, whatever it asks for. */
const PAGE = 'A page. It may be short or empty: while it has a `nextCursor` there may be more'

function followedOperations(): readonly Row[] {
  const runId = parameter('path', 'id', 'Id of the run', { type: 'string', format: 'uuid' })
  const record = answer('The record', json(ref('RunRecord')), runIdHeader)
  return [
    [
      'runs',
      {
        get: operation('runs', 'listRuns', 'List the stored runs of the caller, newest first', {
          parameters: [
            parameter('query', 'kind', 'Runs of this kind', { type: 'string', enum: [...KINDS] }),
            parameter('query', 'name', 'Runs of this name'),
            parameter('query', 'sessionId', 'Runs of this session'),
            parameter('query', 'status', 'Runs with this status'),
            ...pageParameters(),
          ],
          responses: { 200: answer(PAGE, json(ref('RunPage'))) },
          problems: [400, 401, 404, 503],
        }),
      },
    ],
    [
      'runs/{id}',
      {
        get: operation('runs', 'getRun', 'Get the record of a stored run', {
          parameters: [runId],
          responses: { 200: record },
          problems: [401, 404, 503],
        }),
      },
    ],
    [
      'runs/{id}/stream',
      {
        get: operation('runs', 'followRun', 'Read the events of a stored run, from any one on', {
          parameters: [
            runId,
            parameter('header', 'Last-Event-ID', 'Begin after this event', { type: 'integer' }),
            parameter('query', 'after', 'The same', { type: 'integer', minimum: 0 }),
          ],
          responses: { 200: answer('Server-sent events', eventStream(ref('RunEvent')), runIdHeader) },
          problems: [400, 401, 404, 429, 503],
        }),
      },
    ],
    [
      'runs/{id}/cancel',
      {
        post: operation('runs', 'cancelRun', 'Cancel a stored run', {
          parameters: [runId],
          responses: { 200: record },
          problems: [401, 403, 404, 409, 503],
        }),
      },
    ],
  ]
}

function listOf(path: string, operationId: string, summary: string, schema: Schema): Row {
  const responses = { 200: answer(summary, json(schema)) }
  return [path, { get: operation('discovery', operationId, summary, { responses, problems: [401] }) }]
}

const arrayOf = (name: string): Schema => ({ type: 'array', items: ref(name) })

const listOperations = (): readonly Row[] => [
  listOf('agents', 'listAgents', 'All agents', arrayOf('AgentSummary')),
  listOf('teams', 'listTeams', 'All teams', arrayOf('TeamSummary')),
  listOf('workflows', 'listWorkflows', 'All workflows', arrayOf('WorkflowSummary')),
  listOf('registry', 'listNames', 'All names', ref('RegistryNames')),
]

const toolOperations = (): readonly Row[] => [
  listOf('tools', 'listTools', 'All tools', arrayOf('ToolSummary')),
  [
    'tools/{name}',
    {
      get: operation('discovery', 'getTool', 'Get one tool', {
        parameters: [parameter('path', 'name', 'Name of the tool')],
        responses: { 200: answer('The tool', json(ref('ToolDetail'))) },
        problems: [401, 404],
      }),
    },
  ],
]

const metricsOperations = (): readonly Row[] => [
  [
    'metrics',
    {
      get: operation('metrics', 'scrapeMetrics', 'Metrics as a scraper reads them', {
        responses: {
          200: answer('Prometheus text, or OpenMetrics', {
            'text/plain': { schema: { type: 'string' } },
            'application/openmetrics-text': { schema: { type: 'string' } },
          }),
        },
        problems: [401],
      }),
    },
  ],
  [
    'metrics/json',
    {
      get: operation('metrics', 'getMetrics', 'Metrics as JSON, of all or of one agent', {
        parameters: [parameter('query', 'agent', 'Name of an agent')],
        responses: { 200: answer('The metrics', json({ oneOf: [ref('Metrics'), ref('AgentMetrics')] })) },
        problems: [401, 404],
      }),
    },
  ],
  [
    'metrics/stream',
    {
      get: operation('metrics', 'watchMetrics', 'What happens, as it happens', {
        responses: {
          200: answer('Server-sent events: each `data` is one of these', eventStream(ref('MetricsEvent'))),
        },
        problems: [401, 429],
      }),
    },
  ],
]

function indexOperation(): Row {
  const responses = { 200: answer('Links by what they lead to', json(ref('Index'))) }
  return [
    '',
    { get: operation('operation', 'getIndex', 'What is mounted, and where', { responses, problems: [401] }) },
  ]
}

function healthOperation(): Row {
  const versions = 'Tell versions too: for identities with the scope `admin`'
  const content = json(ref('Health'))
  return [
    'health',
    {
      get: operation('operation', 'getHealth', 'Whether requests can be served', {
        parameters: [parameter('query', 'versions', versions)],
        responses: { 200: answer('They can', content), 503: answer('They cannot', content) },
        problems: [401, 403, 429],
      }),
    },
  ]
}

function specOperation(path: string): Row {
  const responses = { 200: answer('OpenAPI 3.0.3', json({ type: 'object' })) }
  return [path, { get: operation('operation', 'getSpec', 'This document', { responses, problems: [401] }) }]
}
