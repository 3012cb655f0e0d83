/**
 * The record of a stored run: the part that clients read, and the part that is only stored.
 *
 * @module
 */

import type {
  ErrorEvent,
  FinishEvent,
  FinishReason,
  InputRequest,
  Kind,
  RunInput,
  RunResult,
} from '../../agents/contract.ts'
import type { SessionKey } from '../../agents/memory.ts'
import { type Document, PREFIX_LENGTH, type Reader } from '../../stores/store.ts'
import type { RunNumbers } from '../numbers.ts'

/** Where a run stands. `queued` (with the plugin `queue`) becomes `running` or `cancelled`; only these two change. */
export type RunStatus = 'queued' | 'running' | 'completed' | 'input_required' | 'failed' | 'cancelled'

/** Every status. */
export const RUN_STATUSES: readonly RunStatus[] = [
  'queued',
  'running',
  'completed',
  'input_required',
  'failed',
  'cancelled',
]

/**
 * A stored run, as clients read it. It never holds a provider key. The numbers are there with `runs.measure`, once the run has ended.
 */
export interface RunRecord extends RunNumbers {
  readonly id: string
  readonly kind: Kind
  readonly name: string
  readonly status: RunStatus
  /** While it is `queued`: 1 is next. Absent past 100. */
  readonly position?: number | undefined
  /** Once the run has ended without failing. */
  readonly finishReason?: FinishReason | undefined
  /** ISO 8601, in UTC. */
  readonly createdAt: string
  readonly updatedAt: string
  readonly sessionId?: string | undefined
  readonly userId?: string | undefined
  /** Once the run has ended without failing. */
  readonly result?: RunResult | undefined
  /** What it was asked with, if `include=input` asks for it and the service keeps it (`runs.keepInput`). Without keys. */
  readonly input?: RunInput | undefined
  /** What the run still waits for. Absent once all is answered. */
  readonly requests?: readonly InputRequest[] | undefined
  /** It waits for answers. Absent once all are given, and once an approval has expired. */
  readonly waiting?: true | undefined
  /** The run whose requests were answered for this one. */
  readonly continuedFrom?: string | undefined
  /** The run that goes on with the answers. */
  readonly continuedBy?: string | undefined
  /**
   * Its owner goes on with it at `POST /runs/:id/resume`: it was interrupted, or all is answered and it needs a key that is not kept.
   */
  readonly resumable?: true | undefined
  /**
   * How it was asked for, with `runs.measure`: `http` (its answer is JSON), `sse`, `socket`, or the name of a plugin, such as `mcp`.
   */
  readonly transport?: string | undefined
  /** The A2A task whose turn it was. */
  readonly taskId?: string | undefined
  /** Once the run has failed; masked in production. */
  readonly error?: { readonly code: string; readonly message: string } | undefined
}

/** A record as lists show it. */
export type RunSummary = Omit<RunRecord, 'result' | 'requests' | 'input'>

/** A record as an administrator finds it. */
export interface FoundRun extends RunSummary {
  /** The identity that owns it; null where there is none. */
  readonly owner: string | null
}

/** Where a client wants to hear of one run. */
export interface RunWebhook {
  readonly url: string
}

/** What is stored of a run; its result stands apart, so that lists stay light. */
export interface StoredRun {
  readonly record: RunSummary
  /** The identity that owns it; null where there was none. */
  readonly owner: string | null
  /** The process or object that runs it. */
  readonly instance: string
  /** Its place in lists: milliseconds since 1970, with a fraction that tells runs of one millisecond apart. */
  readonly at: number
  /** The document of its idempotency key. */
  readonly keyId: string | null
  /** The session that has its turn. */
  readonly session?: SessionKey | undefined
  /** Who is told of its end, beside subscribers. */
  readonly webhook?: RunWebhook | undefined
}

/** Collections of the run host. */
export const RUNS = 'run'
export const RUNNING = 'running'
export const KEYS = 'key'
export const RESULTS = 'result'

/** Whether a worker still has a run: another one may have taken it over. */
export function isRunOf(tx: Reader, id: string, instance: string): boolean {
  return tx.get<StoredRun>(RUNS, id)?.value.instance === instance
}

/** The partition in which an owner's runs are listed. */
export function partitionOf(owner: string | null): string {
  return owner === null ? 'anonymous' : `owner:${owner}`
}

/**
 * An id as logs show it. Where it has an owner nobody else reads by it, so it is whole; else whoever knows all of it may
 * read what it names, so it is the beginning, by which an administrator finds the rest.
 */
export function refOf(id: string, owner: string | null): string {
  return owner === null ? id.slice(0, PREFIX_LENGTH) : id
}

/** Whether a reference out of the log is all of an id. */
export function isWholeId(ref: string): boolean {
  return ref.length > PREFIX_LENGTH
}

/** Documents that one reference may stand for: by chance there are two. */
export const MAX_FOUND = 10

/** The ids that a reference out of the log may stand for. What has an owner is shown by all of its id. */
export function idsOf(tx: Reader, collection: string, ref: string): string[] {
  if (isWholeId(ref)) return [ref]
  const found = tx.withPrefix(collection, ref, MAX_FOUND)
  return found.filter(({ partition }) => partition === partitionOf(null)).map(({ id }) => id)
}

/** The document of a stored run. */
export function toDocument(run: StoredRun, expiresAt?: number): Document<StoredRun> {
  const { id, kind, name, status, sessionId, waiting } = run.record
  return {
    id,
    partition: partitionOf(run.owner),
    at: run.at,
    tags: {
      ...{ kind, name, status },
      ...(sessionId !== undefined && { sessionId }),
      ...(waiting && { waiting: String(waiting) }),
    },
    value: run,
    ...(expiresAt !== undefined && { expiresAt }),
  }
}

/** The record after its last event. */
export function ended({ waiting: _, ...record }: RunSummary, event: FinishEvent | ErrorEvent): RunSummary {
  const updatedAt = new Date().toISOString()
  if (event.type === 'error') {
    return { ...record, updatedAt, status: 'failed', error: { code: event.code, message: event.error } }
  }
  const { finishReason } = event
  return { ...record, updatedAt, status: statusOf(finishReason), finishReason }
}

function statusOf(reason: FinishReason): RunStatus {
  if (reason === 'cancelled') return 'cancelled'
  return reason === 'input_required' || reason === 'auth_required' ? 'input_required' : 'completed'
}
