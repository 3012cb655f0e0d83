/**
 * The operations of A2A: cards, JSON-RPC, and the HTTP+JSON binding of 1.0. Requests and answers are those of the
 * A2A specification; the binding of 0.3 stands below `v1` and is not told of.
 *
 * @module
 */

import { joinPath } from '../http/router.ts'
import { answer, eventStream, json, type Operation, operation, parameter, type Row } from './operation.ts'
import { ref, type Schema } from './schemas.ts'
import { type Secured, secured } from './security.ts'

/** What of A2A is served. */
export interface A2AParts {
  readonly path: string
  readonly hasPush: boolean
  readonly hasExtendedCard: boolean
}

/** What reading cards demands. */
export interface CardDemands {
  readonly card: Secured
  readonly extendedCard: Secured
}

/** Whose operations they are, and how their ids end. */
interface Place {
  readonly base: string
  readonly suffix: string
  readonly parameters: readonly Schema[]
  readonly demands: CardDemands
}

const object: Schema = { type: 'object' }

/** What A2A answers: nothing of it is repeated here. */
const ofA2A = (what: string): Schema => ({ ...object, description: `${what} of the A2A specification` })

/** The operations of all agents together at `path`, and of each agent below. */
export function a2aOperations(parts: A2AParts, agent: Schema, demands: CardDemands): Row[] {
  const { path } = parts
  const all: Place = { base: path, suffix: '', parameters: [], demands }
  const each: Place = {
    base: joinPath(path, 'agents/{name}'),
    suffix: 'OfAgent',
    parameters: [agent],
    demands,
  }
  return [
    ['/.well-known/agent-card.json', { get: card('getAgentCard', all) }],
    ['/.well-known/agent.json', { get: card('getAgentCardByOldName', all) }],
    [joinPath(each.base, '.well-known/agent-card.json'), { get: card('getAgentCard', each) }],
    [path, { post: jsonRpc(all) }],
    [each.base, { post: jsonRpc(each) }],
    ...restOperations(all, parts),
    ...restOperations(each, parts),
  ]
}

function card(id: string, { suffix, parameters, demands }: Place): Operation {
  const summary = suffix === '' ? 'The A2A card of the agents' : 'The A2A card of one agent'
  return operation('discovery', `${id}${suffix}`, summary, {
    parameters,
    responses: { 200: answer('The card', json(ofA2A('AgentCard'))) },
    problems: [400, 404],
    ...demands.card,
  })
}

function jsonRpc({ suffix, parameters }: Place): Operation {
  const example = { jsonrpc: '2.0', id: 1, method: 'tasks/get', params: { id: 'unknown' } }
  return operation('run', `callA2A${suffix}`, 'JSON-RPC 2.0 endpoint of A2A', {
    parameters,
    requestBody: { required: true, content: json(object, example) },
    responses: {
      200: answer('The answer, or server-sent events of answers', {
        ...json(object),
        ...eventStream(object),
      }),
      204: { description: 'A notification gets no answer' },
      401: answer('Nobody is identified, or nobody who may read the extended card', {
        ...json(object),
        'application/problem+json': { schema: ref('Problem') },
      }),
    },
  })
}

const taskId = parameter('path', 'id', 'Id of the task')

const message = {
  message: { messageId: 'message-1', role: 'ROLE_USER', parts: [{ text: 'Hello' }] },
}

/** Makes an operation of the binding: its parameters beside those of all, and its body. */
type Act = (id: string, summary: string, own: readonly Schema[], content: Schema, body?: Schema) => Operation

/** The HTTP+JSON binding (section 11 of A2A 1.0). */
function restOperations(place: Place, { hasPush, hasExtendedCard }: A2AParts): Row[] {
  const { base, suffix, parameters, demands } = place
  const at = (path: string) => joinPath(base, path)
  const act: Act = (id, summary, own, content, body) =>
    operation('run', `${id}${suffix}`, summary, {
      parameters: [...parameters, ...own],
      ...(body !== undefined && { requestBody: { required: true, content: body } }),
      responses: { 200: answer(summary, content), ...failures() },
    })
  const body = json(ofA2A('SendMessageRequest'), message)
  const events = eventStream(ofA2A('StreamResponse'))
  const task = json(ofA2A('Task'))
  const page = [
    parameter('query', 'contextId', 'Tasks of this context'),
    parameter('query', 'pageSize', 'Most tasks of the page', { type: 'integer', minimum: 1, maximum: 100 }),
    parameter('query', 'pageToken', 'From the page before'),
  ]
  return [
    [
      at('message:send'),
      {
        post: act('sendMessage', 'Send a message to an agent', [], json(ofA2A('SendMessageResponse')), body),
      },
    ],
    [
      at('message:stream'),
      { post: act('streamMessage', 'Send a message and get updates', [], events, body) },
    ],
    [at('tasks'), { get: act('listTasks', 'List tasks', page, json(ofA2A('ListTasksResponse'))) }],
    [at('tasks/{id}'), { get: act('getTask', 'Get a task', [taskId], task) }],
    [at('tasks/{id}:cancel'), { post: act('cancelTask', 'Cancel a task', [taskId], task) }],
    [
      at('tasks/{id}:subscribe'),
      {
        get: act('subscribeToTask', 'Get the updates of a task', [taskId], events),
        post: act('subscribeToTaskByPost', 'Get the updates of a task', [taskId], events),
      },
    ],
    ...(hasExtendedCard
      ? secured(
          [
            [
              at('extendedAgentCard'),
              { get: act('getExtendedAgentCard', 'The extended card', [], json(ofA2A('AgentCard'))) },
            ],
          ],
          demands.extendedCard,
        )
      : []),
    ...(hasPush ? pushOperations(at('tasks/{id}/pushNotificationConfigs'), act) : []),
  ]
}

/** Where clients hear of a task (section 3.1.7 of A2A 1.0 and the next ones). */
function pushOperations(path: string, act: Act): Row[] {
  const config = ofA2A('TaskPushNotificationConfig')
  const list = ofA2A('ListTaskPushNotificationConfigsResponse')
  const own = [taskId, parameter('path', 'config', 'Id of the config')]
  return [
    [
      path,
      {
        get: act('listPushConfigs', 'Where clients hear of a task', [taskId], json(list)),
        post: act('setPushConfig', 'Hear of a task', [taskId], json(config), json(config)),
      },
    ],
    [
      `${path}/{config}`,
      {
        get: act('getPushConfig', 'One place where a client hears of a task', own, json(config)),
        delete: act('deletePushConfig', 'Hear of a task no more', own, json(object)),
      },
    ],
  ]
}

/** Errors of the binding are a Google RPC status; what comes before it answers with problem details, as elsewhere. */
const failures = (): Readonly<Record<string, Schema>> =>
  Object.fromEntries(
    [400, 401, 404, 413, 415, 422, 429, 500, 502, 503, 504].map(status => [
      String(status),
      answer('An error of A2A, or a problem', {
        ...json({ type: 'object', properties: { error: object }, required: ['error'] }),
        'application/problem+json': { schema: ref('Problem') },
      }),
    ]),
  )
