/**
 * Stores queued runs, and chooses the next one.
 *
 * @module
 */

import { tenantOf } from '../../base/owner.ts'
import type { Transactions } from '../../core/transaction-calls.ts'
import { checkUse, type KeyUse, tooManyRuns } from '../../runs/admission.ts'
import type { IdempotencyKey, RunPage, RunQuery } from '../../runs/stored/host.ts'
import type { StoredRequest } from '../../runs/stored/journal.ts'
import { partitionOf, type RunSummary, type RunWebhook } from '../../runs/stored/record.ts'
import { restAfter } from '../../stores/deaths.ts'
import { containing, folded } from '../../stores/searched.ts'
import type { Document, Reader, Transaction } from '../../stores/store.ts'

/** The name of the plugin and of its object service. */
export const NAME = 'queue'

/** The address of all queued runs. The limits of running runs hold for all clients together, so there is one address. */
export const LINE = 'queue'

/** Collections: queued runs in their order; their inputs; the turns of clients; the idempotency keys of queued runs. */
const QUEUED = 'queued'
const INPUTS = 'queued-input'
const LANES = 'queued-lane'
const KEYS = 'queued-key'

/** The highest priority. The lowest is 0. */
export const MAX_PRIORITY = 9

/** Runs for which a position is computed. Later ones have none. */
export const MAX_POSITION = 100

/** Most runs to check for the next one. */
const LOOKS = 256

/**
 * Milliseconds after which a run that a process has claimed, and neither started nor released, can be claimed again. If two
 * processes start it, both get the same run.
 */
export const CLAIM_MS = 5000

/** A queued run. */
export interface QueuedRecord {
  /** Its status is `queued`. */
  readonly record: RunSummary
  readonly owner: string | null
  /** The client that it counts for. */
  readonly client: string
  readonly priority: number
  /** The client's turn. Runs of one turn belong to different clients, and come before those of later turns. */
  readonly turn: number
  /** Until then a process starts or cancels it. Milliseconds since 1970. */
  readonly claimedUntil?: number | undefined
  /** How often in a row a process has begun to start it without a result. */
  readonly begun?: number | undefined
  /** No process starts it before this time, since the last ones crashed. */
  readonly restsUntil?: number | undefined
}

/** Its request, and the other data that its start needs. */
export interface QueuedInput extends Pick<StoredRequest, 'target' | 'input' | 'options' | 'continues'> {
  readonly transport?: string | undefined
  readonly keepsInput?: boolean | undefined
  readonly webhook?: RunWebhook | undefined
  readonly retryOf?: string | undefined
}

/** A run to queue. One that is held starts when it is released, or after {@link CLAIM_MS}. */
export interface NewQueued extends Pick<QueuedRecord, 'record' | 'owner' | 'client' | 'priority'> {
  readonly asked: QueuedInput
  readonly isHeld?: true | undefined
}

/** The limits of the queue. */
export interface QueueBounds {
  readonly maxQueued: number
  readonly maxQueuedPerClient: number
}

/** A run that was taken from the queue to be started. Its start is counted. */
export interface ClaimedRun {
  readonly queued: QueuedRecord
  readonly asked: QueuedInput
}

/** The turns of one client, or of all (`''`) at one priority. */
interface Lane {
  readonly turn: number
  /** Number of runs so far, which orders the runs of a turn. Only for all. */
  readonly came?: number | undefined
}

/** Which queued runs to list. */
export interface QueuedQuery extends Omit<RunQuery, 'cursor' | 'status' | 'waiting' | 'count'> {
  /** Whether runs of tasks are among them. Default: true. */
  readonly hasTasks?: boolean
}

/** The type of {@link LINE_TRANSACTIONS}. */
export interface LineTransactions extends Transactions {
  readonly reads: {
    /** A queued run with its position: 1 is next. */
    readonly find: (tx: Reader, id: string) => QueuedRecord | undefined
    /** The queued runs of an owner or of all, newest first. */
    readonly list: (tx: Reader, owner: string | null, query: QueuedQuery) => RunPage['runs']
    readonly countMatching: (tx: Reader, owner: string | null, query: QueuedQuery) => number
    readonly count: (tx: Reader) => number
    readonly asked: (tx: Reader, id: string) => QueuedInput | undefined
  }
  readonly writes: {
    /**
     * Reserves a key for a run until a time, and returns its run: an earlier run's id, if there is one. Throws
     * `idempotency_mismatch`.
     */
    readonly reserve: (tx: Transaction, key: IdempotencyKey, runId: string, until: number) => string
    /** Frees the key of a refused run. */
    readonly free: (tx: Transaction, key: IdempotencyKey) => void
    /** Frees the key of a deleted run. */
    readonly freeOf: (tx: Transaction, runId: string) => void
    /** Queues a run, or finds the one with its id, and returns it with its position. Throws `too_many_runs`. */
    readonly add: (tx: Transaction, run: NewQueued, bounds: QueueBounds) => RunSummary
    /** Claims the next run, except those of the clients in `but`, and new runs of what is paused ({@link pausedName}). */
    readonly claim: (
      tx: Transaction,
      but: readonly string[],
      paused?: readonly string[],
    ) => ClaimedRun | undefined
    /** Claims this run, unless another process has. */
    readonly take: (tx: Transaction, id: string) => boolean
    /** Releases a claimed run. */
    readonly release: (tx: Transaction, id: string) => void
    /** Removes a run. */
    readonly done: (tx: Transaction, id: string) => void
    /** Removes all runs of an owner, or those of one session. Returns their number. */
    readonly forget: (tx: Transaction, owner: string | null, session?: OfSession) => number
  }
}

