/**
 * What is kept of a stored run beside its record, so that it can go on if its process dies, or run again: what it was asked with,
 * and its work, each piece as it is done.
 *
 * @module
 */

import type { RunInput, RunOptions } from '../../agents/contract.ts'
import { hasKeys, withoutKeys } from '../../agents/redacted.ts'
import {
  type DoneWork,
  type Journal,
  type JournalEntry,
  type KeptWork,
  MAX_WORK_LENGTH,
  pathOf,
} from '../../agents/work/work.ts'
import { ServableError } from '../../base/errors.ts'
import type { Reader, Transaction } from '../../stores/store.ts'
import type { Target } from '../target.ts'
import { type AskedWith, askedWith, type Continued } from '../waiting/waiting.ts'
import { isRunOf } from './record.ts'

/** The collections: what runs were asked with, by their ids, and the entries of journals, each in the partition of its run. */
export const ASKED = 'asked'
export const JOURNAL = 'journal'

/** What a run was asked with. JSON, without keys. */
export interface Asked {
  readonly target: Pick<Target, 'kind' | 'name' | 'scope'>
  readonly input: RunInput
  readonly options: AskedWith
  readonly client?: string | undefined
  readonly isBackground?: boolean | undefined
  readonly continues?: Continued | undefined
  /** The servable's, when the run began. */
  readonly version?: string | undefined
  /** It has a journal, and goes on if its process dies. */
  readonly resumes?: boolean | undefined
  /** A client gave the key of a model's provider. Nobody else's is used instead. */
  readonly usedKey?: boolean | undefined
  /** It may run again: this is kept as long as the record. */
  readonly isKept?: boolean | undefined
  /** How often its worker has died since its journal had so many entries. */
  readonly tries?: { readonly count: number; readonly entries: number } | undefined
  /** The run that goes on from this one: chosen when its owner asked for it. */
  readonly next?: string | undefined
}

/** A request for a stored run, as far as it is kept. */
export interface KeptRequest extends Pick<Asked, 'input' | 'client' | 'continues'> {
  readonly target: Target
  readonly options: RunOptions
  readonly isBackground: boolean
}

/** What is kept of a request; undefined for what is too large or is no JSON. */
export function toAsked(request: KeptRequest, resumes: boolean, isKept: boolean): Asked | undefined {
  const { target, input, options, client, isBackground, continues } = request
  const { kind, name, scope, servable } = target
  const asked = {
    target: { kind, name, ...(scope !== undefined && { scope }) },
    input,
    options: askedWith(options),
    client,
    ...{ isBackground, continues, resumes, isKept },
    version: servable.version,
    usedKey: hasKeys(options),
  }
  try {
    const json = JSON.stringify(withoutKeys(asked, options))
    // As much for what it goes on from as for its input.
    return json.length > MAX_WORK_LENGTH * 2 ? undefined : (JSON.parse(json) as Asked)
  } catch {
    return undefined
  }
}

/**
 * Keeps what a run is asked with, where anyone may need it: in the transaction that starts the run. Gives whether the run may have a
 * journal.
 */
export function putAsked(
  tx: Transaction,
  id: string,
  request: KeptRequest,
  { resumes, keepsInput }: { readonly resumes: boolean; readonly keepsInput: boolean },
): boolean {
  if (!resumes && !keepsInput) return false
  const asked = toAsked(request, resumes, keepsInput)
  if (asked !== undefined) writeAsked(tx, id, asked)
  return resumes && asked !== undefined
}

/** Writes what a run was asked with. */
export function writeAsked(tx: Transaction, id: string, asked: Asked): void {
  tx.put(ASKED, { id, partition: '', at: tx.now, tags: {}, value: asked }, { thing: id })
}

/** What a run was asked with, where that is kept. */
export function askedIn(tx: Reader, id: string): Asked | undefined {
  return tx.get<Asked>(ASKED, id)?.value
}

