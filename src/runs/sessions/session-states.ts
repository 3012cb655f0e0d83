/**
 * The states that frameworks keep of the conversation of a session, of each servable in it. They follow the branches of the session: the
 * newest state of a run is that of the last turn before it.
 *
 * @module
 */

import type { SessionKey } from '../../agents/memory.ts'
import {
  type FoundStates,
  type KeptState,
  OF_RUN,
  type StateParts,
  type StateQuery,
  type StateSide,
  type StateUpdate,
} from '../../agents/states.ts'
import { ServableError } from '../../base/errors.ts'
import type { Document, Position, Reader, Transaction } from '../../stores/store.ts'
import {
  forgetSession,
  idOf,
  LEASE_MS,
  lengthOf,
  PARTS,
  SESSIONS,
  type SessionSettings,
  SPACES,
  STATE_HEADS,
  STATES,
  save,
  sessionAt,
  thingOf,
} from './session-record.ts'
import { branchOf, entriesIn, isOf } from './session-tree.ts'
import { drop, lengthOfPart, pruned, type StateHead, type StoredState, walk } from './state-limits.ts'

/** States per read. */
const PAGE = 50

/** Milliseconds for which the states of a run without a session are kept after its end. */
const RELEASED_MS = 600_000

/** Reads states, with all parts that they name. */
export function readStates(tx: Reader, key: SessionKey, query: StateQuery, side: StateSide): FoundStates {
  checkCaller(tx, key, side)
  const id = idOf(key)
  const head = tx.get<StateHead>(STATE_HEADS, id)
  if (head === undefined || isOver(tx, key, head)) return { edition: undefined, states: [], parts: {} }
  const states = head === undefined ? [] : found(tx, key, query, side)
  return { edition: head.value.edition, states, parts: partsOf(tx, id, states) }
}

/** Throws `session_not_found`. Without an owner, whoever guesses the id would read what others said. */
function checkCaller(tx: Reader, key: SessionKey, { isCaller }: StateSide): void {
  if (isCaller && key.owner === null && !sessionAt(tx, key).about?.isGiven)
    throw new ServableError('session_not_found', 'There is no such session')
}

/** A session ends with its document, and a run without a session when its states expire. */
function isOver(tx: Reader, key: SessionKey, { expiresAt }: Document): boolean {
  const until = isOfRun(key) ? expiresAt : tx.get(SESSIONS, idOf(key))?.expiresAt
  return (until ?? 0) <= tx.now
}

function isOfRun({ place }: SessionKey): boolean {
  return place.length > 1 && place.at(-1) === OF_RUN
}

function found(tx: Reader, key: SessionKey, query: StateQuery, side: StateSide): readonly KeptState[] {
  const { space, id, list } = query
  if (list === undefined) {
    const one = id === undefined ? newest(tx, key, query, side) : stateAt(tx, key, space, id)
    return one?.body === undefined ? [] : [one]
  }
  const some: KeptState[] = []
  for (const state of statesIn(tx, key, space)) {
    if (some.length >= list.limit) break
    if (state.body !== undefined && (list.before === undefined || state.id < list.before)) some.push(state)
  }
  return some
}

/** The states of a space, newest first. */
function* statesIn(tx: Reader, key: SessionKey, space: string): Generator<StoredState> {
  if (tx.get(SPACES, spaceIdOf(key, space)) === undefined) return
  const own = spaceOf(key, space)
  let after: Position | undefined
  let page: Document<StoredState>[]
  do {
    page = tx.list<StoredState>(STATES, { partition: idOf(key), after, limit: PAGE })
    for (const { value } of page) if (value.in === own) yield value
    after = page.at(-1)
  } while (page.length === PAGE)
}

/** The newest state of the branch of a run; else of the one that counts. */
function newest(
  tx: Reader,
  key: SessionKey,
  { space, own }: StateQuery,
  { run, call }: StateSide,
): StoredState | undefined {
  const last = tx.get<{ last: string }>(SPACES, spaceIdOf(key, space))?.value.last
  const state = last === undefined ? undefined : stateAt(tx, key, space, last)
  if (state === undefined) return undefined
  const isOwn = (each: KeptState) => run !== undefined && each.run === run && each.call === call
  if (isOwn(state)) return state
  if (own !== undefined) {
    for (const each of statesIn(tx, key, space)) if (isOwn(each) && each.body !== undefined) return each
  }
  if (own === 'only') return undefined
  const branch = runsBefore(tx, key, run)
  return branch === undefined ? state : nearest(statesIn(tx, key, space), branch)
}

