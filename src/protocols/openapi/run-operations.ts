/**
 * The core's operations on runs: starting runs, and reading stored runs.
 *
 * @module
 */

import type { Kind } from '../../agents/contract.ts'
import { KINDS } from '../../agents/registry.ts'
import type { Builders, Description, Operation, Paths, Schema } from '../../core/builders.ts'
import { AgainBodySchema, RetryBodySchema } from '../../http/routes/again-routes.ts'
import { ContentPartSchema, RunBodySchema } from '../../runs/input.ts'
import { MAX_EVENTS } from '../../runs/stored/log-page.ts'
import { FEEDBACK_FILTERS } from '../../runs/stored/query.ts'
import { AnswerSchema, AnswersBodySchema } from '../../runs/waiting/answers.ts'
import { runSchemas } from './schemas.ts'
import { type DocumentSecurity, keyed, securitySchemes } from './security.ts'

/** What the operations depend on. */
export interface RunParts {
  readonly hasUploads: boolean
  readonly security: DocumentSecurity
}

/** Describes the operations on runs. */
export function describeRuns(build: Builders, parts: RunParts): Description {
  const { at } = build
  const started = KINDS.flatMap(kind => [
    [at(`${kind}s/{name}/run`), { post: runOperation(kind, build, parts) }],
    [at(`${kind}s/{name}/stream`), { post: streamOperation(kind, build, parts) }],
  ])
  return {
    tags: [
      { name: 'run', description: 'Run agents, teams and workflows' },
      { name: 'runs', description: 'Stored runs, read again' },
    ],
    paths: { ...Object.fromEntries(started), ...storedRunPaths(build, parts) },
    bodies: {
      ContentPart: ContentPartSchema,
      RunBody: RunBodySchema,
      Answer: AnswerSchema,
      AnswersBody: AnswersBodySchema,
      AgainBody: AgainBodySchema,
      RetryBody: RetryBodySchema,
    },
    schemas: runSchemas(build),
    securitySchemes: securitySchemes(parts.security),
  }
}

const runIdHeader: Schema = { 'x-run-id': { description: 'Id of the run', schema: { type: 'string' } } }

const RUN_PROBLEMS = [400, 401, 403, 404, 413, 415, 422, 429, 500, 502, 503, 504] as const
const GOING_ON_PROBLEMS = [400, 401, 403, 404, 409, 413, 415, 422, 429, 500, 502, 503, 504] as const
const UPLOAD_PROBLEMS = [...RUN_PROBLEMS, 408] as const

const title = (kind: Kind) => `${kind[0]?.toUpperCase()}${kind.slice(1)}`

const withArticle = (kind: Kind) => (kind === 'agent' ? 'an agent' : `a ${kind}`)

function runOperation(kind: Kind, build: Builders, parts: RunParts): Operation {
  const { answer, json, ref } = build
  const result = answer('The result', json(ref('RunResult')), runIdHeader)
  return startOperation('run', 'result', kind, build, parts, result)
}

function streamOperation(kind: Kind, build: Builders, parts: RunParts): Operation {
  const { answer, eventStream, ref } = build
  const what = 'Server-sent events: each `data` is one of these'
  const events = answer(what, eventStream(ref('RunEvent')), runIdHeader)
  return startOperation('stream', 'events as they come', kind, build, parts, events)
}

function startOperation(
  verb: string,
  what: string,
  kind: Kind,
  build: Builders,
  { hasUploads, security }: RunParts,
  content: Schema,
): Operation {
  const { operation, answer, json, ref } = build
  return operation('run', `${verb}${title(kind)}`, `Run ${withArticle(kind)} and get its ${what}`, {
    parameters: runParameters(kind, build),
    requestBody: runBody(build, hasUploads),
    responses: {
      200: content,
      202: answer(
        'The run has begun, or its message reaches the run at work',
        json({ oneOf: [ref('RunRecord'), ref('SteeredRun')] }),
        runIdHeader,
      ),
    },
    problems: hasUploads ? UPLOAD_PROBLEMS : RUN_PROBLEMS,
    ...keyed(security),
  })
}

const runParameters = (kind: Kind, { nameOf, parameter }: Builders): readonly Schema[] => [
  nameOf(kind),
  parameter('header', 'Idempotency-Key', 'The same key and body give the same run', {
    type: 'string',
    minLength: 1,
    maxLength: 255,
  }),
  prefer({ parameter }),
]

const prefer = ({ parameter }: Pick<Builders, 'parameter'>): Schema =>
  parameter('header', 'Prefer', '`respond-async` answers at once with the record of the run')

function runBody({ json, ref }: Builders, hasUploads: boolean): Schema {
  const content = json(ref('RunBody'), { input: 'Hello' })
  if (!hasUploads) return { required: true, content }
  const form: Schema = {
    type: 'object',
    properties: {
      input: { type: 'string' },
      files: { type: 'array', items: { type: 'string', format: 'binary' } },
      sessionId: { type: 'string' },
      messageId: { type: 'string' },
      replaces: { type: 'string' },
      branchFrom: { type: 'string' },
      ifHead: { type: 'string' },
      userId: { type: 'string' },
      apiKey: { type: 'string' },
      background: { type: 'string', enum: ['true', 'false'] },
      concurrency: { type: 'string', enum: ['queue', 'steer'] },
      history: { type: 'string', description: 'As JSON' },
      clientTools: { type: 'string', description: 'As JSON' },
      memory: { type: 'string', enum: ['client'] },
    },
  }
  return { required: true, content: { ...content, 'multipart/form-data': { schema: form } } }
}

