/**
 * Stores, beside the record of a run, its request and each piece of its work as it is done. So the run can go on if its process
 * dies, or run again.
 *
 * @module
 */

import type { RunInput, RunOptions } from '../../agents/contract.ts'
import { hasKeys, withoutKeys } from '../../agents/redacted.ts'
import { NO_USAGE } from '../../agents/usage.ts'
import {
  type DoneWork,
  type Journal,
  type JournalEntry,
  type KeptWork,
  MAX_WORK_LENGTH,
  pathOf,
} from '../../agents/work/work.ts'
import { ServableError } from '../../base/errors.ts'
import { isObject } from '../../base/validation.ts'
import type { Reader, Transaction } from '../../stores/store.ts'
import type { Target } from '../target.ts'
import { type Continued, type RequestOptions, requestOptionsOf } from '../waiting/waiting.ts'

/** The collections: the requests of runs by the runs' ids, and the entries of journals, each in the partition of its run. */
export const REQUESTS = 'asked'
export const JOURNAL = 'journal'

/** The request of a run. JSON, without keys. */
export interface StoredRequest {
  readonly target: Pick<Target, 'kind' | 'name' | 'scope'>
  readonly input: RunInput
  readonly options: RequestOptions
  readonly client?: string | undefined
  readonly isBackground?: boolean | undefined
  readonly continues?: Continued | undefined
  /** The servable's version when the run began. */
  readonly version?: string | undefined
  /** Whether it has a journal and goes on if its process dies. */
  readonly resumes?: boolean | undefined
  /** Whether a client gave the key of a model's provider. No other key is used instead. */
  readonly usedKey?: boolean | undefined
  /** Whether it may run again, so that this is kept as long as the record. */
  readonly isKept?: boolean | undefined
  /** How many times its worker has died since its journal had so many entries. */
  readonly tries?: { readonly count: number; readonly entries: number } | undefined
  /** The run that goes on from this one, chosen when its owner resumed it. */
  readonly next?: string | undefined
}

/** The part of a request for a stored run that is stored. */
export interface KeptRequest extends Pick<StoredRequest, 'input' | 'client' | 'continues'> {
  readonly target: Target
  readonly options: RunOptions
  readonly isBackground: boolean
}

/** Makes the stored request; undefined if it is too large or not JSON. */
export function toStoredRequest(
  request: KeptRequest,
  resumes: boolean,
  isKept: boolean,
): StoredRequest | undefined {
  const { target, input, options, client, isBackground, continues } = request
  const { kind, name, scope, servable } = target
  const asked = {
    target: { kind, name, ...(scope !== undefined && { scope }) },
    input,
    options: requestOptionsOf(options),
    client,
    ...{ isBackground, continues, resumes, isKept },
    version: servable.version,
    usedKey: hasKeys(options),
  }
  try {
    const json = JSON.stringify(withoutKeys(asked, options))
    // The work that it goes on from may be as long as its input.
    return json.length > MAX_WORK_LENGTH * 2 ? undefined : (JSON.parse(json) as StoredRequest)
  } catch {
    return undefined
  }
}

/**
 * Stores the request of a run if it may be needed, in the transaction that starts the run. Returns whether the run may have a
 * journal.
 */
export function putRequest(
  tx: Transaction,
  id: string,
  request: KeptRequest,
  { resumes, keepsInput }: { readonly resumes: boolean; readonly keepsInput: boolean },
  thing: string = id,
): boolean {
  if (!resumes && !keepsInput) return false
  const asked = toStoredRequest(request, resumes, keepsInput)
  if (asked !== undefined) writeRequest(tx, id, asked, thing)
  return resumes && asked !== undefined
}

/** Writes the request of a run. A full store deletes it with the other parts of `thing`. */
export function writeRequest(tx: Transaction, id: string, asked: StoredRequest, thing: string = id): void {
  tx.put(REQUESTS, { id, partition: '', at: tx.now, tags: {}, value: asked }, { thing })
}

