/**
 * The operations of A2A. They are the same for every generation and binding.
 *
 * @module
 */

import { hasKeys } from '../../agents/redacted.ts'
import { ServableError } from '../../base/errors.ts'
import type { RequestState } from '../../http/context.ts'
import { type Asker, answererOf, runOptionsOf } from '../../http/runs/start-run.ts'
import { createStoredClientOf, type StoredClientOf } from '../../http/security/client-of.ts'
import { checkPermit, type Permit } from '../../runs/permit.ts'
import type { Target } from '../../runs/target.ts'
import type { Approvals } from '../../runs/waiting/approvals.ts'
import { type AgentExtension, checkRequired } from './cards/extensions.ts'
import { checkModes } from './cards/modes.ts'
import { isTerminalState, type Message, type SendRequest } from './model.ts'
import { type PushRequest, pageOf } from './push/config.ts'
import { answersIn, messageOf } from './tasks/answers.ts'
import type { AgentChooser } from './tasks/choose-agent.ts'
import type { Delivered, TaskHost, TaskViewer } from './tasks/task-host.ts'
import { taskNotFound, withHistory } from './tasks/task-record.ts'
import { messageOnly, soonOrLater, type UpdateSource, updatesOf } from './tasks/updates.ts'
import type { Tenants } from './tenants.ts'
import type { Wire } from './wire/wire.ts'

/** Most parts of a message. */
const MAX_PARTS = 100

/** What the operations need. */
export interface OperationsOptions {
  readonly host: TaskHost
  readonly chooseAgent: AgentChooser
  /** Media types that messages may contain. */
  readonly inputModes: readonly string[]
  /** Undefined if everyone may run everything. */
  readonly permit: Permit | undefined
  /** Undefined if only owners answer requests. */
  readonly approvals: Approvals | undefined
  /** Whether everyone may list the tasks without an owner. */
  readonly listAnonymous: boolean
  /** Whether push notifications are on. */
  readonly hasPush: boolean
  /** Whether answers can be streamed. */
  readonly hasStreams: boolean
  readonly extensions: readonly AgentExtension[]
  readonly tenants: Tenants
  /** Undefined if there is no extended card. */
  readonly extendedCard: ((call: OperationCall) => Promise<OperationAnswer>) | undefined
}

/** One call of an operation. */
export interface OperationCall {
  readonly request: Request
  readonly state: RequestState
  readonly wire: Wire
  readonly params: unknown
  readonly viewer: TaskViewer
  /** The tenant as the client named it. */
  readonly namedTenant: unknown
  /** URIs of the extensions that the request activates. */
  readonly extensions: readonly string[]
  /** The servable, if the endpoint belongs to one. */
  readonly agent: Target | undefined
  readonly asker: Asker
  /** The id of the last update that a reconnecting client has received. */
  readonly lastEventId: number | undefined
}

/** The answer of an operation: a value, a stream of updates, or a response that other code made. */
export type OperationAnswer =
  | { readonly value: unknown }
  | { readonly updates: UpdateSource }
  | { readonly response: Response }

/** An operation. Throws a `ServableError` if the request cannot be fulfilled. */
export type A2AOperation = (call: OperationCall) => Promise<OperationAnswer>

/** The name of an operation. */
export type OperationName =
  | 'send'
  | 'stream'
  | 'get'
  | 'list'
  | 'cancel'
  | 'subscribe'
  | 'pushSet'
  | 'pushGet'
  | 'pushList'
  | 'pushDelete'
  | 'extendedCard'

/** All operations by name. */
export type A2AOperations = Readonly<Record<OperationName, A2AOperation>>

/** The options with the parts that the operations share. */
interface OperationParts extends OperationsOptions {
  readonly storedClientOf: StoredClientOf
}

