/** Speaks A2A over loopback in each of its four forms, and gives the answers in one form. */
import { EventSourceParserStream } from 'eventsource-parser/stream'
import { expect } from 'vitest'
import { eventually } from '../../eventually.ts'
import { type Dialect, type Json, messageOf, V1, V03, V03_REST } from '../../protocols/a2a/requests.ts'
import { expectNothingInternal } from '../http/client.ts'
import type { Fields, Server } from '../runs/client.ts'

export { as, own } from '../runs/client.ts'
export type { Fields, Json, Server }
export { eventually, messageOf }

export type Operation =
  | 'send'
  | 'stream'
  | 'get'
  | 'list'
  | 'cancel'
  | 'subscribe'
  | 'setPush'
  | 'getPush'
  | 'listPush'
  | 'deletePush'
  | 'extendedCard'

/** A protocol version on a binding. */
export interface Tongue {
  readonly name: string
  readonly dialect: Dialect
  readonly generation: '1.0' | '0.3'
  readonly isRpc: boolean
  /** The names of methods, for JSON-RPC only. */
  readonly methods: Readonly<Partial<Record<Operation, string>>>
  /** The part between the base path and the paths of HTTP+JSON. */
  readonly prefix: string
}

const RPC_V1: Tongue = {
  name: '1.0 JSON-RPC',
  dialect: V1,
  generation: '1.0',
  isRpc: true,
  prefix: '',
  methods: {
    send: 'SendMessage',
    stream: 'SendStreamingMessage',
    get: 'GetTask',
    list: 'ListTasks',
    cancel: 'CancelTask',
    subscribe: 'SubscribeToTask',
    setPush: 'CreateTaskPushNotificationConfig',
    getPush: 'GetTaskPushNotificationConfig',
    listPush: 'ListTaskPushNotificationConfigs',
    deletePush: 'DeleteTaskPushNotificationConfig',
    extendedCard: 'GetExtendedAgentCard',
  },
}

const RPC_V03: Tongue = {
  name: '0.3 JSON-RPC',
  dialect: V03,
  generation: '0.3',
  isRpc: true,
  prefix: '',
  methods: {
    send: 'message/send',
    stream: 'message/stream',
    get: 'tasks/get',
    cancel: 'tasks/cancel',
    subscribe: 'tasks/resubscribe',
    setPush: 'tasks/pushNotificationConfig/set',
    getPush: 'tasks/pushNotificationConfig/get',
    listPush: 'tasks/pushNotificationConfig/list',
    deletePush: 'tasks/pushNotificationConfig/delete',
    extendedCard: 'agent/getAuthenticatedExtendedCard',
  },
}

const REST_V1: Tongue = { ...RPC_V1, name: '1.0 HTTP+JSON', isRpc: false, methods: {} }
const REST_V03: Tongue = {
  ...RPC_V03,
  name: '0.3 HTTP+JSON',
  dialect: V03_REST,
  isRpc: false,
  methods: {},
  prefix: '/v1',
}

export const TONGUES: Readonly<Record<'rpc1' | 'rest1' | 'rpc03' | 'rest03', Tongue>> = {
  rpc1: RPC_V1,
  rest1: REST_V1,
  rpc03: RPC_V03,
  rest03: REST_V03,
}

/** Tongues for `describe.each`. */
export type Tongues = readonly (readonly [string, Tongue])[]

const named = (...some: readonly Tongue[]): Tongues => some.map(tongue => [tongue.name, tongue])

export const tongues: Tongues = named(...Object.values(TONGUES))

/** One of each generation and binding, where it is not asked how each of them says a thing. */
export const twoTongues: Tongues = named(RPC_V1, REST_V03)

/** The parts of a request, independent of the tongue. */
export interface Asked {
  readonly message?: Json | undefined
  readonly id?: string | undefined
  readonly historyLength?: unknown
  /** Whether a send waits for the result. */
  readonly wait?: boolean | undefined
  readonly metadata?: Json | undefined
  /** Whether the message has a configuration of push notifications. */
  readonly push?: boolean | undefined
  readonly list?: Readonly<Record<string, unknown>> | undefined
}

