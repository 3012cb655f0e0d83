/**
 * The stored run of a Durable Object. The run executes in the object, whose database has its record and log.
 *
 * @module
 */

import type { Answer, Kind, RunInput, RunOptions } from '../../agents/contract.ts'
import { sessionOf } from '../../agents/memory.ts'
import { ServableError } from '../../base/errors.ts'
import type { Core } from '../../core/built-in.ts'
import type { ObjectContext, ObjectService } from '../../core/hosted.ts'
import { resolveInObject, runsInObject } from '../../core/in-object.ts'
import { KeptInObject, WATCH_MS } from '../../core/kept-in-object.ts'
import { callIn } from '../../core/object-service.ts'
import { type Calls, objectCalls } from '../../core/transaction-calls.ts'
import { admitted } from '../../runs/admit.ts'
import { FEEDBACK, type Feedback, type FeedbackInput, type Rating, stillAtWork } from '../../runs/feedback.ts'
import type {
  EndedRun,
  IdempotencyKey,
  ResumedRun,
  ResumeRequest,
  RunHost,
  Viewer,
} from '../../runs/stored/host.ts'
import { JOURNAL, REQUESTS, type StoredRequest } from '../../runs/stored/journal.ts'
import { createLocalHost } from '../../runs/stored/local-host.ts'
import type { EventQuery, LogPage } from '../../runs/stored/log-page.ts'
import { streamOf } from '../../runs/stored/log-stream.ts'
import { newRun } from '../../runs/stored/new-run.ts'
import {
  type FoundRun,
  KEYS,
  partitionOf,
  RESULTS,
  RUNNING,
  RUNS,
  type RunRecord,
  type RunWebhook,
  type StoredRun,
} from '../../runs/stored/record.ts'
import { forgetRun } from '../../runs/stored/retention.ts'
import { titleFor } from '../../runs/stored/title.ts'
import type { Target } from '../../runs/target.ts'
import type { Asking } from '../../runs/waiting/asking.ts'
import {
  type AnsweredRun,
  type Answering,
  type Continued,
  WAITING,
  type WaitingRun,
} from '../../runs/waiting/waiting.ts'
import type { ListedBy } from './indexes.ts'
import { addressOfKey, LIST_OF_ALL, RUN_INDEX, RUN_SERVICE } from './run-index.ts'

/** A request to start a run, from the Worker to the object. Keys stay in memory on both sides. */
export interface StartMessage {
  readonly id: string
  readonly kind: Kind
  readonly name: string
  readonly scope?: Target['scope']
  readonly input: RunInput
  readonly options: RunOptions
  readonly owner: string | null
  /** The client that the run counts for. */
  readonly client: string
  /** The index object that lists the run. */
  readonly listedBy: ListedBy
  readonly transport?: string | undefined
  readonly isBackground: boolean
  readonly keepsInput?: boolean | undefined
  readonly secrets?: readonly string[] | undefined
  readonly continues?: Continued | undefined
  readonly webhook?: RunWebhook | undefined
  readonly retryOf?: string | undefined
  /** The object stores the key's id, and frees the key when the run is deleted. */
  readonly key?: IdempotencyKey | undefined
}

/** The RPC message for a plain run that waits. */
export type KeepMessage = WaitingRun & Pick<StartMessage, 'listedBy'>

/** The RPC message for a run that has ended elsewhere. */
export type RecordMessage = EndedRun & Pick<StartMessage, 'listedBy'>

/** The RPC methods of a run's object. */
export interface RunMethods {
  start(message: StartMessage): Promise<RunRecord>
  get(viewer: Viewer): Promise<RunRecord>
  wait(viewer: Viewer): Promise<RunRecord>
  cancel(viewer: Viewer): Promise<RunRecord>
  keep(message: KeepMessage): Promise<void>
  record(message: RecordMessage): Promise<void>
  asking(id: string): Promise<Asking | undefined>
  answer(
    viewer: Viewer,
    answers: readonly Answer[],
    next: string,
    by: Answering | undefined,
  ): Promise<AnsweredRun>
  resume(viewer: Viewer, request: ResumeRequest): Promise<ResumedRun>
  asked(viewer: Viewer, from?: string): Promise<StoredRequest>
  delete(viewer: Viewer): Promise<void>
  feedback(viewer: Viewer, given?: FeedbackInput): Promise<Feedback | undefined>
  rate(viewer: Viewer, rating: Rating): Promise<void>
  /** Returns the run whoever owns it, or an empty list. */
  find(id: string): Promise<readonly FoundRun[]>
  follow(viewer: Viewer, after: number): Promise<ReadableStream<Uint8Array>>
  events(viewer: Viewer, query: EventQuery): Promise<LogPage>
}

