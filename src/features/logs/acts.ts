/**
 * The names of requests' acts in the audit log.
 *
 * @module
 */

/** The part of a request that determines its act. */
export interface AuditedRequest {
  readonly method: string
  /** The path, without the query. */
  readonly path: string
  /** The part that answers it. For a plugin its name. */
  readonly part: string
  /** The JSON-RPC method, if the part has parsed it. */
  readonly rpc?: string | undefined
}

/** The act of starting a run. The run itself is logged when it starts, over any transport. */
export const RUN_STARTED = 'run.started'

/** The act of a request of an unknown part that may change something. */
const CALLED = 'route.called'

/** Acts by method and the end of the path. */
type Acts = readonly (readonly [method: string, path: RegExp, act: string])[]

const RUNS: Acts = [
  ['POST', /\/(run|stream)$/, RUN_STARTED],
  ['POST', /\/runs\/[^/]+\/answers$/, 'approval.decided'],
  ['POST', /\/runs\/[^/]+\/resume$/, 'run.resumed'],
  ['POST', /\/runs\/[^/]+\/retry$/, 'run.retried'],
  ['POST', /\/runs\/[^/]+\/cancel$/, 'run.cancelled'],
  ['DELETE', /\/runs\/[^/]+$/, 'run.deleted'],
  ['POST', /\/runs\/[^/]+\/feedback$/, 'feedback.given'],
  ['POST', /\/corrections$/, 'correction.added'],
  ['POST', /\/sessions$/, 'session.created'],
  ['PATCH', /\/sessions\/[^/]+$/, 'session.changed'],
  ['POST', /\/sessions\/[^/]+\/fork$/, 'session.forked'],
  ['DELETE', /\/sessions\/[^/]+$/, 'session.deleted'],
  ['DELETE', /\/sessions\/[^/]+\/branches\/[^/]+$/, 'session.branch_deleted'],
  ['DELETE', /\/users\/me$/, 'user.deleted'],
  ['DELETE', /\/tenants\/[^/]+$/, 'tenant.deleted'],
  ['GET', /\/sessions\/export$/, 'sessions.exported'],
  ['GET', /\/corrections\/export$/, 'cases.exported'],
]

const OPENAI: Acts = [
  ['POST', /\/(chat\/completions|responses)$/, RUN_STARTED],
  ['POST', /\/responses\/[^/]+\/cancel$/, 'run.cancelled'],
  ['DELETE', /\/responses\/[^/]+$/, 'run.deleted'],
]

const WEBHOOKS: Acts = [
  ['POST', /\/webhooks$/, 'webhook.created'],
  ['PATCH', /\/webhooks\/[^/]+$/, 'webhook.changed'],
  ['DELETE', /\/webhooks\/[^/]+$/, 'webhook.deleted'],
  ['POST', /\/webhooks\/[^/]+\/secret$/, 'webhook.secret_rotated'],
  ['POST', /\/webhooks\/[^/]+\/test$/, 'webhook.tested'],
  ['POST', /\/deliveries\/[^/]+\/replay$/, 'delivery.replayed'],
]