export interface Call {
  readonly path: string
  readonly init: RequestInit
}

export interface CallOptions {
  readonly headers?: Fields
  /** The path of the endpoint, without a slash at the end. */
  readonly base?: string
  readonly rpcId?: string | number
  /** In the parameters on JSON-RPC of 1.0, else in the path. */
  readonly tenant?: string | undefined
}

const REST_PATHS: Readonly<Record<Operation, (id: string) => readonly [method: string, path: string]>> = {
  send: () => ['POST', '/message:send'],
  stream: () => ['POST', '/message:stream'],
  get: id => ['GET', `/tasks/${id}`],
  list: () => ['GET', '/tasks'],
  cancel: id => ['POST', `/tasks/${id}:cancel`],
  subscribe: id => ['POST', `/tasks/${id}:subscribe`],
  setPush: id => ['POST', `/tasks/${id}/pushNotificationConfigs`],
  getPush: id => ['GET', `/tasks/${id}/pushNotificationConfigs/c`],
  listPush: id => ['GET', `/tasks/${id}/pushNotificationConfigs`],
  deletePush: id => ['DELETE', `/tasks/${id}/pushNotificationConfigs/c`],
  extendedCard: () => ['GET', '/extendedAgentCard'],
}

/** The request of an operation. */
export function callOf(tongue: Tongue, operation: Operation, asked: Asked, options: CallOptions = {}): Call {
  const { headers = {}, rpcId = 7, tenant } = options
  const isParam = tenant !== undefined && tongue.isRpc && tongue.generation === '1.0'
  const base = (options.base ?? '') + (tenant === undefined || isParam ? '' : `/${tenant}`)
  const params = { ...paramsOf(tongue, operation, asked), ...(isParam && { tenant }) }
  if (tongue.isRpc) {
    const method = tongue.methods[operation]
    return rpcCall({ jsonrpc: '2.0', id: rpcId, method, params }, headers, base)
  }
  const [method, path] = REST_PATHS[operation](asked.id ?? '')
  const given = operation === 'extendedCard' && tongue.generation === '0.3' ? '/card' : path
  const full = `${base}${tongue.prefix}${given}`
  if (method !== 'POST') return { path: full + queryOf(operation, params), init: { method, headers } }
  const isMessage = operation === 'send' || operation === 'stream'
  const body = isMessage ? JSON.stringify(params) : '{}'
  return { path: full, init: { method, body, headers: { 'content-type': 'application/json', ...headers } } }
}

/** A JSON-RPC request with any body. */
export function rpcCall(body: unknown, headers: Fields = {}, base = ''): Call {
  const init = {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  }
  return { path: base || '/', init }
}

function queryOf(operation: Operation, { id: _, ...params }: Json): string {
  if (operation !== 'get' && operation !== 'list') return ''
  const given = Object.entries(params).filter(([, value]) => value !== undefined)
  return given.length === 0
    ? ''
    : `?${new URLSearchParams(given.map(([name, value]) => [name, String(value)]))}`
}

function paramsOf(tongue: Tongue, operation: Operation, asked: Asked): Json {
  const { message, metadata, id, historyLength, list = {} } = asked
  if (operation === 'list') return list
  if (operation !== 'send' && operation !== 'stream') return { id, historyLength }
  return { message, metadata, configuration: configurationOf(tongue, asked) }
}

function configurationOf(
  { generation, isRpc }: Tongue,
  { historyLength, wait, push }: Asked,
): Json | undefined {
  if (historyLength === undefined && wait === undefined && push === undefined) return undefined
  const isWaiting = wait ?? true
  const config = { url: 'https://hooks.example.com/x' }
  const pushName =
    generation === '1.0'
      ? 'taskPushNotificationConfig'
      : isRpc
        ? 'pushNotificationConfig'
        : 'pushNotification'
  return {
    historyLength,
    ...(generation === '1.0' ? { returnImmediately: !isWaiting } : { blocking: isWaiting }),
    ...(push && { [pushName]: config }),
  }
}