/** The collection with the index object's name, for runs that their owner's index does not list. */
const LISTED_BY = 'listed-by'

/** What the methods of one object's run share. */
interface RunParts {
  readonly context: ObjectContext
  readonly core: Core
  readonly settings: ReturnType<typeof runsInObject>
  readonly index: Calls<typeof RUN_INDEX>
  /** The address of the object with the runs of all owners, if there is one. */
  readonly ofAll: readonly string[]
  readonly kept: KeptInObject<StoredRun>
  readonly host: RunHost
}

/** Creates the service of one object's run. */
export function createRunObject(context: ObjectContext, core: Core): ObjectService {
  const { store, reach } = context
  const settings = runsInObject(core)
  const index = objectCalls((address, service) => reach('index', address, service), RUN_SERVICE, RUN_INDEX)
  /** The index object that lists the run. It stays the same even if a deployment gets more index objects. */
  const { state } = core.settings
  /** The object with the runs of all owners, if there is one. */
  const ofAll = state.kind === 'hosted' && state.listsAll ? [LIST_OF_ALL] : []
  const indexOf = ({ record, owner }: StoredRun): string =>
    store.read(tx => tx.get<string>(LISTED_BY, record.id))?.value ?? partitionOf(owner)

  /** The open questions of the run. Undefined if it never waited, or without the approvals plugin. */
  const asked = ({ record: { id } }: StoredRun): Asking | undefined => {
    return store.read(tx => settings.approvals?.asking(tx, id))
  }

  const kept: KeptInObject<StoredRun> = new KeptInObject(context, {
    collection: RUNS,
    missing: () => new ServableError('run_not_found', 'There is no such run'),
    // A running run is listed since its admission.
    statusOf(run) {
      const { status, continuedBy = '', feedback = '' } = run.record
      if (status === 'running') return undefined
      return `${status} ${continuedBy} ${feedback} ${asked(run)?.open.length ?? ''}`
    },
    isAtWork: ({ record }) => record.status === 'running',
    async report({ value, expiresAt }) {
      await Promise.all([indexOf(value), ...ofAll].map(name => index.update(name, value, expiresAt)))
      const asking = asked(value)
      if (asking !== undefined) await settings.approvals?.enlist(asking)
      await settings.notices?.forward(store)
    },
    async unlist({ id, value }) {
      await settings.notices?.forward(store)
      await settings.files?.forget?.({ runId: id, owner: value.owner })
      const asking = asked(value)
      if (asking !== undefined) await settings.approvals?.enlist({ ...asking, open: [] })
      await Promise.all([indexOf(value), ...ofAll].map(name => index.remove(name, id)))
    },
    // `get` ends a run that an eviction interrupted.
    look: async ({ id, value }) => void (await host.get(id, value.owner)),
    // An open question may expire before the run.
    nextAt: (at, id) => Math.min(at, store.read(tx => tx.get(WAITING, id))?.expiresAt ?? at),
    forget(tx, run) {
      forgetRun(tx, run)
      tx.delete(LISTED_BY, run.record.id)
    },
  })
  const host: RunHost = createLocalHost({
    store,
    // The list is in another object, and so are the texts.
    settings: { ...settings, hasTexts: false },
    retention: {},
    leavesExpired: true,
    onEnded: () => context.waitUntil(kept.settle().then(() => settings.onFree?.())),
  })
  const methods = runMethods({ context, core, settings, index, ofAll, kept, host })
  return {
    collections: [
      ...[RUNS, RESULTS, WAITING, REQUESTS, JOURNAL, LISTED_BY, FEEDBACK],
      ...(settings.notices?.collections ?? []),
    ],
    // Work in this object ends with its memory, which the record shows at the next read. The key of a run has an object of its
    // own.
    inMemory: [RUNNING, KEYS],
    ask: (method, args) => callIn(methods, method, args),
    alarm: () => kept.alarm(),
  }
}

/** Stores the name of the index object, if it is not the owner's. */
function keepListedBy(
  { store }: ObjectContext,
  { id, owner, listedBy: { name } }: Pick<StartMessage, 'id' | 'owner' | 'listedBy'>,
): void {
  if (name === partitionOf(owner)) return
  store.write(tx => tx.put(LISTED_BY, { id, partition: '', at: 0, tags: {}, value: name }))
}

