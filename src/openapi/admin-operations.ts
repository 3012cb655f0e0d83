/**
 * The admin routes, as the document tells of them.
 *
 * @module
 */

import {
  answer,
  json,
  type Operation,
  type OperationParts,
  operation,
  parameter,
  type Row,
} from './operation.ts'
import { ref, type Schema } from './schemas.ts'

const example = { name: 'weather', transport: 'http', url: 'https://tools.example.com/mcp' }

/** The operations by path, below the prefix. */
export function adminOperations(): readonly Row[] {
  const id = parameter('path', 'id', 'Id of the tool server', { type: 'string', format: 'uuid' })
  const runId = parameter(
    'path',
    'id',
    'What the log has as `runId` or `taskId`: all of an id, or its beginning',
  )
  const toolkitId = parameter('path', 'id', 'Id of the toolkit')
  const server = json(ref('ToolServer'))
  const listOf = (name: string) => json({ type: 'array', items: ref(name) })
  const onServer = (operationId: string, summary: string) =>
    act(operationId, summary, server, { parameters: [id] })
  return [
    [
      'admin/mcp',
      {
        get: act('listToolServers', 'List tool servers', listOf('ToolServer')),
        post: operation('admin', 'addToolServer', 'Add a tool server (MCP) and connect it', {
          requestBody: { required: true, content: json(ref('ToolServerBody'), example) },
          responses: { 201: answer('It is kept', server) },
          problems: [400, 401, 403, 404, 409, 413, 415],
        }),
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
        get: act('listToolServerTools', 'List the tools of a tool server', listOf('ServerTool'), {
          parameters: [id],
        }),
      },
    ],
    [
      'admin/runs/{id}',
      {
        get: act('findRuns', 'Find a run or task by the id that stands in the log', json(ref('FoundRuns')), {
          parameters: [runId],
        }),
      },
    ],
    [
      'admin/toolkits',
      { get: act('listToolkits', 'List toolkits', listOf('Toolkit'), { problems: [401, 403] }) },
    ],
    [
      'admin/toolkits/{id}',
      {
        get: act('getToolkit', 'Read a toolkit and its tools', json(ref('ToolkitDetail')), {
          parameters: [toolkitId],
        }),
      },
    ],
  ]
}

function act(
  operationId: string,
  summary: string,
  content: Schema,
  how: Partial<OperationParts> = {},
): Operation {
  const responses = { 200: answer('Done', content) }
  return operation('admin', operationId, summary, { responses, problems: [401, 403, 404], ...how })
}