/** Reads the request of a run; undefined if it is not stored. */
export function requestIn(tx: Reader, id: string): StoredRequest | undefined {
  return tx.get<StoredRequest>(REQUESTS, id)?.value
}

/** The error if the input of a run is requested but not stored. */
export function inputNotKept(): ServableError {
  const text = 'The input of the run is not kept: with `runs.keepInput` those of stored runs are'
  return new ServableError('input_not_kept', text)
}

/** Reads the work of a run from its journal. */
export function workIn(tx: Reader, id: string, asked: StoredRequest): KeptWork {
  return workOf(entriesIn(tx, id), asked)
}

/**
 * The request with the work up to the end of a step or a tool call, for another run. That run says all of it again, and its later work
 * has idempotency keys of its own.
 */
export function takingOver(tx: Reader, id: string, asked: StoredRequest, from: string): StoredRequest {
  const entries = entriesIn(tx, id)
  if (entries.length === 0) {
    const text = 'The work of the run is not kept: with `runs.keepJournal` that of runs that go on is'
    throw new ServableError('not_resumable', text)
  }
  const last = entries.findIndex(entry => isEndOf(entry, from))
  if (last === -1) {
    throw new ServableError(
      'invalid_body',
      '`from`: the run has no record of a step or a tool call with this id that is done',
    )
  }
  const { done: all, answered, states: kept } = withoutParts(workOf(entries.slice(0, last + 1), asked))
  const done = all.map(each => (each.kind === 'call' ? { ...each, value: unpaid(each.value) } : each))
  const states = Object.fromEntries(Object.entries(kept).flatMap(takenState))
  const { answers = [] } = asked.continues ?? {}
  return { ...asked, continues: { answers, work: { done, answered, states, isCut: true } } }
}

/**
 * A state as another run takes it over. Calls and sleeps that had begun are left out, since that run begins its own, and so is text that
 * was sent before a wait, since it says all again. States of agents stay: their paths are empty or end with a slash.
 */
function takenState([path, state]: readonly [string, unknown]): readonly (readonly [string, unknown])[] {
  if (path === '' || path.endsWith('/')) return [[path, state]]
  const isBegun = 'begun' in Object(state) || 'times' in Object(state)
  return isBegun || typeof state === 'number' || typeof state === 'string' ? [] : [[path, unpaid(state)]]
}

/** What a call gave, without its usage: the run that made the call has counted it. */
function unpaid(value: unknown): unknown {
  return isObject(value) && 'usage' in value ? { ...value, usage: NO_USAGE } : value
}

/** Whether work of this id is done with an entry: a step, by its path, or a call of a model's tool. */
function isEndOf({ done, states = {} }: JournalEntry, id: string): boolean {
  if (done?.path === id) return done.error === undefined
  return Object.values(states).some(state => {
    const { result, eventId = Object(result).toolCallId } = Object(state)
    return result !== undefined && eventId === id
  })
}

function entriesIn(tx: Reader, id: string): readonly JournalEntry[] {
  const entries = tx.list<JournalEntry>(JOURNAL, { partition: id, limit: MAX_ENTRIES })
  return entries.map(({ value }) => value).reverse()
}

function workOf(entries: readonly JournalEntry[], { continues }: StoredRequest): KeptWork {
  const before = continues?.work
  const done = entries.flatMap(entry => entry.done ?? [])
  return {
    first: before?.first,
    done: [...(before?.done ?? []), ...done],
    answered: before?.answered ?? [],
    states: Object.assign({}, before?.states, ...entries.map(entry => entry.states)),
    isCut: true,
    told: before?.isCut ? before.told : before && pathsOf(before),
  }
}

function pathsOf({ done, answered }: KeptWork): readonly string[] {
  return [...done.map(({ path }) => path), ...answered.map(({ request }) => pathOf(request))]
}

const MAX_ENTRIES = 1_000_000