/** Starts the run. It is listed before. */
async function start(
  { context, core, settings, index, ofAll, kept, host }: RunParts,
  message: StartMessage,
): Promise<RunRecord> {
  const { id, kind, name, scope, client, input } = message
  const target = resolveInObject(core.catalogOf(scope), kind, name)
  await kept.expire()
  const options = { ...message.options, runId: id }
  const begin = async () => {
    const at = Date.now()
    if (kept.document() === undefined) {
      const { owner, listedBy, continues, transport, retryOf } = message
      const { maxRunning, maxRunningPerOwner, timeoutMs } = settings
      const session = sessionOf(settings.memory, target, message.options)
      const run = newRun(
        { id, at, instance: context.store.instance, session },
        {
          target,
          options: message.options,
          owner,
          key: undefined,
          continues,
          transport,
          retryOf,
          title: titleFor(message, settings),
        },
      )
      await index.admit(listedBy.name, run, client, {
        maxRunning: Math.max(1, Math.floor(maxRunning / listedBy.shares)),
        maxRunningPerOwner,
        timeoutMs,
      })
      for (const name of ofAll) await index.update(name, run, undefined)
      keepListedBy(context, message)
    }
    // A document that keeps its place in the list costs no row of the list's index.
    return host.start({ ...message, target, options, at })
  }
  // A refused run is in no list.
  const isKnown = kept.document() !== undefined
  const record = await admitted(
    isKnown ? undefined : settings.admit,
    { id, target, input, options, client, continues: message.continues?.from !== undefined },
    begin,
  )
  if (record.status === 'running') await context.wakeBy(Date.now() + WATCH_MS)
  return record
}

function runMethods(parts: RunParts): RunMethods {
  const { context, settings, index, kept, host } = parts
  return {
    start: message => start(parts, message),
    async get(viewer) {
      const record = await host.get(await kept.id(), viewer)
      // An eviction may have ended the run. The index learns of it before the caller does.
      if (kept.isUnreported()) await kept.settle()
      return record
    },
    wait: async viewer => host.wait(await kept.id(), viewer, new AbortController().signal),
    follow: async (viewer, after) => streamOf(await host.follow(await kept.id(), viewer, after)),
    events: async (viewer, query) => host.events(await kept.id(), viewer, query),
    async find(id) {
      await kept.expire()
      return kept.document() === undefined ? [] : host.find(id)
    },
    async asking(id) {
      await kept.expire()
      return kept.document() && host.asking(id)
    },
    async keep(message) {
      const { id, client, listedBy, owner } = message
      const { retentionMs, waitingMs = 0, maxWaitingPerOwner = Number.POSITIVE_INFINITY } = settings
      const longestMs = Math.max(retentionMs, waitingMs) + (settings.approvals?.expiresMs ?? 0)
      const goneAt = Date.now() + longestMs
      await index.wait(listedBy.name, id, client ?? partitionOf(owner), maxWaitingPerOwner, goneAt)
      keepListedBy(context, message)
      await host.keep(message)
      await kept.settle()
    },
    async record(message) {
      keepListedBy(context, message)
      await host.record(message)
      await kept.settle()
    },
    async answer(viewer, answers, next, by) {
      const outcome = await host.answer(await kept.id(), viewer, answers, next, by)
      if (outcome.next ?? settings.approvals ?? outcome.record.resumable) await kept.settle()
      return outcome
    },
    async resume(viewer, request) {
      const resumed = await host.resume(await kept.id(), viewer, request)
      await kept.settle()
      return resumed
    },
    asked: async (viewer, from) => host.asked(await kept.id(), viewer, from),
    async cancel(viewer) {
      const record = await host.cancel(await kept.id(), viewer)
      await kept.settle()
      return record
    },
    delete: viewer =>
      kept.delete(async ({ id, value: { keyId } }) => {
        if ((await host.get(id, viewer)).status === 'running') throw stillAtWork()
        await settings.notices?.forget(context.store, id)
        if (keyId !== null) await index.free(addressOfKey(keyId), keyId, id)
      }),
    async feedback(viewer, given) {
      const feedback = await host.feedback(await kept.id(), viewer, given)
      if (given !== undefined) await kept.settle()
      return feedback
    },
    async rate(viewer, rating) {
      await host.rate(await kept.id(), viewer, rating)
      await kept.settle()
    },
  }
}