/** A message, independent of the tongue. */
export interface SeenMessage {
  readonly role: string
  readonly text: string
  readonly parts: readonly Json[]
  readonly messageId: string
  readonly taskId: string | undefined
  readonly contextId: string | undefined
}

/** A task, independent of the tongue. */
export interface SeenTask {
  readonly id: string
  readonly contextId: string
  readonly state: string
  readonly says: SeenMessage | undefined
  readonly timestamp: string
  readonly artifacts: readonly {
    readonly id: string
    readonly text: string
    readonly parts: readonly Json[]
  }[]
  readonly history: readonly SeenMessage[] | undefined
  readonly json: Json
}

/** An error, independent of the tongue. */
export interface SeenError {
  readonly code: number
  readonly message: string
  readonly http: number
  readonly reason: string | undefined
  readonly json: Json
}

export interface Heard {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  readonly value: Json | undefined
  readonly task: SeenTask | undefined
  readonly message: SeenMessage | undefined
  readonly error: SeenError | undefined
}

/** A state's name of 0.3 or 1.0 in one spelling. */
function stateOf(state: unknown): string {
  const name = String(state).replace('TASK_STATE_', '').toLowerCase().replaceAll('_', '-')
  return name === 'cancelled' ? 'canceled' : name
}

const partsOf = (json: Json): Json[] => (json.parts ?? json.content ?? []) as Json[]
const textIn = (parts: readonly Json[]): string => parts.map(({ text }) => text ?? '').join('')

export function seenMessage(json: Json): SeenMessage {
  const parts = partsOf(json)
  const { messageId, taskId, contextId } = json as Record<string, string>
  const role = String(json.role).replace('ROLE_', '').toLowerCase()
  return { role, parts, text: textIn(parts), messageId: messageId ?? '', taskId, contextId }
}

export function seenTask(json: Json): SeenTask {
  const { state, message, timestamp } = json.status as Json
  const artifacts = (json.artifacts ?? []) as Json[]
  return {
    id: String(json.id),
    contextId: String(json.contextId),
    state: stateOf(state),
    says: message === undefined ? undefined : seenMessage(message as Json),
    timestamp: String(timestamp),
    artifacts: artifacts.map(each => ({
      id: String(each.artifactId),
      parts: partsOf(each),
      text: textIn(partsOf(each)),
    })),
    history: (json.history as Json[] | undefined)?.map(seenMessage),
    json,
  }
}

function seenError(tongue: Tongue, http: number, body: Json): SeenError {
  const error = (tongue.isRpc || tongue.generation === '1.0' ? body.error : body) as Json
  const details = (error.details ?? error.data ?? []) as Json[]
  const reason = details.find(({ reason }) => reason !== undefined)?.reason as string | undefined
  return { code: Number(error.code), message: String(error.message), http, reason, json: body }
}

/** The wrapped or marked object of that kind in a result. Undefined for another kind. */
function objectOf(json: Json, kind: 'task' | 'message'): Json | undefined {
  if (json.kind === kind) return json
  if (json.kind !== undefined) return undefined
  return json[kind] as Json | undefined
}

const MOMENT = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g

export async function fetchCall(server: Server, { path, init }: Call): Promise<Response> {
  return fetch(`${server().url}${path}`, init)
}

/** The JSON of a body, or of the only event of a stream, which is how 0.3 refuses a stream. */
function bodyOf(headers: Headers, text: string): Json | undefined {
  if (headers.get('content-type') !== 'text/event-stream') return text === '' ? undefined : JSON.parse(text)
  const [, data = ''] = /^data: (.*)\n\n$/.exec(text) ?? []
  expect(data, text).not.toBe('')
  return JSON.parse(data)
}