/** Removes parts of completed work: the result of the whole includes them. */
export function withoutParts(work: KeptWork): KeptWork {
  const paths = new Set(work.done.map(({ path }) => path))
  const isPart = ({ path }: DoneWork) => {
    for (let at = path.indexOf('/'); at !== -1; at = path.indexOf('/', at + 1))
      if (paths.has(path.slice(0, at))) return true
    return false
  }
  return { ...work, done: work.done.filter(each => !isPart(each)) }
}

/**
 * Deletes a journal, and its run's request unless that is kept or still needed. `entries` are the most that it has; if they are
 * unknown, they are read.
 */
export function forgetJournal(
  tx: Transaction,
  id: string,
  {
    keepsAsked = false,
    entries,
  }: { readonly keepsAsked?: boolean; readonly entries?: number | undefined } = {},
): void {
  const asked = tx.get<StoredRequest>(REQUESTS, id)?.value
  if (asked === undefined) return
  if (!keepsAsked || asked.isKept !== true) tx.delete(REQUESTS, id)
  const ids =
    entries === undefined
      ? tx.list(JOURNAL, { partition: id, limit: MAX_ENTRIES }).map(entry => entry.id)
      : Array.from({ length: entries }, (_, index) => entryId(id, index + 1))
  for (const entry of ids) tx.delete(JOURNAL, entry)
}

/** Ends the journal of a run that can no longer go on but may run again. */
export function endJournal(tx: Transaction, id: string, thing: string = id): void {
  forgetJournal(tx, id, { keepsAsked: true })
  const asked = requestIn(tx, id)
  if (asked !== undefined) writeRequest(tx, id, { ...asked, resumes: false }, thing)
}

/** Counts a death of a run's worker, and returns the number of deaths without progress in between. */
export function countDeath(tx: Transaction, id: string, asked: StoredRequest, thing: string): number {
  const entries = tx.count(JOURNAL, id)
  const { tries } = asked
  const count = tries?.entries === entries ? tries.count + 1 : 1
  writeRequest(tx, id, { ...asked, tries: { count, entries } }, thing)
  return count
}

/** The id of an entry. */
function entryId(id: string, at: number): string {
  return `${id}/${at}`
}

/** The journal of a run at work here. */
export interface StoredJournal extends Journal {
  /** The most entries that it has. Some of them may not be stored. */
  readonly most: number
}

/** The options of a journal. */
export interface JournalOptions {
  readonly id: string
  /** A full store deletes its entries with the other parts of this. */
  readonly thing: string
  /** Whether this worker still has the run. */
  readonly isOurs: (tx: Transaction) => boolean
  /** The options of the run, with its keys. */
  readonly options: RunOptions
  /** The number of entries already in the journal. */
  readonly entries: number
  /** Writes together with the run's output: with `mayWait` soon, or else now. */
  keep(write: (tx: Transaction) => boolean, mayWait?: boolean): Promise<void>
  /** Writes what waits, now. */
  flush(): void
}

/**
 * Makes the journal of a run. If an entry is not JSON or exceeds the limit, the journal ends: the run continues but cannot go on
 * later.
 */
export function createJournal({
  id,
  thing,
  isOurs,
  options,
  entries,
  keep,
  flush,
}: JournalOptions): StoredJournal {
  let count = entries
  let length = 0
  let hasEnded = false
  const jsonOf = (entry: JournalEntry): string | undefined => {
    try {
      const json = JSON.stringify(withoutKeys(entry, options))
      length += json.length
      return length > MAX_WORK_LENGTH ? undefined : json
    } catch {
      return undefined
    }
  }
  return {
    get most() {
      return count
    },
    flush,
    async write(entry, mayWait) {
      if (hasEnded) return
      const json = jsonOf(entry)
      if (json === undefined) {
        hasEnded = true
        return keep(tx => {
          if (!isOurs(tx)) return false
          endJournal(tx, id, thing)
          return true
        })
      }
      const at = ++count
      const value: JournalEntry = JSON.parse(json)
      return keep(tx => {
        if (!isOurs(tx)) return false
        tx.put(JOURNAL, { id: entryId(id, at), partition: id, at, tags: {}, value }, { thing })
        return true
      }, mayWait)
    },
  }
}
