/**
 * Builders of operations and schemas in the document.
 *
 * @module
 */

import type {
  Builders,
  Operation,
  OperationParts,
  Paths,
  Schema,
  SchemaBuilders,
  SchemaFields,
} from '../../core/builders.ts'
import type { Catalog } from '../../http/catalog.ts'
import { type Findable, joinPath } from '../../http/router.ts'
import { type DocumentSecurity, open } from './security.ts'

/** What the builders depend on. */
export interface BuilderParts {
  /** The prefix of the paths in the document. */
  readonly prefix: string
  readonly catalog: Catalog
  readonly security: DocumentSecurity
}

const STATUS_TEXTS: Readonly<Record<number, string>> = {
  400: 'The request is invalid',
  401: 'Authentication is required',
  403: 'The caller may not do this',
  404: 'Not found',
  408: 'The upload was too slow',
  409: 'The run has ended, or was answered before',
  413: 'The body is too large',
  415: 'The content type is not accepted',
  422: 'The idempotency key was used with another body, or a guard refuses',
  429: 'Too many requests',
  500: 'The agent failed',
  502: 'The model provider failed',
  503: 'The state cannot be reached',
  504: 'The run took too long',
}

/** Most names that an enumeration lists. A longer list does not help a reader. */
const MAX_NAMES = 200

/** The description of a page. One request reads a bounded number of runs, so a page may be short. */
const PAGE = 'A page. It may be short or empty: while it has a `nextCursor` there may be more'

/** The description of a page that clients may watch. */
const LIVE_PAGE = `${PAGE}. With \`Accept: text/event-stream\`: what there is, then what changes`

const text: Schema = { type: 'string' }

const schemaBuilders: SchemaBuilders = {
  ref: name => ({ $ref: `#/components/schemas/${name}` }),
  object,
  list: items => ({ type: 'array', items }),
  named: values => ({ type: 'object', additionalProperties: values }),
  choice: (...values) => ({ type: 'string', enum: values }),
  event: (type, fields) => object({ type: { type: 'string', enum: [type] }, ...fields }),
  text,
  maybeText: { type: 'string', nullable: true },
  flag: { type: 'boolean' },
  count: { type: 'integer', minimum: 0 },
  amount: { type: 'number', minimum: 0 },
  moment: { type: 'string', format: 'date-time' },
  searchTerm: { type: 'string', minLength: 1, maxLength: 200 },
}

/** Makes the builders of a document. */
export function createBuilders({ prefix, catalog, security }: BuilderParts): Builders {
  return {
    ...schemaBuilders,
    prefix,
    open: open(security),
    at: path => joinPath(prefix, path),
    operation,
    answer,
    json,
    eventStream,
    parameter,
    nameOf(kind) {
      const names = catalog.entries(kind).map(({ name }) => name)
      const isShort = names.length > 0 && names.length <= MAX_NAMES
      return parameter('path', 'name', `Name of the ${kind}`, { ...text, ...(isShort && { enum: names }) })
    },
    read: (operationId, summary, schema) =>
      operation('discovery', operationId, summary, {
        responses: { 200: answer(summary, json(schema)) },
        problems: [401],
      }),
    page: (tag, operationId, summary, name, own, event) =>
      operation(tag, operationId, summary, {
        parameters: [...own, ...pageParameters()],
        responses: {
          200: answer(event === undefined ? PAGE : LIVE_PAGE, {
            ...json(schemaBuilders.ref(name)),
            ...(event !== undefined && eventStream(schemaBuilders.ref(event))),
          }),
        },
        problems: [
          ...[400, 401, ...(tag === 'admin' ? [403] : []), 404],
          ...(event === undefined ? [] : [429]),
          503,
        ],
      }),
    routes,
    token: (name, description, scheme = 'bearer') => ({
      security: [{ [name]: [] }],
      securitySchemes: { [name]: { type: 'http', scheme, description } },
    }),
  }
}

function object(fields: SchemaFields, description?: string): Schema {
  const names = Object.keys(fields)
  const required = names.filter(name => !name.endsWith('?'))
  return {
    type: 'object',
    ...(description !== undefined && { description }),
    properties: Object.fromEntries(names.map(name => [name.replace(/\?$/, ''), fields[name]])),
    ...(required.length > 0 && { required }),
  }
}

function operation(
  tag: string,
  operationId: string,
  summary: string,
  { responses, problems: statuses = [], ...parts }: OperationParts,
): Operation {
  return {
    operationId,
    summary,
    tags: [tag],
    ...parts,
    responses: { ...responses, ...problems(statuses) },
  }
}

function routes(all: readonly Findable[], protocol: string): { readonly paths: Paths } {
  const paths: Record<string, Record<string, Operation>> = {}
  for (const { method, path } of all) {
    const shown = path.replace(/:(\w+)/g, '{$1}')
    const verb = method.toLowerCase()
    paths[shown] ??= {}
    paths[shown][verb] = operation('run', verb + shown.replace(/\W+/g, '_'), `${method} ${path}`, {
      parameters: (path.match(/:\w+/g) ?? []).map(name => parameter('path', name.slice(1), name)),
      responses: { default: answer(protocol, json({})) },
    })
  }
  return { paths }
}

function answer(description: string, content: Schema, headers?: Schema): Schema {
  return { description, content, ...(headers && { headers }) }
}

function json(schema: Schema, example?: unknown): Schema {
  return { 'application/json': { schema, ...(example !== undefined && { example }) } }
}

function eventStream(schema: Schema): Schema {
  return { 'text/event-stream': { schema } }
}

function parameter(where: string, name: string, description: string, schema: Schema = text): Schema {
  return { in: where, name, description, schema, ...(where === 'path' && { required: true }) }
}

const pageParameters = (): readonly Schema[] => [
  parameter('query', 'limit', 'Maximum page size', {
    type: 'integer',
    minimum: 1,
    maximum: 100,
    default: 50,
  }),
  parameter('query', 'cursor', '`nextCursor` of the previous page'),
]

/** The problem answers of an operation, by status. */
function problems(statuses: readonly number[]): Record<string, Schema> {
  const schema = schemaBuilders.ref('Problem')
  return Object.fromEntries(
    statuses.map(status => [
      String(status),
      answer(STATUS_TEXTS[status] ?? 'A problem', { 'application/problem+json': { schema } }),
    ]),
  )
}
