import { env } from 'cloudflare:workers'
import type { StoredPage } from '../../a2a/list-tasks.ts'
import type { ListRequest, Task } from '../../a2a/model.ts'
import type { PushConfig, PushRequest } from '../../a2a/push/config.ts'
import type { Delivered, FoundTask, TaskView } from '../../a2a/task-host.ts'
import type { StoredTask } from '../../a2a/task-record.ts'
import type { Correction, CorrectionPage, CorrectionQuery } from '../../agents/corrections.ts'
import type { SessionKey } from '../../agents/memory.ts'
import { ServableError } from '../../errors.ts'
import type { NumberedRun, SocketRecord } from '../../gateway/records.ts'
import type { Window } from '../../http/rate-limit.ts'
import type { Batch } from '../../metrics/batches.ts'
import type { IdempotencyKey, RunPage, RunQuery, Viewer } from '../../runs/host.ts'
import {
  type FoundRun,
  isWholeId,
  MAX_FOUND,
  partitionOf,
  type RunRecord,
  type StoredRun,
} from '../../runs/record.ts'
import type { SessionSettings } from '../../runs/sessions.ts'
import type { ToolServerRequest } from './durable-tool-servers.ts'
import type { Share } from './metrics-object.ts'
import type { ObjectNamespace } from './platform.ts'
import type { Answer } from './rpc.ts'
import type { StartMessage } from './run-keeper.ts'
import type { DeliverMessage } from './task-keeper.ts'

/** What a run's object answers. */
export interface RunStub {
  start(message: StartMessage): Promise<Answer<RunRecord>>
  get(viewer: Viewer): Promise<Answer<RunRecord>>
  wait(viewer: Viewer): Promise<Answer<RunRecord>>
  cancel(viewer: Viewer): Promise<Answer<RunRecord>>
  /** Itself, whoever's it is, or nothing. */
  find(id: string): Promise<Answer<readonly FoundRun[]>>
  follow(viewer: Viewer, after: number): Promise<Answer<ReadableStream<Uint8Array>>>
  taskDeliver(message: DeliverMessage): Promise<Answer<Delivered>>
  taskFind(id: string): Promise<Answer<readonly FoundTask[]>>
  taskGet(viewer: Viewer): Promise<Answer<TaskView>>
  taskSettled(viewer: Viewer): Promise<Answer<Task>>
  taskFollow(viewer: Viewer, after: number): Promise<Answer<ReadableStream<Uint8Array>>>
  taskPush(viewer: Viewer, request: PushRequest): Promise<Answer<readonly PushConfig[]>>
  taskCancel(viewer: Viewer): Promise<Answer<{ task: Task; wasCanceled: boolean }>>
}

/** A task whose agent is about to set to work. */
export interface AdmittedTask {
  readonly id: string
  readonly owner: Viewer
  /** Whose place it takes. */
  readonly client: string
  readonly isNew: boolean
}