/** The runs of a branch, the last one first. Undefined if the session has one branch. */
function runsBefore(tx: Reader, key: SessionKey, run: string | undefined): string[] | undefined {
  const session = sessionAt(tx, key)
  if (session.branches === undefined && session.head === undefined) return undefined
  const all = entriesIn(tx, key, session)
  const own = run === undefined ? undefined : all.find(isOf(run))
  return [...branchOf(session, all, own?.seq ?? session.head)].flatMap(({ turn }) => turn?.runId ?? [])
}

/** The newest state of the last of these runs that has any. States that no run wrote come before all runs. */
function nearest(newestFirst: Iterable<StoredState>, branch: readonly string[]): StoredState | undefined {
  const places = new Map(branch.map((run, at) => [run, at]))
  let best: StoredState | undefined
  let bestAt = Number.POSITIVE_INFINITY
  for (const state of newestFirst) {
    const at = state.run === undefined ? branch.length : places.get(state.run)
    if (state.body === undefined || at === undefined || at >= bestAt) continue
    best = state
    bestAt = at
    if (at === 0) break
  }
  return best
}

/** The parts of states, and the parts that these name. */
function partsOf(tx: Reader, id: string, states: readonly KeptState[]): StateParts {
  const parts: Record<string, string> = {}
  walk(tx, id, states, (name, text) => {
    if (text !== undefined) parts[name] = text
  })
  return parts
}

/** Writes a state, or adds writes to it. */
export function writeState(
  tx: Transaction,
  key: SessionKey,
  { state, edition, parts }: StateUpdate,
  side: StateSide,
  settings: SessionSettings,
): number | undefined {
  checkCaller(tx, key, side)
  const id = idOf(key)
  if (!isThere(tx, key, side, settings)) return edition ?? 0
  const stored = tx.get<StateHead>(STATE_HEADS, id)?.value
  const isWhole = [state, ...state.writes].every(each => each.parts.every(name => name in parts))
  if (!isWhole && stored?.edition !== edition) return undefined
  const head = stored ?? { edition: tx.now, next: 1, count: 0, length: 0 }
  const length = head.length + putParts(tx, id, parts) + putState(tx, key, state, side, head)
  const isNew = head.next === (tx.get(STATES, stateIdOf(key, state.space, state.id))?.at ?? 0)
  const after = pruned(tx, id, { ...head, length, next: head.next + 1, count: head.count + (isNew ? 1 : 0) })
  putHead(tx, key, after, settings.sessionRetentionMs)
  return after.edition
}

/** Makes sure of the session. False if it was deleted while its run is at work. */
function isThere(
  tx: Transaction,
  key: SessionKey,
  { hasTurn }: StateSide,
  settings: SessionSettings,
): boolean {
  const id = idOf(key)
  if (isOfRun(key)) {
    const { expiresAt = Number.POSITIVE_INFINITY } = tx.get(STATE_HEADS, id) ?? {}
    if (expiresAt <= tx.now) forgetSession(tx, id)
    return true
  }
  const document = tx.get(SESSIONS, id)
  if (hasTurn && document === undefined) return false
  if (tx.now - (document?.at ?? 0) > LEASE_MS) save(tx, key, sessionAt(tx, key), settings)
  return true
}

/** Returns the characters of the parts that are new. */
function putParts(tx: Transaction, id: string, parts: StateParts): number {
  let length = 0
  for (const [name, value] of Object.entries(parts)) {
    const partId = `${id}/${name}`
    if (tx.get(PARTS, partId) !== undefined) continue
    tx.put(PARTS, { id: partId, partition: id, at: tx.now, tags: {}, value }, { thing: thingOf(id) })
    length += lengthOfPart(name)
  }
  return length
}

/** Returns by how many characters the stored state has grown. */
function putState(
  tx: Transaction,
  key: SessionKey,
  { space, id, parent, body, parts, writes }: StateUpdate['state'],
  { run, call }: StateSide,
  head: StateHead,
): number {
  const partition = idOf(key)
  const stateId = stateIdOf(key, space, id)
  const document = tx.get<StoredState>(STATES, stateId)
  const before = document?.value
  const ofParent = parent === undefined ? undefined : stateAt(tx, key, space, parent)
  const value: StoredState = {
    ...{ space, id, in: spaceOf(key, space) },
    // What is changed between two runs belongs to the earlier one.
    ...(before === undefined
      ? { run: run ?? ofParent?.run, call: run === undefined ? ofParent?.call : call }
      : before),
    ...(body === undefined ? { parts: before?.parts ?? [] } : { parent, body, parts }),
    writes: merged(before?.writes ?? [], writes),
  }
  const at = document?.at ?? head.next
  tx.put(STATES, { id: stateId, partition, at, tags: {}, value }, { thing: thingOf(partition) })
  if (body !== undefined && before?.body === undefined) {
    const spaceId = spaceIdOf(key, space)
    const about = { id: spaceId, partition, at: tx.now, tags: {}, value: { last: id } }
    tx.put(SPACES, about, { thing: thingOf(partition) })
  }
  return lengthOf(value) - (before === undefined ? 0 : lengthOf(before))
}