/** What is said of a run whose input is asked for, and not kept. */
export function inputNotKept(): ServableError {
  const text = 'The input of the run is not kept: with `runs.keepInput` those of stored runs are'
  return new ServableError('input_not_kept', text)
}

/** The work of a run, as far as its journal has it. */
export function workIn(tx: Reader, id: string, { continues }: Asked): KeptWork {
  const entries = tx.list<JournalEntry>(JOURNAL, { partition: id, limit: MAX_ENTRIES }).reverse()
  const before = continues?.work
  const done = entries.flatMap(({ value }) => value.done ?? [])
  return {
    first: before?.first,
    done: [...(before?.done ?? []), ...done],
    answered: before?.answered ?? [],
    states: Object.assign({}, before?.states, ...entries.map(({ value }) => value.states)),
    isCut: true,
    told: before?.isCut ? before.told : before && pathsOf(before),
  }
}

function pathsOf({ done, answered }: KeptWork): readonly string[] {
  return [...done.map(({ path }) => path), ...answered.map(({ request }) => pathOf(request))]
}

const MAX_ENTRIES = 1_000_000

/** The same without parts: the result of the whole stands for them. */
export function withoutParts(work: KeptWork): KeptWork {
  const paths = new Set(work.done.map(({ path }) => path))
  const isPart = ({ path }: DoneWork) => {
    for (let at = path.indexOf('/'); at !== -1; at = path.indexOf('/', at + 1))
      if (paths.has(path.slice(0, at))) return true
    return false
  }
  return { ...work, done: work.done.filter(each => !isPart(each)) }
}

/** Deletes a journal, and what its run was asked with, unless that is to be kept or all of it is needed. */
export function forgetJournal(tx: Transaction, id: string, keepsAsked = false): void {
  const asked = tx.get<Asked>(ASKED, id)?.value
  if (asked === undefined) return
  if (!keepsAsked || asked.isKept !== true) tx.delete(ASKED, id)
  for (const { id: entry } of tx.list(JOURNAL, { partition: id, limit: MAX_ENTRIES }))
    tx.delete(JOURNAL, entry)
}

/** The same of a run that cannot go on any more, and may run again. */
export function endJournal(tx: Transaction, id: string): void {
  forgetJournal(tx, id, true)
  const asked = askedIn(tx, id)
  if (asked !== undefined) writeAsked(tx, id, { ...asked, resumes: false })
}

/** Counts that the worker of a run has died, and gives how often that was with no progress in between. */
export function countDeath(tx: Transaction, id: string, asked: Asked): number {
  const entries = tx.count(JOURNAL, id)
  const { tries } = asked
  const count = tries?.entries === entries ? tries.count + 1 : 1
  writeAsked(tx, id, { ...asked, tries: { count, entries } })
  return count
}

/** What a journal is written with. */
export interface JournalOptions {
  readonly id: string
  /** The worker whose run it is. */
  readonly instance: string
  /** The options of the run, with its keys. */
  readonly options: RunOptions
  /** Entries that there are already. */
  readonly entries: number
  /** Writes with what the run has said. */
  keep(write: (tx: Transaction) => boolean): Promise<void>
}

/** Makes the journal of a run. Past its bound, or with what is no JSON, it ends: the run cannot go on then, and is not disturbed. */
export function createJournal({ id, instance, options, entries, keep }: JournalOptions): Journal {
  let count = entries
  let length = 0
  let hasEnded = false
  const isOurs = (tx: Transaction) => isRunOf(tx, id, instance) && !tx.isSealed(id)
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
    async write(entry) {
      if (hasEnded) return
      const json = jsonOf(entry)
      if (json === undefined) {
        hasEnded = true
        return keep(tx => {
          if (!isOurs(tx)) return false
          endJournal(tx, id)
          return true
        })
      }
      const at = ++count
      const value: JournalEntry = JSON.parse(json)
      return keep(tx => {
        if (!isOurs(tx)) return false
        tx.put(JOURNAL, { id: `${id}/${at}`, partition: id, at, tags: {}, value }, { thing: id })
        return true
      })
    },
  }
}