/** The paths of stored runs. It is long because it is a table: one entry for each path. */
function storedRunPaths(build: Builders, { security }: RunParts): Paths {
  const { at, operation, page, parameter, answer, json, eventStream, ref, choice, moment, searchTerm } = build
  const runId = parameter('path', 'id', 'Id of the run', { type: 'string', format: 'uuid' })
  const record = answer('The record', json(ref('RunRecord')), runIdHeader)
  const again = (id: string, summary: string, begun: string, body = 'AgainBody') =>
    operation('runs', id, summary, {
      parameters: [runId, prefer(build)],
      requestBody: { required: false, content: json(ref(body)) },
      responses: {
        200: answer(
          'The result of the other run',
          { ...json(ref('RunResult')), ...eventStream(ref('RunEvent')) },
          runIdHeader,
        ),
        202: answer(begun, json(ref('RunRecord')), runIdHeader),
      },
      problems: GOING_ON_PROBLEMS,
      ...keyed(security),
    })
  return {
    [at('runs')]: {
      get: page(
        'runs',
        'listRuns',
        'List the stored runs of the caller, newest first',
        'RunPage',
        [
          parameter('query', 'kind', 'Runs of this kind', choice(...KINDS)),
          parameter('query', 'name', 'Runs of this name'),
          parameter('query', 'sessionId', 'Runs of this session'),
          parameter('query', 'status', 'Runs with this status'),
          parameter('query', 'waiting', 'Runs that wait for answers', choice('true')),
          parameter('query', 'feedback', 'Runs with this feedback', choice(...FEEDBACK_FILTERS)),
          parameter('query', 'since', 'Runs that began at this time or later', moment),
          parameter('query', 'until', 'Runs that began before this time', moment),
          parameter('query', 'search', 'Runs whose input, output or error contains this', searchTerm),
          parameter('query', 'count', 'Counts the runs of all pages, among the newest 1,000', choice('true')),
          parameter('query', 'owner', 'Runs of this owner, or `*` for all. It needs a role'),
        ],
        'RunListEvent',
      ),
    },
    [at('runs/{id}')]: {
      get: operation('runs', 'getRun', 'Get the record of a stored run', {
        parameters: [
          runId,
          parameter('query', 'include', 'Gives the input as well, if it is kept', choice('input')),
        ],
        responses: { 200: record },
        problems: [400, 401, 404, 503],
      }),
      delete: operation(
        'runs',
        'deleteRun',
        'Delete a stored run that has ended, with its events and files',
        {
          parameters: [runId],
          responses: { 204: { description: 'It is gone' } },
          problems: [401, 403, 404, 409, 503],
        },
      ),
    },
    [at('runs/{id}/stream')]: {
      get: operation('runs', 'followRun', 'Read the events of a stored run, from any event on', {
        parameters: [
          runId,
          parameter('header', 'Last-Event-ID', 'Begin after this event', { type: 'integer' }),
          parameter('query', 'after', 'The same', { type: 'integer', minimum: 0 }),
        ],
        responses: { 200: answer('Server-sent events', eventStream(ref('RunEvent')), runIdHeader) },
        problems: [400, 401, 404, 429, 503],
      }),
    },
    [at('runs/{id}/events')]: {
      get: operation('runs', 'getRunEvents', 'Get a page of the events of a stored run', {
        parameters: [
          runId,
          parameter('query', 'after', 'Begin after this event', { type: 'integer', minimum: 0, default: 0 }),
          parameter('query', 'limit', 'Most events', {
            type: 'integer',
            minimum: 1,
            maximum: MAX_EVENTS,
            default: MAX_EVENTS,
          }),
          parameter('query', 'include', 'Adds what `runs.keepModelCalls` keeps of the calls of models', {
            type: 'string',
            enum: ['model_calls'],
          }),
        ],
        responses: { 200: answer('A page', json(ref('RunEventPage')), runIdHeader) },
        problems: [400, 401, 404, 503],
      }),
    },
    [at('runs/{id}/answers')]: {
      post: operation('runs', 'answerRun', 'Answer what a run waits for', {
        parameters: [runId, prefer(build)],
        requestBody: { required: true, content: json(ref('AnswersBody')) },
        responses: {
          200: answer(
            'The record with the requests that are left; after the last answer, the result of the run that goes on. Others than its owner learn what came of their decision',
            {
              ...json({ oneOf: [ref('RunRecord'), ref('RunResult'), ref('DecidedRun')] }),
              ...eventStream(ref('RunEvent')),
            },
            runIdHeader,
          ),
          202: answer('The run goes on', json(ref('RunRecord')), runIdHeader),
        },
        problems: GOING_ON_PROBLEMS,
        ...keyed(security),
      }),
    },
    [at('runs/{id}/resume')]: {
      post: again('resumeRun', 'Let an interrupted run go on', 'The run goes on'),
    },
    [at('runs/{id}/retry')]: {
      post: again(
        'retryRun',
        'Run the input of a stored run again, with changes or from a step',
        'The run has begun',
        'RetryBody',
      ),
    },
    [at('runs/{id}/cancel')]: {
      post: operation('runs', 'cancelRun', 'Cancel a stored run', {
        parameters: [runId],
        responses: { 200: record },
        problems: [401, 403, 404, 409, 503],
      }),
    },
  }
}
