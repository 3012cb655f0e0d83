/**
 * The part of the OpenAPI document for A2A: cards, JSON-RPC, and the HTTP+JSON binding of 1.0. For the shapes of requests
 * and answers it refers to the A2A specification. The binding of 0.3 below `v1` is left out.
 *
 * @module
 */

import type { Kind } from '../../agents/contract.ts'
import type { Builders, Description, Operation, Paths, Schema, Secured } from '../../core/builders.ts'
import { joinPath } from '../../http/router.ts'
import { PART_SCHEMES } from '../../http/security/security-scheme.ts'
import { KIND_PATHS } from './cards/skills.ts'
import type { A2ASettings } from './options.ts'

/** One base path, with the suffix of operation ids, the owner in summaries, and the common parameters. */
interface Mount {
  readonly base: string
  readonly suffix: string
  readonly whose: string
  readonly parameters: readonly Schema[]
}

const SUFFIXES: Readonly<Record<Kind, string>> = {
  agent: 'OfAgent',
  team: 'OfTeam',
  workflow: 'OfWorkflow',
}

/** Describes the operations of all at `basePath`, and those of each servable and tenant below it. */
export function describeA2A(
  {
    basePath,
    push,
    extendedCard,
    tenants,
  }: Pick<A2ASettings, 'basePath' | 'push' | 'extendedCard' | 'tenants'>,
  build: Builders,
): Description {
  const all: Mount = { base: joinPath(basePath), suffix: '', whose: 'the agents', parameters: [] }
  const each = KIND_PATHS.map(([kind, segment]): Mount => {
    const parameters = [build.nameOf(kind)]
    const base = joinPath(basePath, segment, '{name}')
    return { base, suffix: SUFFIXES[kind], whose: `one ${kind}`, parameters }
  })
  const tenant: Mount = {
    base: joinPath(basePath, '{tenant}'),
    suffix: 'OfTenant',
    whose: 'a tenant',
    parameters: [build.parameter('path', 'tenant', 'Name of the tenant')],
  }
  const hasRpc = all.base !== '/'
  const ofTenants = (): Paths => ({
    // Unlike the other cards, this one is not open to everyone.
    [joinPath(tenant.base, CARD)]: { get: card('getAgentCard', tenant, build, {}) },
    ...(hasRpc && { [tenant.base]: { post: jsonRpc(tenant, build) } }),
    ...binding(tenant),
  })
  // A challenge begins with the name of its authentication scheme (RFC 9110, section 11.6.1).
  const scheme = extendedCard?.challenge?.split(' ', 1)[0]?.toLowerCase()
  const what = 'Token that may read the extended card (`a2a.extendedCard.authenticate`)'
  const token = extendedCard && build.token(PART_SCHEMES.card, what, scheme)
  const binding = (mount: Mount) => bindingOf(mount, push !== undefined, token, build)
  return {
    paths: {
      [joinPath(CARD)]: { get: card('getAgentCard', all, build) },
      '/.well-known/agent.json': { get: card('getAgentCardByOldName', all, build) },
      [all.base]: { post: jsonRpc(all, build) },
      ...binding(all),
      ...Object.assign(
        {},
        ...each.map(mount => ({
          [joinPath(mount.base, CARD)]: { get: card('getAgentCard', mount, build) },
          [mount.base]: { post: jsonRpc(mount, build) },
          ...binding(mount),
        })),
      ),
      ...(tenants && ofTenants()),
    },
    securitySchemes: token?.securitySchemes ?? {},
  }
}

const object: Schema = { type: 'object' }

const CARD = '.well-known/agent-card.json'

/** The schema of an object that the A2A specification defines. Its members are not repeated here. */
const ofA2A = ({ json }: Builders, what: string, example?: unknown) =>
  json({ ...object, description: `${what} of the A2A specification` }, example)

function card(
  id: string,
  { suffix, whose, parameters }: Mount,
  build: Builders,
  secured: Secured = build.open,
): Operation {
  const summary = `The A2A card of ${whose}`
  return build.operation('discovery', id + suffix, summary, {
    parameters,
    responses: { 200: build.answer('The card', ofA2A(build, 'AgentCard')) },
    problems: [400, 404],
    ...secured,
  })
}

