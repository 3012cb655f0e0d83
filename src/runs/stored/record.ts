/**
 * The record of a stored run: the part that clients read, and the part that is only stored.
 *
 * @module
 */

import type {
  AnsweredBy,
  ErrorEvent,
  FinishEvent,
  FinishReason,
  InputRequest,
  Kind,
  RunInput,
  RunResult,
} from '../../agents/contract.ts'
import type { SessionKey } from '../../agents/memory.ts'
import { tenantOf } from '../../base/owner.ts'
import { type Document, PREFIX_LENGTH, type Reader } from '../../stores/store.ts'
import type { Rating } from '../feedback.ts'
import type { RunNumbers } from '../numbers.ts'

/** The status of a run. `queued` (with the plugin `queue`) becomes `running` or `cancelled`; only these two change. */
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

/** An answered request of a run. */
export interface AnsweredRequest extends Pick<InputRequest, 'id' | 'kind' | 'toolName'> {
  /** Of an approval. */
  readonly decision?: 'approve' | 'deny' | undefined
  readonly answeredBy: AnsweredBy
}

/**
 * A stored run, as clients read it. It never holds a provider key. Its numbers are set with `runs.measure`, once the run has
 * ended.
 */
export interface RunRecord extends RunNumbers {
  readonly id: string
  readonly kind: Kind
  readonly name: string
  readonly status: RunStatus
  /**
   * The first line of its input that is not empty, of at most 120 characters. A longer one ends with `…`. Absent without text, and
   * where the input is not kept (`runs.keepInput`).
   */
  readonly title?: string | undefined
  /** The position in the queue while it is `queued`: 1 is next. Absent past 100. */
  readonly position?: number | undefined
  /** Set once the run has ended without failing. */
  readonly finishReason?: FinishReason | undefined
  /** ISO 8601, in UTC. */
  readonly createdAt: string
  readonly updatedAt: string
  readonly sessionId?: string | undefined
  readonly userId?: string | undefined
  /** Set once the run has ended without failing. */
  readonly result?: RunResult | undefined
  /** The input, if `include=input` requests it and the service stores it (`runs.keepInput`). Without keys. */
  readonly input?: RunInput | undefined
  /** The requests that the run still waits for. Absent once all are answered. */
  readonly requests?: readonly InputRequest[] | undefined
  /** Who answered which of its requests, and when. What was said is not in it. */
  readonly answered?: readonly AnsweredRequest[] | undefined
  /** Whether it waits for answers. Absent once all are given, and once an approval has expired. */
  readonly waiting?: true | undefined
  /** The run whose requests were answered for this one. */
  readonly continuedFrom?: string | undefined
  /** The run whose input this one runs again. */
  readonly retryOf?: string | undefined
  /** The run that goes on with the answers. */
  readonly continuedBy?: string | undefined
  /**
   * Whether its owner can continue it at `POST /runs/:id/resume`: it was interrupted, or it is answered and needs a key that is
   * not stored.
   */
  readonly resumable?: true | undefined
  /**
   * How it was requested, with `runs.measure`: `http` (its answer is JSON), `sse`, `socket`, or the name of a plugin, such as
   * `mcp`.
   */
  readonly transport?: string | undefined
  /** The A2A task whose turn it was. */
  readonly taskId?: string | undefined
  /** The sign of the score that its owner gave it: see `POST /runs/:id/feedback`. `neutral`: 0, or words without a score. */
  readonly feedback?: Rating | undefined
  /** Set once the run has failed. Masked in production. */
  readonly error?: (Pick<ErrorEvent, 'code' | 'details'> & { readonly message: string }) | undefined
}

/** A record as lists show it. */
export type RunSummary = Omit<RunRecord, 'result' | 'requests' | 'answered' | 'input'>

/** A record as administrators find it. */
export interface FoundRun extends RunSummary {
  /** The identity that owns it; null if there is none. */
  readonly owner: string | null
}