/** Makes the operations. */
export function createOperations(given: OperationsOptions): A2AOperations {
  const options = { ...given, storedClientOf: createStoredClientOf() }
  const { host } = options
  return {
    send: call => send(call, options),
    stream: call => stream(call, options),
    list: call => list(call, options),
    get: async ({ wire, params, viewer }) => {
      const { id, historyLength } = wire.decode.get(params)
      const { task } = await host.get(id, viewer)
      return { value: wire.encode.task(withHistory(task, historyLength)) }
    },
    cancel: async ({ wire, params, viewer, asker }) => {
      const { id } = wire.decode.cancel(params)
      const only = await options.permit?.(asker)
      const { task, wasCanceled } = await host.cancel(id, { ...viewer, ...(only && { only }) })
      // Since 1.0 it is not an error to cancel a task twice.
      if (wasCanceled && wire.version !== '1.0')
        throw new ServableError('task_not_cancelable', 'The task is canceled')
      return { value: wire.encode.task(task) }
    },
    subscribe: call => subscribe(call, options),
    pushSet: call => push('set', call, options),
    pushGet: call => push('get', call, options),
    pushList: call => push('list', call, options),
    pushDelete: call => push('delete', call, options),
    extendedCard: async call => {
      if (options.extendedCard !== undefined) return options.extendedCard(call)
      throw new ServableError('extended_card_not_configured', 'There is no extended card here')
    },
  }
}

async function send(call: OperationCall, options: OperationParts): Promise<OperationAnswer> {
  const { wire, viewer } = call
  const request = wire.decode.send(call.params)
  const delivered = await deliver(request, call, options, true)
  if ('message' in delivered) return { value: wire.encode.sent(delivered) }
  const { returnImmediately, historyLength } = request.configuration
  const { task: begun } = delivered.view
  const task = returnImmediately
    ? (await options.host.get(begun.id, viewer)).task
    : await options.host.settled(begun.id, viewer)
  return { value: wire.encode.sent({ task: withHistory(task, historyLength) }) }
}

async function stream(call: OperationCall, options: OperationParts): Promise<OperationAnswer> {
  checkStreams(options)
  const request = call.wire.decode.send(call.params)
  const updates = deliver(request, call, options, false).then(async delivered => {
    if ('message' in delivered) return messageOnly(delivered.message)
    const { view } = delivered
    const follower = await options.host.follow(view.task.id, call.viewer, view.seq)
    return updatesOf(follower ?? noneLeft(), { view, endsAtInterruption: true })
  })
  return { updates: await soonOrLater(updates) }
}

/**
 * Follows a task. With `lastEventId` the stream continues after that update. Otherwise, and if there was no such update, it
 * begins with the task as it is now.
 */
async function subscribe(
  { wire, params, viewer, lastEventId }: OperationCall,
  { host, hasStreams }: OperationParts,
): Promise<OperationAnswer> {
  checkStreams({ hasStreams })
  const { id } = wire.decode.subscribe(params)
  if (lastEventId !== undefined) {
    const follower = await host.follow(id, viewer, lastEventId)
    if (follower !== undefined) return { updates: updatesOf(follower, { endsAtInterruption: false }) }
  }
  const view = await host.get(id, viewer)
  const { state } = view.task.status
  if (isTerminalState(state))
    throw new ServableError('unsupported_operation', `The task is ${state}: it has no more updates`)
  const follower = await host.follow(id, viewer, view.seq)
  return { updates: updatesOf(follower ?? noneLeft(), { view, endsAtInterruption: false }) }
}

function checkStreams({ hasStreams }: Pick<OperationsOptions, 'hasStreams'>): void {
  if (hasStreams) return
  throw new ServableError('unsupported_operation', 'Answers are not streamed here: send the message instead')
}

/** Throws the error for a task that was deleted just now. */
function noneLeft(): never {
  throw taskNotFound()
}

async function list(
  { wire, params, viewer }: OperationCall,
  options: OperationsOptions,
): Promise<OperationAnswer> {
  const request = wire.decode.list(params)
  if (viewer.owner === null && request.contextId === undefined && !options.listAnonymous) {
    throw new ServableError('invalid_params', '`contextId` is required for requests without an identity')
  }
  const page = await options.host.list(viewer, { ...request, hasTenants: options.tenants.isOn })
  return { value: wire.encode.page(page) }
}

