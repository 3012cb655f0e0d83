/**
 * The admin routes, as the document tells of them.
 *
 * @module
 */

import { answer, json, type Operation, type Operations, parameter, problems } from './operation.ts'
import { ref, type Schema } from './schemas.ts'

/** The name of the security scheme of these operations. */
export const ADMIN_SCHEME = 'admin_token'

/** What `admin.authenticate` asks for is its own affair; a bearer token is what it asks for as a rule. */
export const adminScheme: Schema = {
  type: 'http',
  scheme: 'bearer',
  description: 'Token of an administrator',
}

const id = parameter('path', 'id', 'Id of the tool server', { type: 'string', format: 'uuid' })
const toolkitId = parameter('path', 'id', 'Id of the toolkit')
const server = json(ref('ToolServer'))
const tags = ['admin']
const security = [{ [ADMIN_SCHEME]: [] }]

const listOf = (name: string): Schema => json({ type: 'array', items: ref(name) })

const example = { name: 'weather', transport: 'http', url: 'https://tools.example.com/mcp' }

function operation(
  operationId: string,
  summary: string,
  content: Schema,
  how: { readonly parameters?: readonly Schema[]; readonly problems?: readonly number[] } = {},
): Operation {
  return {
    operationId,
    summary,
    tags,
    ...(how.parameters && { parameters: how.parameters }),
    responses: { 200: answer('Done', content), ...problems(401, 403, ...(how.problems ?? [])) },
    security,
  }
}

const onServer = (operationId: string, summary: string): Operation =>
  operation(operationId, summary, server, { parameters: [id], problems: [404] })

/** The operations by path, below the prefix. */
export const adminOperations: readonly (readonly [path: string, operations: Operations])[] = [
  [
    'admin/mcp',
    {
      get: operation('listToolServers', 'List tool servers', listOf('ToolServer'), { problems: [404] }),
      post: {
        operationId: 'addToolServer',
        summary: 'Add a tool server (MCP) and connect it',
        tags,
        requestBody: { required: true, content: json(ref('ToolServerBody'), example) },
        responses: { 201: answer('It is kept', server), ...problems(400, 401, 403, 404, 409, 413, 415) },
        security,
      },
    },
  ],
  [
    'admin/mcp/{id}',
    {
      get: onServer('getToolServer', 'Read a tool server'),
      delete: onServer('removeToolServer', 'Disconnect a tool server and forget it'),
    },
  ],
  [
    'admin/mcp/{id}/connect',
    { post: onServer('connectToolServer', 'Connect a tool server, again if it is') },
  ],
  ['admin/mcp/{id}/disconnect', { post: onServer('disconnectToolServer', 'Disconnect a tool server') }],
  [
    'admin/mcp/{id}/tools',
    {
      get: operation('listToolServerTools', 'List the tools of a tool server', listOf('ServerTool'), {
        parameters: [id],
        problems: [404],
      }),
    },
  ],
  ['admin/toolkits', { get: operation('listToolkits', 'List toolkits', listOf('Toolkit')) }],
  [
    'admin/toolkits/{id}',
    {
      get: operation('getToolkit', 'Read a toolkit and its tools', json(ref('ToolkitDetail')), {
        parameters: [toolkitId],
        problems: [404],
      }),
    },
  ],
]