/** Makes a call, and checks the answer for text that must never appear. */
export async function hear(server: Server, tongue: Tongue, call: Call): Promise<Heard> {
  const response = await fetchCall(server, call)
  const text = await response.text()
  expectNothingInternal(text.replaceAll(MOMENT, ''))
  const { status, headers } = response
  const body = bodyOf(headers, text)
  const nothing = { status, headers, text, value: undefined, task: undefined, message: undefined }
  if (body === undefined) return { ...nothing, error: undefined }
  const hasFailed = tongue.isRpc ? body.error !== undefined : status >= 400
  if (hasFailed) return { ...nothing, error: seenError(tongue, status, body) }
  const value = (tongue.isRpc ? body.result : body) as Json
  const task = objectOf(value, 'task') ?? (value.status === undefined ? undefined : value)
  const message = objectOf(value, 'message')
  return {
    ...nothing,
    value,
    task: task && value.kind !== 'message' ? seenTask(task) : undefined,
    message: message && seenMessage(message),
    error: undefined,
  }
}

/** A test's message to an agent. */
export interface Sending extends Asked, CallOptions {
  readonly agent?: string | undefined
  readonly text?: string | undefined
  readonly parts?: readonly Json[] | undefined
  readonly taskId?: string | undefined
  readonly contextId?: string | undefined
}

function messageFor({ dialect }: Tongue, sending: Sending): Json {
  const { agent, text = 'hello', parts, taskId, contextId } = sending
  const members: Json = {
    messageId: crypto.randomUUID(),
    [dialect.parts]: parts ?? [dialect.text(text)],
    ...(taskId !== undefined && { taskId }),
    ...(contextId !== undefined && { contextId }),
    ...(agent !== undefined && { metadata: { agentName: agent } }),
  }
  return messageOf(dialect, members)
}

/** The call that sends a message to an agent. */
export function sendCall(tongue: Tongue, sending: Sending, operation: 'send' | 'stream' = 'send'): Call {
  return callOf(tongue, operation, { message: messageFor(tongue, sending), ...sending }, sending)
}

/** Sends a message, and gives the answer. */
export function send(server: Server, tongue: Tongue, sending: Sending): Promise<Heard> {
  return hear(server, tongue, sendCall(tongue, sending))
}

/** Sends a message, and gives the task of the answer. */
export async function sendForTask(server: Server, tongue: Tongue, sending: Sending): Promise<SeenTask> {
  const { task, text } = await send(server, tongue, sending)
  expect(task, text).toBeDefined()
  return task!
}

export function get(
  server: Server,
  tongue: Tongue,
  id: string,
  { historyLength, ...options }: CallOptions & { historyLength?: unknown } = {},
): Promise<Heard> {
  return hear(server, tongue, callOf(tongue, 'get', { id, historyLength }, options))
}

export async function getTask(
  server: Server,
  tongue: Tongue,
  id: string,
  options?: CallOptions & { historyLength?: unknown },
): Promise<SeenTask> {
  const { task, text } = await get(server, tongue, id, options)
  expect(task, text).toBeDefined()
  return task!
}

export function cancel(server: Server, tongue: Tongue, id: string, options?: CallOptions): Promise<Heard> {
  return hear(server, tongue, callOf(tongue, 'cancel', { id }, options))
}

/** A page of a list. */
export interface SeenPage {
  readonly tasks: readonly SeenTask[]
  readonly nextPageToken: string
  readonly totalSize: number
  readonly pageSize: number
}

export async function list(
  server: Server,
  tongue: Tongue,
  query: Readonly<Record<string, unknown>> = {},
  options?: CallOptions,
): Promise<SeenPage> {
  const heard = await hear(server, tongue, callOf(tongue, 'list', { list: query }, options))
  expect(heard.error, heard.text).toBeUndefined()
  const { tasks, ...page } = heard.value as unknown as Omit<SeenPage, 'tasks'> & { tasks: Json[] }
  return { ...page, tasks: tasks.map(seenTask) }
}