/** A session in the terms of a run record. */
export interface OfSession extends Pick<RunSummary, 'kind' | 'name'> {
  readonly id: string
}

/** How `claim` is told what is paused. */
export function pausedName({ kind, name }: Pick<RunSummary, 'kind' | 'name'>): string {
  return `${kind}:${name}`
}

export const LINE_TRANSACTIONS: LineTransactions = {
  expiring: [KEYS],
  reads: {
    find(tx, id) {
      const queued = tx.get<QueuedRecord>(QUEUED, id)?.value
      return queued && withPosition(tx, queued)
    },
    list(tx, owner, query) {
      return matching(tx, owner, query)
        .map(({ record, owner }) => (query.everyone ? { ...record, owner } : record))
        .sort((one, other) => Date.parse(other.createdAt) - Date.parse(one.createdAt))
        .slice(0, query.limit)
    },
    countMatching: (tx, owner, query) => matching(tx, owner, query).length,
    count: tx => tx.count(QUEUED),
    asked: (tx, id) => tx.get<QueuedInput>(INPUTS, id)?.value,
  },
  writes: {
    reserve(tx, key, runId, expiresAt) {
      const use = useIn(tx, key)
      if (use !== undefined) return use.runId
      const value: KeyUse = { runId, fingerprint: key.fingerprint }
      tx.put(KEYS, { id: key.id, partition: runId, at: tx.now, tags: {}, expiresAt, value })
      return runId
    },
    free(tx, { id }) {
      tx.delete(KEYS, id)
    },
    freeOf,
    add(tx, { asked, isHeld, ...run }, { maxQueued, maxQueuedPerClient }) {
      const { id, kind, name } = run.record
      const before = tx.get<QueuedRecord>(QUEUED, id)
      if (before !== undefined) return withPosition(tx, before.value).record
      const lane = laneOf(run)
      if (tx.count(QUEUED) >= maxQueued) throw tooManyRuns(`${maxQueued} are at work or wait`)
      if (tx.count(LANES, lane) >= maxQueuedPerClient)
        throw tooManyRuns(`${maxQueuedPerClient} of this client wait`)
      const all = turnsOf(tx, allOf(run.priority))
      const turn = Math.max(all.turn, turnsOf(tx, lane).turn + 1)
      const came = (all.came ?? 0) + 1
      const claimedUntil = isHeld && tx.now + CLAIM_MS
      const value: QueuedRecord = { ...run, turn, claimedUntil }
      putLane(tx, allOf(run.priority), { turn: all.turn, came })
      putLane(tx, lane, { turn })
      tx.put(LANES, { id: `${id}/place`, partition: lane, at: 0, tags: {}, value: null }, { thing: id })
      const document = { id, partition: partitionOf(run.owner), at: rankOf(value, came) }
      tx.put(QUEUED, { ...document, tags: { kind, name }, value }, { thing: id })
      tx.put(INPUTS, { id, partition: '', at: tx.now, tags: {}, value: asked }, { thing: id })
      return withPosition(tx, value).record
    },
    claim(tx, but, paused = []) {
      // Runs of what is paused may be any number, and others stand behind them.
      for (const document of tx.oldest<QueuedRecord>(QUEUED, paused.length > 0 ? MANY : LOOKS)) {
        const { client, record, claimedUntil = 0, restsUntil = 0 } = document.value
        if (Math.max(claimedUntil, restsUntil) > tx.now || but.includes(client)) continue
        if (record.continuedFrom === undefined && paused.includes(pausedName(record))) continue
        const asked = tx.get<QueuedInput>(INPUTS, document.id)?.value
        if (asked === undefined) {
          drop(tx, document)
          continue
        }
        // Runs that are queued from now on get no earlier turn.
        const all = allOf(document.value.priority)
        putLane(tx, all, { ...turnsOf(tx, all), turn: document.value.turn })
        const begun = (document.value.begun ?? 0) + 1
        const queued = { ...document.value, begun, restsUntil: tx.now + CLAIM_MS + restAfter(begun) }
        hold(tx, { ...document, value: queued })
        return { queued, asked }
      }
      return undefined
    },
    take(tx, id) {
      const document = tx.get<QueuedRecord>(QUEUED, id)
      if (document === undefined || (document.value.claimedUntil ?? 0) > tx.now) return false
      hold(tx, document)
      return true
    },
    release(tx, id) {
      const document = tx.get<QueuedRecord>(QUEUED, id)
      if (document !== undefined)
        tx.put(QUEUED, { ...document, value: { ...document.value, ...UNCLAIMED } }, { thing: id })
    },
    done(tx, id) {
      const document = tx.get<QueuedRecord>(QUEUED, id)
      if (document !== undefined) drop(tx, document)
    },
    forget(tx, owner, session) {
      const all = tx.list<QueuedRecord>(QUEUED, { partition: partitionOf(owner), limit: MANY })
      const isOf = ({ value: { record } }: Document<QueuedRecord>) =>
        session === undefined ||
        (record.kind === session.kind && record.name === session.name && record.sessionId === session.id)
      const found = all.filter(isOf)
      for (const document of found) {
        drop(tx, document)
        freeOf(tx, document.id)
      }
      return found.length
    },
  },
}

