/**
 * What is kept of runs that wait for a place, and who is next.
 *
 * @module
 */

import type { Transactions } from '../../core/transaction-calls.ts'
import { checkUse, type KeyUse, tooManyRuns } from '../../runs/admission.ts'
import type { IdempotencyKey, RunQuery } from '../../runs/stored/host.ts'
import type { Asked } from '../../runs/stored/journal.ts'
import { partitionOf, type RunSummary, type RunWebhook } from '../../runs/stored/record.ts'
import { restAfter } from '../../stores/deaths.ts'
import type { Document, Reader, Transaction } from '../../stores/store.ts'

/** The plugin's name, and that of its keeper in objects. */
export const NAME = 'queue'

/** The place of all that waits: the bounds of runs at work hold for all clients together. */
export const LINE = 'queue'

/** Collections: who waits, in their order; what they asked; the turns of clients; keys of runs that waited. */
const QUEUED = 'queued'
const INPUTS = 'queued-input'
const LANES = 'queued-lane'
const KEYS = 'queued-key'

/** The least and the highest priority. */
export const MAX_PRIORITY = 9

/** Runs among which a position is looked up. Those after them have none. */
export const MAX_POSITION = 100

/** Most runs that are looked at for the next one. */
const LOOKS = 256

/**
 * Milliseconds after which a run that a process has taken, and neither started nor given back, is anyone's again. Two that start it find
 * the same run.
 */
export const CLAIM_MS = 5000

/** A run that waits. */
export interface Queued {
  /** Its status is `queued`. */
  readonly record: RunSummary
  readonly owner: string | null
  /** Whose place it takes. */
  readonly client: string
  readonly priority: number
  /** The client's turn: those of one turn, each of another client, come before any of the next. */
  readonly turn: number
  /** Until then it is being started, or cancelled. Milliseconds since 1970. */
  readonly claimedUntil?: number | undefined
  /** How often in a row somebody began to start it, and neither did so nor gave it back. */
  readonly begun?: number | undefined
  /** Until then nobody begins again: whoever did has died. */
  readonly restsUntil?: number | undefined
}

/** What it asked, with what its start needs beside that. */
export interface QueuedInput extends Pick<Asked, 'target' | 'input' | 'options' | 'continues'> {
  readonly transport?: string | undefined
  readonly keepsInput?: boolean | undefined
  readonly webhook?: RunWebhook | undefined
}

/** A run that begins to wait. */
export interface NewQueued extends Pick<Queued, 'record' | 'owner' | 'client' | 'priority'> {
  readonly asked: QueuedInput
}

/** How many may wait. */
export interface QueueBounds {
  readonly maxQueued: number
  readonly maxQueuedPerClient: number
}

/** A run that was taken out, to be started. It is counted as begun. */
export interface Claimed {
  readonly queued: Queued
  readonly asked: QueuedInput
}

/** The turns of one client, or of all (`''`) at one priority. */
interface Lane {
  readonly turn: number
  /** How many have come, so that those of a turn are in their order. Of all alone. */
  readonly came?: number | undefined
}

/** See {@link LINE_TRANSACTIONS}. */
export interface LineTransactions extends Transactions {
  readonly reads: {
    /** One that waits, with its position: 1 is next. */
    readonly find: (tx: Reader, id: string) => Queued | undefined
    /** Those of an owner, newest first. */
    readonly list: (
      tx: Reader,
      owner: string | null,
      query: Omit<RunQuery, 'cursor'>,
    ) => readonly RunSummary[]
    readonly count: (tx: Reader) => number
    readonly asked: (tx: Reader, id: string) => QueuedInput | undefined
  }
  readonly writes: {
    /** Lets a key stand for a run until then, and gives the run: an earlier one's, if there is one. Throws `idempotency_mismatch`. */
    readonly reserve: (tx: Transaction, key: IdempotencyKey, runId: string, until: number) => string
    /** The run of a key was refused: the key stands for nothing any more. */
    readonly free: (tx: Transaction, key: IdempotencyKey) => void
    /** The same, of a run that is deleted. */
    readonly freeOf: (tx: Transaction, runId: string) => void
    /** Adds a run, or finds the one of its id, with its position. Throws `too_many_runs`. */
    readonly add: (tx: Transaction, run: NewQueued, bounds: QueueBounds) => RunSummary
    /** Takes the next one whose client is not among these. */
    readonly claim: (tx: Transaction, but: readonly string[]) => Claimed | undefined
    /** Takes that one, if nobody has it. */
    readonly take: (tx: Transaction, id: string) => boolean
    /** Gives one back. */
    readonly release: (tx: Transaction, id: string) => void
    /** It waits no more. */
    readonly done: (tx: Transaction, id: string) => void
    /** Takes out all of an owner, or what is of one session. Gives how many there were. */
    readonly forget: (tx: Transaction, owner: string | null, session?: OfSession) => number
  }
}

/** A session, as a run names it. */
export interface OfSession extends Pick<RunSummary, 'kind' | 'name'> {
  readonly id: string
}