/** What an index object answers. */
export interface IndexStub {
  /** Throws `too_many_runs` where the owner, or the client, has as many runs at work as may be, or its share of them. */
  admit(run: StoredRun, client: string, shares: number): Promise<Answer<void>>
  update(run: StoredRun, expiresAt: number | undefined): Promise<void>
  remove(id: string): Promise<void>
  /** Ids of a collection that a reference out of the log may stand for. */
  idsOf(collection: string, reference: string): Promise<readonly string[]>
  list(owner: Viewer, query: RunQuery): Promise<Answer<RunPage>>
  /**
   * Whether a place was taken: a task at work has one. Throws `too_many_runs` where the owner has as many tasks as may be, or
   * the client as many at work.
   */
  admitTask(task: AdmittedTask): Promise<Answer<boolean>>
  /** Its agent is not at work after all. */
  restTask(id: string): Promise<void>
  updateTask(task: StoredTask, expiresAt: number | undefined): Promise<void>
  removeTask(id: string): Promise<void>
  listTasks(owner: Viewer, request: ListRequest): Promise<Answer<StoredPage>>
  /** The socket has begun a run. */
  socketBegin(
    pid: string,
    socket: Omit<SocketRecord, 'runs'>,
    run: NumberedRun,
    open: readonly number[],
  ): Promise<boolean>
  socketTake(pid: string, owner: string | null): Promise<SocketRecord | undefined>
  /** The socket's runs are cancelled in so many milliseconds. */
  socketExpire(pid: string, generation: number, inMs: number): Promise<void>
  addCorrection(correction: Correction, owner: string | null): Promise<void>
  listCorrections(query: CorrectionQuery): Promise<Answer<CorrectionPage>>
  /** Counts a request of a client, and gives its window. */
  countRequest(client: string, windowMs: number): Promise<Window>
  /** The messages of a session, as JSON. */
  readSession(key: SessionKey): Promise<string>
  appendSession(key: SessionKey, messages: string, settings: SessionSettings): Promise<void>
  toolServers(request: ToolServerRequest): Promise<Answer<unknown>>
  cancelToolCall(callId: string): Promise<void>
  /** The run of a key, which is `runId` where the key is new. */
  reserve(key: IdempotencyKey, runId: string, expiresAt: number): Promise<Answer<string>>
}

/** What an object of the event socket answers. */
export interface GatewayStub {
  fetch(request: Request): Promise<Response>
}

/** What an object of the metrics answers. */
export interface MetricsStub {
  /** Adds a batch once, however often it is sent; gives how many watch. */
  add(isolate: string, id: string, batch: Batch): Promise<number>
  read(): Promise<Share>
  watch(): Promise<ReadableStream<Uint8Array>>
}

/** The bindings of the Durable Objects that keep state. */
export interface Bindings {
  readonly runs: ObjectNamespace<RunStub>
  readonly index: ObjectNamespace<IndexStub>
}

const NAMES = {
  runs: ['SERVABLE_RUN', 'ServableRun'],
  index: ['SERVABLE_INDEX', 'ServableIndex'],
  gateway: ['SERVABLE_GATEWAY', 'ServableGateway'],
  metrics: ['SERVABLE_METRICS', 'ServableMetrics'],
} as const

/** Finds the bindings by their names. Throws `invalid_options` that says what to write where one is missing. */
export function findBindings(): Bindings {
  return { runs: find(...NAMES.runs), index: find(...NAMES.index) }
}

/** The ids that a reference out of the log may stand for: those without an owner are in the indices of these names. */
export async function referredTo(
  { index }: Bindings,
  collection: string,
  ref: string,
  names: readonly string[] = [partitionOf(null)],
): Promise<readonly string[]> {
  if (isWholeId(ref)) return [ref]
  const found = await Promise.all(names.map(name => index.getByName(name).idsOf(collection, ref)))
  return found.flat().slice(0, MAX_FOUND)
}

/** The same, for the objects of the event socket. */
export function findGateway(): ObjectNamespace<GatewayStub> {
  return find(...NAMES.gateway)
}

/** The same, for the objects of the metrics. */
export function findMetrics(): ObjectNamespace<MetricsStub> {
  return find(...NAMES.metrics)
}

function find<T>(name: string, className: string): ObjectNamespace<T> {
  const binding = (env as Record<string, unknown>)[name] as Partial<ObjectNamespace<T>> | undefined
  // Only a binding to Durable Objects has this method.
  if (typeof binding?.getByName === 'function') return binding as ObjectNamespace<T>
  throw new ServableError(
    'invalid_options',
    `\`state: durableState()\` needs the Durable Object binding \`${name}\`: in wrangler.toml add ` +
      `[[durable_objects.bindings]] name = "${name}", class_name = "${className}", list the class under ` +
      `[[migrations]] new_sqlite_classes, and export it: export const { ${className} } = durableObjects(options)`,
  )
}