function jsonRpc({ suffix, parameters }: Mount, build: Builders): Operation {
  const { operation, answer, json, eventStream } = build
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
      401: orProblem('The credentials are missing, or may not read the extended card', object, build),
    },
  })
}

/** An A2A answer, or the problem details that the HTTP layer sends before A2A handles the request. */
const orProblem = (what: string, schema: Schema, { answer, json, ref }: Builders) =>
  answer(what, { ...json(schema), 'application/problem+json': { schema: ref('Problem') } })

/** Makes an operation of the binding, with its own parameters, the common ones, and its body. */
type MakeOperation = (
  id: string,
  summary: string,
  content: Schema,
  own?: readonly Schema[],
  body?: Schema,
) => Operation

/** The HTTP+JSON binding (section 11 of A2A 1.0). */
function bindingOf(
  { base, suffix, parameters }: Mount,
  hasPush: boolean,
  token: Required<Secured> | undefined,
  build: Builders,
): Paths {
  const { operation, answer, eventStream, parameter } = build
  // The binding sends errors as a Google RPC status.
  const status = { ...object, properties: { error: object }, required: ['error'] }
  const failure = orProblem('An A2A error, or problem details', status, build)
  const failures = Object.fromEntries(
    [400, 401, 404, 413, 415, 422, 429, 500, 502, 503, 504].map(code => [code, failure]),
  )
  const at = (path: string) => joinPath(base, path)
  const of = (what: string) => ofA2A(build, what)
  const act: MakeOperation = (id, summary, content, own = [], body) =>
    operation('run', id + suffix, summary, {
      parameters: [...parameters, ...own],
      ...(body && { requestBody: { required: true, content: body } }),
      responses: { 200: answer(summary, content), ...failures },
    })
  const message = { messageId: 'message-1', role: 'ROLE_USER', parts: [{ text: 'Hello' }] }
  const sent = ofA2A(build, 'SendMessageRequest', { message })
  const events = eventStream({ ...object, description: 'StreamResponse of the A2A specification' })
  const page = [
    parameter('query', 'contextId', 'Tasks of this context'),
    parameter('query', 'pageSize', 'Maximum page size', { type: 'integer', minimum: 1, maximum: 100 }),
    parameter('query', 'pageToken', 'Token from the previous page'),
  ]
  const id = [parameter('path', 'id', 'Id of the task')]
  const extended = act('getExtendedAgentCard', 'The extended card', of('AgentCard'))
  return {
    [at('message:send')]: {
      post: act('sendMessage', 'Send a message to an agent', of('SendMessageResponse'), [], sent),
    },
    [at('message:stream')]: {
      post: act('streamMessage', 'Send a message and get updates', events, [], sent),
    },
    [at('tasks')]: { get: act('listTasks', 'List tasks', of('ListTasksResponse'), page) },
    [at('tasks/{id}')]: { get: act('getTask', 'Get a task', of('Task'), id) },
    [at('tasks/{id}:cancel')]: { post: act('cancelTask', 'Cancel a task', of('Task'), id) },
    [at('tasks/{id}:subscribe')]: {
      get: act('subscribeToTask', 'Get the updates of a task', events, id),
      post: act('subscribeToTaskByPost', 'Get the updates of a task', events, id),
    },
    ...(token && { [at('extendedAgentCard')]: { get: { ...extended, security: token.security } } }),
    ...(hasPush && pushPaths(at('tasks/{id}/pushNotificationConfigs'), act, id, build)),
  }
}

/** The paths of the push notification configs of a task (section 3.1.7 of A2A 1.0 and the following ones). */
function pushPaths(path: string, act: MakeOperation, id: readonly Schema[], build: Builders): Paths {
  const config = ofA2A(build, 'TaskPushNotificationConfig')
  const list = ofA2A(build, 'ListTaskPushNotificationConfigsResponse')
  const one = [...id, build.parameter('path', 'config', 'Id of the config')]
  return {
    [path]: {
      get: act('listPushConfigs', 'List the push notification configs of a task', list, id),
      post: act('setPushConfig', 'Add a push notification config', config, id, config),
    },
    [`${path}/{config}`]: {
      get: act('getPushConfig', 'Get a push notification config', config, one),
      delete: act('deletePushConfig', 'Delete a push notification config', build.json(object), one),
    },
  }
}
