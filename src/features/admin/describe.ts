import type { Builders, Description, OperationParts, Schema, SchemaBuilders } from '../../core/builders.ts'
import { TOOL_SUMMARY } from '../../http/tool-catalog.ts'

/** Describes the admin routes for the OpenAPI document. */
export function describeAdmin(build: Builders): Description {
  const { at, operation, answer, json, parameter, ref, list, object } = build
  const act = (
    operationId: string,
    summary: string,
    content: Schema,
    parameters?: readonly Schema[],
    more?: Partial<OperationParts>,
  ) =>
    operation('admin', operationId, summary, {
      ...(parameters && { parameters }),
      responses: { 200: answer('Done', json(content)) },
      problems: [401, 403, 404],
      ...more,
    })
  const id = [parameter('path', 'id', 'Id of the tool server', { type: 'string', format: 'uuid' })]
  const runId = '`runId` or `taskId` from the log: the whole id or its beginning'
  const server = ref('ToolServer')
  const example = { name: 'weather', transport: 'http', url: 'https://tools.example.com/mcp' }
  return {
    tags: [{ name: 'admin', description: 'Tool servers and toolkits' }],
    paths: {
      [at('admin/mcp')]: {
        get: act('listToolServers', 'List tool servers', list(server)),
        post: operation('admin', 'addToolServer', 'Add a tool server (MCP) and connect it', {
          requestBody: { required: true, content: json(ref('ToolServerBody'), example) },
          responses: { 201: answer('Added', json(server)) },
          problems: [400, 401, 403, 404, 409, 413, 415],
        }),
      },
      [at('admin/mcp/{id}')]: {
        get: act('getToolServer', 'Read a tool server', server, id),
        delete: act('removeToolServer', 'Disconnect a tool server and forget it', server, id),
      },
      [at('admin/mcp/{id}/connect')]: {
        post: act('connectToolServer', 'Connect or reconnect a tool server', server, id),
      },
      [at('admin/mcp/{id}/disconnect')]: {
        post: act('disconnectToolServer', 'Disconnect a tool server', server, id),
      },
      [at('admin/mcp/{id}/tools')]: {
        get: act('listToolServerTools', 'List the tools of a tool server', list(ref('ServerTool')), id),
      },
      [at('admin/mcp/{id}/sign-in')]: {
        post: act('beginSignIn', 'Begin to sign in to a tool server (OAuth)', ref('SignIn'), id, {
          problems: [400, 401, 403, 404, 502],
        }),
      },
      [at('admin/sign-in')]: {
        get: act(
          'endSignIn',
          'End a sign-in: the provider sends the administrator here',
          server,
          ['state', 'code', 'iss', 'error'].map(name => parameter('query', name, 'As the provider sends it')),
          { problems: [400, 401, 403, 404, 502] },
        ),
      },
      [at('admin/runs/{id}')]: {
        get: act('findRuns', 'Find a run or task by the id that stands in the log', ref('FoundRuns'), [
          parameter('path', 'id', runId),
        ]),
      },
      [at('admin/tools/{id}/call')]: {
        post: act(
          'callTool',
          'Call a tool, without an agent and without an approval',
          ref('ToolCallResult'),
          [parameter('path', 'id', 'Name of a tool, such as `multiply` or `github.search`')],
          {
            requestBody: {
              required: true,
              content: json(object({ 'args?': { description: 'The arguments, as the schema has them' } })),
            },
            problems: [400, 401, 403, 404, 413, 415, 429, 502],
          },
        ),
      },
      [at('admin/toolkits')]: {
        get: act('listToolkits', 'List toolkits', list(ref('Toolkit')), undefined, { problems: [401, 403] }),
      },
      [at('admin/toolkits/{id}')]: {
        get: act('getToolkit', 'Read a toolkit and its tools', ref('ToolkitDetail'), [
          parameter('path', 'id', 'Id of the toolkit'),
        ]),
      },
    },
    schemas: adminSchemas(build),
  }
}

/** The schemas of bodies and answers. */
export function adminSchemas(build: SchemaBuilders): Record<string, Schema> {
  const { ref, object, list, named, choice, text, maybeText, flag, count, moment } = build
  const transport = choice('http', 'sse', 'stdio')
  return {
    ToolSummary: TOOL_SUMMARY,
    ToolServerBody: object({
      name: { type: 'string', pattern: '^[A-Za-z0-9_-]{1,64}$' },
      transport,
      'url?': { ...text, description: 'For `http` and `sse`' },
      'headers?': { ...named(text), description: 'For `http` and `sse`; the values are never shown again' },
      'auth?': {
        ...object({
          type: choice('client_credentials', 'authorization_code'),
          clientId: text,
          'clientSecret?': { ...text, description: 'Never shown again' },
          'scopes?': list(text),
          'issuer?': { ...text, description: 'The provider that counts' },
        }),
        description: 'OAuth, for `http` and `sse`',
      },
      'command?': { ...text, description: 'For `stdio`: one of the allowed programs' },
      'args?': list(text),
      'env?': { ...named(text), description: 'For `stdio`; the values are never shown again' },
      'autoConnect?': flag,
      'needsApproval?': {
        oneOf: [flag, list(text)],
        description: 'Which of its tools need an approval: all, or those of these names',
      },
      'elicitation?': { ...choice('ask', 'refuse'), description: 'Whether its tools may ask questions' },
    }),
    ToolServer: object({
      id: text,
      name: text,
      transport,
      url: maybeText,
      command: maybeText,
      status: choice('disconnected', 'connecting', 'connected', 'error'),
      toolCount: count,
      error: maybeText,
      warnings: list(text),
      needsApproval: { oneOf: [flag, list(text)] },
      elicitation: choice('ask', 'refuse'),
      signIn: {
        type: 'string',
        nullable: true,
        enum: ['needed', 'done', null],
        description: 'Whether an administrator must sign in, or has done so',
      },
      connectedAt: { ...moment, nullable: true },
      createdAt: moment,
    }),
    SignIn: object({ url: text, expiresAt: moment }),
    ServerTool: {
      allOf: [
        ref('ToolSummary'),
        object({
          ...{ server: text, annotations: object({ readOnlyHint: flag, idempotentHint: flag }) },
          ...{ 'pageUri?': text, 'visibility?': list(text) },
        }),
      ],
    },
    Toolkit: object({
      id: text,
      name: text,
      description: maybeText,
      category: maybeText,
      requiresCredentials: flag,
      configFields: list(object({ name: text, description: maybeText, required: flag, secret: flag })),
    }),
    FoundRuns: object({
      runs: list({ allOf: [ref('RunRecord'), object({ owner: maybeText })] }),
      tasks: list(
        object({
          id: text,
          contextId: text,
          agent: text,
          owner: maybeText,
          status: object({ state: text, timestamp: moment }),
        }),
      ),
    }),
    ToolCallResult: object({ result: {}, durationMs: count }),
    ToolkitDetail: { allOf: [ref('Toolkit'), object({ tools: list(ref('ToolSummary')) })] },
  }
}