/** An event of a stream, independent of the tongue. */
export interface SeenEvent {
  readonly id: string | undefined
  readonly kind: 'task' | 'message' | 'status' | 'artifact' | 'error'
  readonly task: SeenTask | undefined
  readonly message: SeenMessage | undefined
  readonly state: string | undefined
  readonly isFinal: unknown
  readonly artifact: { id: string; text: string; append: boolean; lastChunk: boolean } | undefined
  readonly rpcId: unknown
  readonly json: Json
}

const KINDS = {
  task: 'task',
  message: 'message',
  'status-update': 'status',
  'artifact-update': 'artifact',
  statusUpdate: 'status',
  artifactUpdate: 'artifact',
} as const

function seenEvent(tongue: Tongue, id: string | undefined, data: string): SeenEvent {
  const body = JSON.parse(data) as Json
  const json = (tongue.isRpc ? body.result : body) as Json | undefined
  const rpcId = body.id
  const nothing = {
    id,
    rpcId,
    task: undefined,
    message: undefined,
    state: undefined,
    isFinal: undefined,
    artifact: undefined,
  }
  if (json === undefined) return { ...nothing, kind: 'error', json: body }
  const name = (json.kind ?? Object.keys(json)[0]) as keyof typeof KINDS
  const kind = KINDS[name]
  const inner = (json.kind === undefined ? json[name] : json) as Json
  const status = inner.status as Json | undefined
  const artifact = inner.artifact as Json | undefined
  return {
    ...nothing,
    kind,
    json,
    task: kind === 'task' ? seenTask(inner) : undefined,
    message: kind === 'message' ? seenMessage(inner) : undefined,
    state: status && stateOf(status.state),
    isFinal: inner.final,
    artifact: artifact && {
      id: String(artifact.artifactId),
      text: textIn(partsOf(artifact)),
      append: inner.append === true,
      lastChunk: inner.lastChunk === true,
    },
  }
}

/** A stream that is open. */
export interface Stream {
  /** The next event. Undefined at the end. */
  next(): Promise<SeenEvent | undefined>
  /** All remaining events. */
  rest(): Promise<SeenEvent[]>
  /** Reads until an event matches, and gives all events that were read. */
  until(isSo: (event: SeenEvent) => boolean): Promise<SeenEvent[]>
  leave(): void
}

/** Opens a stream. */
export async function open(server: Server, tongue: Tongue, { path, init }: Call): Promise<Stream> {
  const leaving = new AbortController()
  const response = await fetch(`${server().url}${path}`, { ...init, signal: leaving.signal })
  const type = response.headers.get('content-type')
  if (type !== 'text/event-stream') expect.fail(`no stream but ${response.status} ${await response.text()}`)
  expect(response.status).toBe(200)
  const decoder = new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>
  const parser = new EventSourceParserStream({ onError: 'terminate' })
  const reader = response.body!.pipeThrough(decoder).pipeThrough(parser).getReader()
  const next = async () => {
    const { done, value } = await reader.read()
    return done ? undefined : seenEvent(tongue, value.id, value.data)
  }
  const until = async (isSo: (event: SeenEvent) => boolean) => {
    const events: SeenEvent[] = []
    for (let event = await next(); event !== undefined; event = await next()) {
      events.push(event)
      if (isSo(event)) break
    }
    return events
  }
  const leave = () => {
    void reader.cancel().catch(() => {})
    leaving.abort()
  }
  return { next, until, rest: () => until(() => false), leave }
}

export function openSend(server: Server, tongue: Tongue, sending: Sending): Promise<Stream> {
  return open(server, tongue, sendCall(tongue, sending, 'stream'))
}

export function subscribeCall(
  tongue: Tongue,
  id: string,
  { lastEventId, headers, ...options }: CallOptions & { lastEventId?: string | undefined } = {},
): Call {
  const last = lastEventId === undefined ? {} : { 'last-event-id': lastEventId }
  return callOf(tongue, 'subscribe', { id }, { ...options, headers: { ...headers, ...last } })
}