export const LINE_TRANSACTIONS: LineTransactions = {
  expiring: [KEYS],
  reads: {
    find(tx, id) {
      const queued = tx.get<Queued>(QUEUED, id)?.value
      return queued && withPosition(tx, queued)
    },
    list(tx, owner, { kind, name, sessionId, status, since = 0, until = Number.POSITIVE_INFINITY, limit }) {
      if (status !== undefined && status !== 'queued') return []
      const ofOwner = tx.list<Queued>(QUEUED, { partition: partitionOf(owner), limit: MANY })
      return ofOwner
        .map(({ value }) => value.record)
        .filter(record => {
          const at = Date.parse(record.createdAt)
          const isAsked =
            (kind ?? record.kind) === record.kind &&
            (name ?? record.name) === record.name &&
            (sessionId === undefined || sessionId === record.sessionId)
          return isAsked && at >= since && at < until
        })
        .sort((one, other) => Date.parse(other.createdAt) - Date.parse(one.createdAt))
        .slice(0, limit)
    },
    count: tx => tx.count(QUEUED),
    asked: (tx, id) => tx.get<QueuedInput>(INPUTS, id)?.value,
  },
  writes: {
    reserve(tx, key, runId, expiresAt) {
      const use = useIn(tx, key)
      if (use !== undefined) return use.runId
      for (const { id: gone } of tx.expired(KEYS, tx.now, LOOKS)) tx.delete(KEYS, gone)
      const value: KeyUse = { runId, fingerprint: key.fingerprint }
      tx.put(KEYS, { id: key.id, partition: runId, at: tx.now, tags: {}, expiresAt, value })
      return runId
    },
    free(tx, { id }) {
      tx.delete(KEYS, id)
    },
    freeOf,
    add(tx, { asked, ...run }, { maxQueued, maxQueuedPerClient }) {
      const { id, kind, name } = run.record
      const before = tx.get<Queued>(QUEUED, id)
      if (before !== undefined) return withPosition(tx, before.value).record
      const lane = laneOf(run)
      if (tx.count(QUEUED) >= maxQueued) throw tooManyRuns(`${maxQueued} are at work or wait`)
      if (tx.count(LANES, lane) >= maxQueuedPerClient)
        throw tooManyRuns(`${maxQueuedPerClient} of this client wait`)
      const all = turnsOf(tx, allOf(run.priority))
      const turn = Math.max(all.turn, turnsOf(tx, lane).turn + 1)
      const came = (all.came ?? 0) + 1
      const value: Queued = { ...run, turn }
      putLane(tx, allOf(run.priority), { turn: all.turn, came })
      putLane(tx, lane, { turn })
      tx.put(LANES, { id: `${id}/place`, partition: lane, at: 0, tags: {}, value: null }, { thing: id })
      const document = { id, partition: partitionOf(run.owner), at: rankOf(value, came) }
      tx.put(QUEUED, { ...document, tags: { kind, name }, value }, { thing: id })
      tx.put(INPUTS, { id, partition: '', at: tx.now, tags: {}, value: asked }, { thing: id })
      return withPosition(tx, value).record
    },
    claim(tx, but) {
      for (const document of tx.oldest<Queued>(QUEUED, LOOKS)) {
        const { client, claimedUntil = 0, restsUntil = 0 } = document.value
        if (Math.max(claimedUntil, restsUntil) > tx.now || but.includes(client)) continue
        const asked = tx.get<QueuedInput>(INPUTS, document.id)?.value
        if (asked === undefined) {
          drop(tx, document)
          continue
        }
        // Whoever comes from now on has no earlier turn.
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
      const document = tx.get<Queued>(QUEUED, id)
      if (document === undefined || (document.value.claimedUntil ?? 0) > tx.now) return false
      hold(tx, document)
      return true
    },
    release(tx, id) {
      const document = tx.get<Queued>(QUEUED, id)
      if (document !== undefined)
        tx.put(QUEUED, { ...document, value: { ...document.value, ...UNCLAIMED } }, { thing: id })
    },
    done(tx, id) {
      const document = tx.get<Queued>(QUEUED, id)
      if (document !== undefined) drop(tx, document)
    },
    forget(tx, owner, session) {
      const all = tx.list<Queued>(QUEUED, { partition: partitionOf(owner), limit: MANY })
      const isOf = ({ value: { record } }: Document<Queued>) =>
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

/** More than may wait. */
const MANY = 100_000

function useIn(tx: Reader, key: IdempotencyKey): KeyUse | undefined {
  const document = tx.get<KeyUse>(KEYS, key.id)
  if (document === undefined || (document.expiresAt ?? 0) <= tx.now) return undefined
  return checkUse(document.value, key)
}

function freeOf(tx: Transaction, runId: string): void {
  for (const { id } of tx.list(KEYS, { partition: runId, limit: LOOKS })) tx.delete(KEYS, id)
}

function withPosition(tx: Reader, queued: Queued): Queued {
  const before = tx.oldest<Queued>(QUEUED, MAX_POSITION)
  const at = before.findIndex(({ id }) => id === queued.record.id)
  return at === -1 ? queued : { ...queued, record: { ...queued.record, position: at + 1 } }
}

/** Keeps one from others for a while. */
function hold(tx: Transaction, document: Document<Queued>): void {
  const value = { ...document.value, claimedUntil: tx.now + CLAIM_MS }
  tx.put(QUEUED, { ...document, value }, { thing: document.id })
}

function drop(tx: Transaction, { id, value }: Document<Queued>): void {
  const lane = laneOf(value)
  tx.delete(QUEUED, id)
  tx.delete(INPUTS, id)
  tx.delete(LANES, `${id}/place`)
  if (tx.count(LANES, lane) === 0) tx.delete(LANES, lane)
  if (tx.count(QUEUED) === 0) for (let at = 0; at <= MAX_PRIORITY; at++) tx.delete(LANES, allOf(at))
}

function laneOf({ priority, client }: Pick<Queued, 'priority' | 'client'>): string {
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

/** The place in the line, from the first on. */
function rankOf({ priority, turn }: Queued, came: number): number {
  return (MAX_PRIORITY - priority) * PRIORITIES + turn * TURNS + (came % TURNS)
}