const ACTS: Readonly<Partial<Record<string, Acts>>> = {
  router: RUNS,
  runs: RUNS,
  sessions: RUNS,
  corrections: RUNS,
  admin: [
    ['POST', /\/mcp$/, 'tool_server.added'],
    ['DELETE', /\/mcp\/[^/]+$/, 'tool_server.removed'],
    ['POST', /\/mcp\/[^/]+\/connect$/, 'tool_server.connected'],
    ['POST', /\/mcp\/[^/]+\/disconnect$/, 'tool_server.disconnected'],
    ['POST', /\/mcp\/[^/]+\/sign-in$/, 'tool_server.sign_in_begun'],
    ['GET', /\/admin\/sign-in$/, 'tool_server.signed_in'],
    ['POST', /\/tools\/[^/]+\/call$/, 'tool.called'],
    ...WEBHOOKS,
  ],
  webhooks: WEBHOOKS,
  keys: [
    ['POST', /\/keys$/, 'key.issued'],
    ['PATCH', /\/keys\/[^/]+$/, 'key.changed'],
    ['POST', /\/keys\/[^/]+\/rotate$/, 'key.rotated'],
    ['DELETE', /\/keys\/[^/]+$/, 'key.revoked'],
  ],
  schedules: [
    ['POST', /\/schedules\/[^/]+\/pause$/, 'schedule.paused'],
    ['POST', /\/schedules\/[^/]+\/resume$/, 'schedule.resumed'],
    ['POST', /\/schedules\/[^/]+\/run$/, 'schedule.run'],
  ],
  pausing: [
    ['POST', /\/pause$/, 'agent.paused'],
    ['POST', /\/resume$/, 'agent.resumed'],
  ],
  openai: OPENAI,
  'chat-completions': OPENAI,
  anthropic: [['POST', /\/messages$/, RUN_STARTED]],
  'langgraph-api': [
    ['POST', /\/runs(\/stream|\/wait|\/batch)?$/, RUN_STARTED],
    ['POST', /\/cancel$/, 'run.cancelled'],
    ['DELETE', /\/runs\/[^/]+$/, 'run.deleted'],
    ['POST', /\/threads$/, 'session.created'],
    ['PATCH', /\/threads\/[^/]+$/, 'session.changed'],
    ['POST', /\/threads\/[^/]+\/state$/, 'session.changed'],
    ['POST', /\/threads\/[^/]+\/copy$/, 'session.forked'],
    ['DELETE', /\/threads\/[^/]+$/, 'session.deleted'],
  ],
  'ag-ui': [['POST', /\/ag-ui$/, RUN_STARTED]],
  'ai-sdk-ui': [
    ['POST', /\/chat$/, RUN_STARTED],
    ['POST', /\/chat\/[^/]+\/stop$/, 'run.cancelled'],
  ],
  a2a: [
    ['POST', /\/message:(send|stream)$/, RUN_STARTED],
    ['POST', /:cancel$/, 'task.cancelled'],
    ['POST', /\/pushNotificationConfigs$/, 'push_config.set'],
    ['DELETE', /\/pushNotificationConfigs\/[^/]+$/, 'push_config.deleted'],
  ],
}

/** Acts of JSON-RPC methods: of A2A 1.0 and 0.3, and of MCP. Other methods change nothing. */
const RPC_ACTS: ReadonlyMap<string, string> = new Map([
  ['SendMessage', RUN_STARTED],
  ['SendStreamingMessage', RUN_STARTED],
  ['CancelTask', 'task.cancelled'],
  ['CreateTaskPushNotificationConfig', 'push_config.set'],
  ['DeleteTaskPushNotificationConfig', 'push_config.deleted'],
  ['message/send', RUN_STARTED],
  ['message/stream', RUN_STARTED],
  ['tasks/pushNotificationConfig/set', 'push_config.set'],
  ['tasks/pushNotificationConfig/delete', 'push_config.deleted'],
  ['tasks/cancel', 'task.cancelled'],
  ['tasks/update', 'approval.decided'],
  ['tools/call', RUN_STARTED],
  ['notifications/cancelled', 'run.cancelled'],
])

/** `POST` requests that change nothing: they look for something, or follow a task. */
const READS: Readonly<Partial<Record<string, RegExp>>> = {
  a2a: /:subscribe$/,
  'langgraph-api': /\/(search|count|history|state\/checkpoint)$/,
}

/** The act of a request. Undefined if it changes nothing. A route of an unknown part is `route.called`. */
export function actOf({ method, path, part, rpc }: AuditedRequest): string | undefined {
  if (rpc !== undefined) return RPC_ACTS.get(rpc)
  const known = find(ACTS[part] ?? [], method, path)
  if (known !== undefined) return known
  const isRead = /^(GET|HEAD|OPTIONS)$/.test(method) || part === 'socket'
  return isRead || (method === 'POST' && READS[part]?.test(path)) ? undefined : CALLED
}

function find(acts: Acts, method: string, path: string): string | undefined {
  return acts.find(([each, end]) => each === method && end.test(path))?.[2]
}