export function subscribe(
  server: Server,
  tongue: Tongue,
  id: string,
  options?: CallOptions & { lastEventId?: string | undefined },
): Promise<Stream> {
  return open(server, tongue, subscribeCall(tongue, id, options))
}

/** The codes, and the statuses of HTTP+JSON. */
export const ERRORS = {
  parseError: [-32700, 400],
  invalidRequest: [-32600, 400],
  methodNotFound: [-32601, 404],
  invalidParams: [-32602, 400],
  taskNotFound: [-32001, 404, 'TASK_NOT_FOUND'],
  taskNotCancelable: [-32002, 400, 'TASK_NOT_CANCELABLE'],
  pushNotSupported: [-32003, 400, 'PUSH_NOTIFICATION_NOT_SUPPORTED'],
  unsupportedOperation: [-32004, 400, 'UNSUPPORTED_OPERATION'],
  contentTypeNotSupported: [-32005, 400, 'CONTENT_TYPE_NOT_SUPPORTED'],
  extendedCardNotConfigured: [-32007, 400, 'EXTENDED_AGENT_CARD_NOT_CONFIGURED'],
  extensionRequired: [-32008, 400, 'EXTENSION_SUPPORT_REQUIRED'],
  versionNotSupported: [-32009, 400, 'VERSION_NOT_SUPPORTED'],
  forbidden: [-32000, 403],
} as const satisfies Record<string, readonly [code: number, http: number, reason?: string]>

/** Checks an error in the form of its tongue. */
export function expectError(
  tongue: Tongue,
  heard: Heard,
  name: keyof typeof ERRORS,
  http?: number,
): SeenError {
  const [code, status, reason] = ERRORS[name] as readonly [number, number, string?]
  const { error } = heard
  expect(error, heard.text).toBeDefined()
  if (tongue.isRpc) {
    expect(heard.status).toBe(200)
    expect(error?.json).toMatchObject({ jsonrpc: '2.0' })
    expect(error?.code, heard.text).toBe(code)
  } else {
    expect(heard.status, heard.text).toBe(http ?? status)
    expect(error?.code).toBe(tongue.generation === '1.0' ? (http ?? status) : code)
  }
  expect(error?.message).toMatch(/./)
  expect(error?.reason).toBe(reason)
  return error!
}

export async function openGate(server: Server, gate: string): Promise<void> {
  const response = await fetch(`${server().url}/probe/open?gate=${gate}`)
  await response.text()
}

export async function notesOf(server: Server): Promise<string[]> {
  const response = await fetch(`${server().url}/probe/notes`)
  return (await response.json()) as string[]
}

/** Waits until an agent has noted this. */
export async function noted(server: Server, note: string): Promise<void> {
  await eventually(async () => expect((await notesOf(server)).includes(note), note).toBe(true))
}

/** Waits until a task has a state. */
export async function reaches(
  server: Server,
  tongue: Tongue,
  id: string,
  state: string,
  options?: CallOptions,
): Promise<SeenTask> {
  await eventually(async () => expect((await getTask(server, tongue, id, options)).state).toBe(state))
  return getTask(server, tongue, id, options)
}

/** A task whose agent waits until its gate is opened. */
export async function atWork(
  server: Server,
  tongue: Tongue,
  sending: Sending = {},
): Promise<{ id: string; gate: string; contextId: string }> {
  const gate = `gate-${crypto.randomUUID()}`
  const { id, contextId } = await sendForTask(server, tongue, {
    agent: 'gated',
    text: gate,
    wait: false,
    ...sending,
  })
  await noted(server, `${gate} started`)
  return { id, gate, contextId }
}

export function isTerminal(state: string): boolean {
  return ['completed', 'failed', 'canceled', 'rejected'].includes(state)
}
