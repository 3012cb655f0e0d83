/**
 * How much is stored of the states of one session. Past a limit the oldest states are deleted, with the parts that no other state names.
 *
 * @module
 */

import { type KeptState, partName } from '../../agents/states.ts'
import { ServableError } from '../../base/errors.ts'
import type { Document, Reader, Transaction } from '../../stores/store.ts'
import { lengthOf, PARTS, SPACES, STATES, thingOf } from './session-record.ts'

/** The most states of a session, and how many more there may be until they are deleted together. */
export const MAX_STATES = 1000
const SLACK = 100

/** The most characters of the states of a session. */
export const MAX_STATES_LENGTH: number = 64 * 1024 * 1024

/** The newest states, which are never deleted for their number. */
const NEWEST = 100

/** A state with the space in which it is stored. */
export interface StoredState extends KeptState {
  readonly in: string
}

/** What is stored of all states of a session. */
export interface StateHead {
  /** Changes when parts are deleted. */
  readonly edition: number
  /** The sequence number of the next state. */
  readonly next: number
  readonly count: number
  readonly length: number
}

export function lengthOfPart(name: string): number {
  return Number.parseInt(name.slice(name.lastIndexOf('.') + 1), 36)
}

/** Whether a part is a list of parts. */
function isList(name: string): boolean {
  return name.startsWith(LIST)
}

/** The kind of parts that list others. */
const LIST: string = partName('p', '', '').slice(0, 1)

/** Visits the parts of states, and the parts that these name, each once. */
export function walk(
  tx: Reader,
  id: string,
  states: readonly KeptState[],
  visit: (name: string, text: string | undefined) => void,
  isNeeded: (name: string) => boolean = () => true,
): void {
  const seen = new Set<string>()
  let names = states.flatMap(({ parts, writes }) => [...parts, ...writes.flatMap(write => write.parts)])
  while (names.length > 0) {
    const inner: string[] = []
    for (const name of names) {
      if (seen.has(name)) continue
      seen.add(name)
      const text = isNeeded(name) ? tx.get<string>(PARTS, `${id}/${name}`)?.value : undefined
      visit(name, text)
      if (text !== undefined && isList(name)) inner.push(...(JSON.parse(text) as string[]))
    }
    names = inner
  }
}

/** Deletes the oldest states if there are too many. Throws `run_too_large` if the newest ones alone are too large. */
export function pruned(tx: Transaction, id: string, head: StateHead): StateHead {
  const isFull = head.length > MAX_STATES_LENGTH
  if (!isFull && head.count <= MAX_STATES + SLACK) return head
  const all = tx.list<StoredState>(STATES, { partition: id, limit: 2 * (MAX_STATES + SLACK) })
  let after = head
  for (let most = MAX_STATES; most >= 1; most = Math.floor(most / 2)) {
    after = drop(tx, id, after, excess(all, most))
    if (after.length <= MAX_STATES_LENGTH) return after
  }
  throw new ServableError(
    'run_too_large',
    `The states of a conversation take more than ${MAX_STATES_LENGTH} characters`,
  )
}

/** What leaves first: states in the middle of old runs, and then the oldest. */
function excess(newestFirst: readonly Document<StoredState>[], most: number): Document<StoredState>[] {
  const ends = new Set<string>()
  const [kept, middle] = [[] as Document<StoredState>[], [] as Document<StoredState>[]]
  newestFirst.forEach((document, at) => {
    const { run, in: space } = document.value
    const name = JSON.stringify([space, run])
    const isEnd = !ends.has(name)
    ends.add(name)
    if (at < NEWEST || isEnd) kept.push(document)
    else middle.push(document)
  })
  return [...kept, ...middle].slice(most)
}

/** Deletes states, and the parts that only they name. */
export function drop(
  tx: Transaction,
  id: string,
  head: StateHead,
  leaving: readonly Document<StoredState>[],
): StateHead {
  const gone = new Set(leaving.map(document => document.id))
  const there = leaving.filter(document => tx.get(STATES, document.id) !== undefined)
  if (there.length === 0) return head
  const all = tx.list<StoredState>(STATES, { partition: id, limit: 1_000_000 })
  const kept = all.filter(document => !gone.has(document.id))
  const live = new Set<string>()
  walk(tx, id, valuesOf(kept), name => live.add(name), isList)
  let { length } = head
  walk(
    tx,
    id,
    valuesOf(there),
    name => {
      if (live.has(name)) return
      tx.delete(PARTS, `${id}/${name}`)
      length -= lengthOfPart(name)
    },
    name => isList(name) && !live.has(name),
  )
  for (const document of there) {
    tx.delete(STATES, document.id)
    length -= lengthOf(document.value)
  }
  tellSpaces(tx, id, there, kept)
  return { ...head, edition: Math.max(head.edition + 1, tx.now), count: kept.length, length }
}

function valuesOf(documents: readonly Document<StoredState>[]): StoredState[] {
  return documents.map(({ value }) => value)
}

/** Writes anew which state is the newest one of each space from which one has left. */
function tellSpaces(
  tx: Transaction,
  id: string,
  left: readonly Document<StoredState>[],
  newestFirst: readonly Document<StoredState>[],
): void {
  for (const space of new Set(valuesOf(left).map(state => state.in))) {
    const spaceId = `${id}/${space}`
    const last = newestFirst.find(({ value }) => value.in === space && value.body !== undefined)?.value.id
    if (last === undefined) tx.delete(SPACES, spaceId)
    else if (tx.get<{ last: string }>(SPACES, spaceId)?.value.last !== last)
      tx.put(
        SPACES,
        { id: spaceId, partition: id, at: tx.now, tags: {}, value: { last } },
        { thing: thingOf(id) },
      )
  }
}