function merged(before: KeptState['writes'], writes: KeptState['writes']): KeptState['writes'] {
  const all = new Map(before.map(write => [write.key, write]))
  for (const write of writes) if (!(write.isFirm && all.has(write.key))) all.set(write.key, write)
  return [...all.values()]
}

function stateAt(tx: Reader, key: SessionKey, space: string, id: string): StoredState | undefined {
  return tx.get<StoredState>(STATES, stateIdOf(key, space, id))?.value
}

function spaceOf({ member = [] }: SessionKey, space: string): string {
  return JSON.stringify([...member, space])
}

function spaceIdOf(key: SessionKey, space: string): string {
  return `${idOf(key)}/${spaceOf(key, space)}`
}

function stateIdOf(key: SessionKey, space: string, id: string): string {
  return `${spaceIdOf(key, space)}/${id}`
}

/** Deletes the states of runs, whose turns are deleted. */
export function forgetStatesOf(tx: Transaction, key: SessionKey, runIds: readonly string[]): void {
  const id = idOf(key)
  const head = tx.get<StateHead>(STATE_HEADS, id)
  if (head === undefined) return
  const runs = new Set<string | undefined>(runIds)
  const all = tx.list<StoredState>(STATES, { partition: id, limit: 1_000_000 })
  const leaving = all.filter(({ value }) => value.run !== undefined && runs.has(value.run))
  putHead(tx, key, drop(tx, id, head.value, leaving), 0)
}

/** States to copy, with their parts. */
export interface CopiedStates {
  readonly states: readonly StoredState[]
  readonly parts: StateParts
}

/** The newest state of a branch: of the session's own servable, and with `isWhole` of its members too. */
export function copyStates(
  tx: Reader,
  key: SessionKey,
  branch: readonly string[],
  isWhole: boolean,
): CopiedStates | undefined {
  const id = idOf(key)
  if (tx.get(STATE_HEADS, id) === undefined) return undefined
  const all = tx.list<StoredState>(STATES, { partition: id, limit: 1_000_000 }).map(({ value }) => value)
  const own = all.filter(each => each.space === '' && (isWhole || each.in === spaceOf(key, '')))
  const states = [...new Set(own.map(each => each.in))].flatMap(name => {
    const found = nearest(
      own.filter(each => each.in === name),
      branch,
    )
    return found === undefined ? [] : [{ ...found, parent: undefined }]
  })
  return { states, parts: partsOf(tx, id, states) }
}

/** Writes copied states into a new session. */
export function pasteStates(tx: Transaction, key: SessionKey, { states, parts }: CopiedStates): void {
  const id = idOf(key)
  const eviction = { thing: thingOf(id) }
  let length = putParts(tx, id, parts)
  for (const [at, state] of states.entries()) {
    const place = { partition: id, tags: {} }
    tx.put(STATES, { ...place, id: `${id}/${state.in}/${state.id}`, at: at + 1, value: state }, eviction)
    tx.put(SPACES, { ...place, id: `${id}/${state.in}`, at: tx.now, value: { last: state.id } }, eviction)
    length += lengthOf(state)
  }
  const { length: count } = states
  putHead(tx, key, { edition: tx.now, next: count + 1, count, length }, 0)
}

/** Lets the states of a run without a session expire soon. A worker that takes the run over meanwhile still finds them. */
export function releaseStates(tx: Transaction, key: SessionKey): void {
  const head = tx.get<StateHead>(STATE_HEADS, idOf(key))
  if (isOfRun(key) && head !== undefined) putHead(tx, key, head.value, RELEASED_MS)
}

/** Deletes the states of a run without a session. */
export function forgetStates(tx: Transaction, key: SessionKey): void {
  if (isOfRun(key)) forgetSession(tx, idOf(key))
}

function putHead(tx: Transaction, key: SessionKey, value: StateHead, keptMs: number): void {
  const id = idOf(key)
  const isRun = isOfRun(key)
  const expiresAt = isRun ? tx.now + keptMs : undefined
  const eviction = { thing: thingOf(id), ...(isRun && { leaves: 'first' as const }) }
  tx.put(STATE_HEADS, { id, partition: id, at: tx.now, tags: {}, expiresAt, value }, eviction)
}