async function deliver(
  request: SendRequest,
  call: OperationCall,
  options: OperationParts,
  isWaiting: boolean,
): Promise<Delivered> {
  const { message, configuration, metadata } = request
  if (configuration.pushConfig !== undefined && !options.hasPush) throw noPush()
  if (message.role !== 'user')
    throw new ServableError('invalid_params', '`message.role` must be the role of the user')
  if (message.parts.length > MAX_PARTS) {
    throw new ServableError('invalid_params', `\`message.parts\` must have at most ${MAX_PARTS} parts`)
  }
  checkIds(message)
  checkRequired(call.extensions, options.extensions)
  checkModes(message, options.inputModes)
  const { asker, viewer, extensions } = call
  const { owner, tenant } = viewer
  if (tenant === undefined) options.tenants.checkContext(message.contextId)
  const only = await options.permit?.(asker)
  if (message.taskId !== undefined && only === undefined && options.approvals?.mayBeOther(asker)) {
    const decided = await decide({ ...message, taskId: message.taskId }, call, options)
    if (decided !== undefined) return decided
  }
  const runOptions = runOptionsOf({}, asker)
  const mayWait = isWaiting && !configuration.returnImmediately
  const common = {
    message,
    owner,
    tenant,
    asked: { tenant, extensions, acceptedOutputModes: configuration.acceptedOutputModes },
    client: await options.storedClientOf(asker),
    mayWait,
    options: { ...runOptions, metadata },
    by: { hasKey: hasKeys(runOptions), only, who: answererOf(asker) },
    secrets: asker.secrets(),
    pushConfig: configuration.pushConfig,
  }
  if (message.taskId !== undefined) {
    return options.host.deliver({ ...common, taskId: message.taskId, target: undefined })
  }
  const skills = await options.tenants.skillsOf(tenant)
  const target = options.chooseAgent(request, { agent: call.agent, skills })
  checkPermit(only, target)
  return options.host.deliver({ ...common, taskId: crypto.randomUUID(), target })
}

/**
 * Delivers a decision of somebody other than the task's owner. The answer is a bare message with the outcome, and nothing of the
 * task. Returns undefined for the owner's own message.
 */
async function decide(
  message: Message & { readonly taskId: string },
  { asker, viewer: { tenant } }: OperationCall,
  { host, approvals }: OperationParts,
): Promise<Delivered | undefined> {
  const { taskId } = message
  const asking = await host.asking(taskId, tenant)
  if (asking === undefined || approvals === undefined) return undefined
  const answers = answersIn(message, [])
  if (!(await approvals.admit(asking, answers, asker, taskNotFound))) return undefined
  const { owner } = asking.run
  const { messageId } = message
  // Only their answers reach the agent and the owner, and no other text of theirs.
  const decision = messageOf(answers, messageId)
  const by = { isOther: true, who: answererOf(asker) }
  const owned = { owner, tenant }
  await host.deliver({
    taskId,
    message: decision,
    target: undefined,
    ...owned,
    mayWait: false,
    options: {},
    by,
  })
  const after = await host.asking(taskId, tenant)
  const { kind: _, name: __, ...outcome } = await approvals.decided(asking, answers, after, asker)
  return { message: { messageId: crypto.randomUUID(), role: 'agent', parts: [{ data: outcome }], taskId } }
}

/** Sets, gets, lists or deletes push notification configs of a task. */
async function push(
  act: PushRequest['act'],
  { wire, params, viewer, asker, state }: OperationCall,
  { host, hasPush, storedClientOf, permit }: OperationParts,
): Promise<OperationAnswer> {
  if (!hasPush) throw noPush()
  const decoded = wire.push.decode(act, params)
  const request = decoded.act === 'set' ? { ...decoded, client: await storedClientOf(state) } : decoded
  const only = act === 'set' || act === 'delete' ? await permit?.(asker) : undefined
  const configs = await host.push({ ...viewer, ...(only && { only }) }, request)
  if (decoded.act === 'list') return { value: wire.push.encodeList(decoded.taskId, pageOf(configs, decoded)) }
  const [config] = configs
  return { value: config === undefined ? wire.push.deleted : wire.push.encode(request.taskId, config) }
}

function noPush(): ServableError {
  return new ServableError('push_not_supported', 'Push notifications are not supported here')
}

/** Most characters of an id that a client chooses. The id is in every answer and in an index. */
const MAX_ID_LENGTH = 1000

function checkIds({ messageId, contextId = '' }: SendRequest['message']): void {
  if (messageId.length <= MAX_ID_LENGTH && contextId.length <= MAX_ID_LENGTH) return
  throw new ServableError(
    'invalid_params',
    `\`messageId\` and \`contextId\` must have at most ${MAX_ID_LENGTH} characters`,
  )
}