const UNCLAIMED = { claimedUntil: undefined, begun: undefined, restsUntil: undefined }

/** Above the most runs that can be queued. */
const MANY = 100_000

function useIn(tx: Reader, key: IdempotencyKey): KeyUse | undefined {
  const document = tx.get<KeyUse>(KEYS, key.id)
  if (document === undefined || (document.expiresAt ?? 0) <= tx.now) return undefined
  return checkUse(document.value, key)
}

function freeOf(tx: Transaction, runId: string): void {
  for (const { id } of tx.list(KEYS, { partition: runId, limit: LOOKS })) tx.delete(KEYS, id)
}

function withPosition(tx: Reader, queued: QueuedRecord): QueuedRecord {
  const before = tx.oldest<QueuedRecord>(QUEUED, MAX_POSITION)
  const at = before.findIndex(({ id }) => id === queued.record.id)
  return at === -1 ? queued : { ...queued, record: { ...queued.record, position: at + 1 } }
}

/** The queued runs of an owner or of all that match a query, in any order. */
function matching(tx: Reader, owner: string | null, query: QueuedQuery): QueuedRecord[] {
  const {
    kind,
    name,
    sessionId,
    since = 0,
    until = Number.POSITIVE_INFINITY,
    everyone,
    hasTasks = true,
  } = query
  const partition = everyone ? undefined : partitionOf(owner)
  const { documents } = tx.search<QueuedRecord>(QUEUED, { partition, limit: MANY, looks: MANY })
  const contains = containing(query.search)
  const isOfTenant = (owner: string | null) =>
    everyone?.tenant === undefined || tenantOf(owner) === everyone.tenant
  return documents
    .map(({ value }) => value)
    .filter(({ record, owner }) => {
      const at = Date.parse(record.createdAt)
      const isAsked =
        (kind ?? record.kind) === record.kind &&
        (name ?? record.name) === record.name &&
        (hasTasks || record.taskId === undefined) &&
        (sessionId === undefined || sessionId === record.sessionId)
      return isAsked && at >= since && at < until && isOfTenant(owner) && contains(folded(record.title ?? ''))
    })
}

/** Claims a run for a while. */
function hold(tx: Transaction, document: Document<QueuedRecord>): void {
  const value = { ...document.value, claimedUntil: tx.now + CLAIM_MS }
  tx.put(QUEUED, { ...document, value }, { thing: document.id })
}

function drop(tx: Transaction, { id, value }: Document<QueuedRecord>): void {
  const lane = laneOf(value)
  tx.delete(QUEUED, id)
  tx.delete(INPUTS, id)
  tx.delete(LANES, `${id}/place`)
  if (tx.count(LANES, lane) === 0) tx.delete(LANES, lane)
  if (tx.count(QUEUED) === 0) for (let at = 0; at <= MAX_PRIORITY; at++) tx.delete(LANES, allOf(at))
}

function laneOf({ priority, client }: Pick<QueuedRecord, 'priority' | 'client'>): string {
  return `${priority}:${client}`
}

function allOf(priority: number): string {
  return `${priority}`
}

function turnsOf(tx: Reader, lane: string): Lane {
  return tx.get<Lane>(LANES, lane)?.value ?? { turn: 0 }
}

function putLane(tx: Transaction, id: string, value: Lane): void {
  tx.put(LANES, { id, partition: '', at: 0, tags: {}, value })
}

/** Numbers up to 2^53 are exact: 4 bits of priority, 25 of turns, 24 of those who came. */
const TURNS = 2 ** 24
const PRIORITIES = 2 ** 49

/** The rank in the queue, the next run first. */
function rankOf({ priority, turn }: QueuedRecord, came: number): number {
  return (MAX_PRIORITY - priority) * PRIORITIES + turn * TURNS + (came % TURNS)
}