/** The webhook of one run. */
export interface RunWebhook {
  readonly url: string
}

/** The stored document of a run. The result is stored apart, so that lists stay light. */
export interface StoredRun {
  readonly record: RunSummary
  /** The identity that owns it; null if there was none. */
  readonly owner: string | null
  /** The process or object that runs it. */
  readonly instance: string
  /** Its position in lists: milliseconds since 1970, with a fraction that separates runs of one millisecond. */
  readonly at: number
  /** The id of its idempotency key's document. */
  readonly keyId: string | null
  /** The session that has its turn. */
  readonly session?: SessionKey | undefined
  /** The webhook that gets its end, beside subscribers. */
  readonly webhook?: RunWebhook | undefined
}

/** Collections of the run host. */
export const RUNS = 'run'
export const RUNNING = 'running'
export const KEYS = 'key'
export const RESULTS = 'result'

/** Whether a run is a turn of a task at work. The host of the task has it at work, and no host of runs. */
export function isTurn({ status, taskId }: RunSummary): boolean {
  return status === 'running' && taskId !== undefined
}

/** Whether a worker still has a run. Another one may have taken it over. */
export function isRunOf(tx: Reader, id: string, instance: string): boolean {
  return tx.get<StoredRun>(RUNS, id)?.value.instance === instance
}

/** The partition in which an owner's runs are listed. */
export function partitionOf(owner: string | null): string {
  return owner === null ? 'anonymous' : `owner:${owner}`
}

/**
 * An id as logs show it. Only the owner can read by an id that has one, so it is shown whole. Without an owner every caller that
 * knows the whole id can read by it, so only its beginning is shown, by which an administrator finds the rest.
 */
export function refOf(id: string, owner: string | null): string {
  return owner === null ? id.slice(0, PREFIX_LENGTH) : id
}

/** Whether a reference in the log is a whole id. */
export function isWholeId(ref: string): boolean {
  return ref.length > PREFIX_LENGTH
}

/** The most documents that one reference may stand for. By chance there are two. */
export const MAX_FOUND = 10

/** The ids that a reference in the log may stand for. Ids with an owner are shown whole. */
export function idsOf(tx: Reader, collection: string, ref: string): string[] {
  if (isWholeId(ref)) return [ref]
  const found = tx.withPrefix(collection, ref, MAX_FOUND)
  return found.filter(({ partition }) => partition === partitionOf(null)).map(({ id }) => id)
}

/** The document of a stored run. */
export function toDocument(run: StoredRun, expiresAt?: number): Document<StoredRun> {
  const { id, kind, name, status, sessionId, waiting, feedback } = run.record
  const tenant = tenantOf(run.owner)
  return {
    id,
    partition: partitionOf(run.owner),
    at: run.at,
    tags: {
      ...{ kind, name, status },
      ...(sessionId !== undefined && { sessionId }),
      ...(waiting && { waiting: String(waiting) }),
      ...(tenant !== undefined && { tenant }),
      // Tags are compared for equality alone, so `any` has one of its own.
      ...(feedback !== undefined && { feedback, rated: 'true' }),
    },
    value: run,
    ...(expiresAt !== undefined && { expiresAt }),
  }
}

/** The record after its last event. */
export function ended({ waiting: _, ...record }: RunSummary, event: FinishEvent | ErrorEvent): RunSummary {
  const updatedAt = new Date().toISOString()
  if (event.type === 'error') {
    const { code, error: message, details } = event
    const error = { code, message, ...(details && { details }) }
    return { ...record, updatedAt, status: 'failed', error }
  }
  const { finishReason } = event
  return { ...record, updatedAt, status: statusOf(finishReason), finishReason }
}

function statusOf(reason: FinishReason): RunStatus {
  if (reason === 'cancelled') return 'cancelled'
  return reason === 'input_required' || reason === 'auth_required' ? 'input_required' : 'completed'
}
