/**
 * The data about files: each file of an owner is stored once, with its references. It is deleted with the last reference.
 *
 * @module
 */

import type { SessionKey } from '../../agents/memory.ts'
import { ServableError } from '../../base/errors.ts'
import type { Transactions } from '../../core/transaction-calls.ts'
import { idOf as sessionIdOf, thingOf } from '../../runs/sessions/session-record.ts'
import { RUNS } from '../../runs/stored/record.ts'
import type { Document, Reader, Transaction } from '../../stores/store.ts'
import { runOfTurn, type TurnFile } from './address.ts'
import {
  FILES,
  type FileMetadata,
  LEFT_OVER,
  OWNERS,
  PIECES,
  REFERENCES,
  type Reference,
  referrerOf,
  type StoredFile,
} from './documents.ts'
import { made } from './made.ts'

/** A reference of a turn that may be deleted. */
export interface DueTurn {
  /** The id of the reference. */
  readonly id: string
  readonly session: SessionKey
  readonly runId: string
}

/** A file with the metadata of a reference. */
export interface FoundFile extends FileMetadata, Omit<StoredFile, 'isComplete'> {
  /** The partition of its owner. */
  readonly owner: string
}

/** A file to store, and the reference to it. */
export interface NewFile extends Omit<StoredFile, 'isComplete'>, FileMetadata {
  readonly fileId: string
  /** The partition of its owner. */
  readonly owner: string
  /** The referrer. */
  readonly refId: string
  readonly place: string
  readonly session: SessionKey | undefined
  /** The time by which the referring run is certainly deleted, or the turn may be. */
  readonly expiresAt: number
  /** Its first pieces. A small file has no others. */
  readonly first: readonly string[]
  /** Most bytes of the owner. */
  readonly maxBytes: number
}

/** The type of {@link FILE_TRANSACTIONS}. */
export interface FileTransactions extends Transactions {
  readonly reads: {
    /** The file of a reference. Undefined if there is none or it is incomplete. */
    readonly find: (tx: Reader, refId: string, partKey: string) => FoundFile | undefined
    readonly pieces: (tx: Reader, name: string, from: number, count: number) => readonly string[]
    /** A page of the files that runs of an owner made, newest first. */
    readonly made: typeof made
    /** Turns whose references must be renewed or dropped. */
    readonly due: (tx: Reader) => readonly DueTurn[]
    readonly leftOver: (tx: Reader) => readonly string[]
  }
  readonly writes: {
    /** Writes the reference first, so that the file is found and deleted even if storing it fails. Throws `state_full`. */
    readonly begin: (tx: Transaction, file: NewFile) => Pick<StoredFile, 'name' | 'isComplete' | 'pieces'>
    /** False if the file is deleted. */
    readonly add: (tx: Transaction, file: PieceOf, from: number, pieces: readonly string[]) => boolean
    readonly complete: (tx: Transaction, file: PieceOf) => boolean
    /** Adds references from another session to files of turns, if that owner owns them. */
    readonly share: (tx: Transaction, files: readonly TurnFile[], owner: string, session: SessionKey) => void
    /** Drops one reference. */
    readonly drop: (tx: Transaction, refId: string, partKey: string) => void
    /** Drops all references of a referrer. */
    readonly forget: (tx: Transaction, refId: string) => void
    /** Drops the references of turns of one session. */
    readonly forgetTurns: (tx: Transaction, refIds: readonly string[], session: SessionKey) => void
    /** Deletes some files of an owner, despite references. Returns their number. */
    readonly forgetOwner: (tx: Transaction, owner: string) => number
    /** Extends a reference of a turn until a time. Without a time, the turn is deleted and the reference is dropped. */
    readonly renew: (tx: Transaction, id: string, until?: number) => void
    /** Drops expired references of runs. Returns whether there are more. */
    readonly sweep: (tx: Transaction) => boolean
    /**
     * For a store that evicts runs without notice: deletes files without references, and binds each other file to a run that
     * refers to it. It checks the oldest files, which then count as the newest.
     */
    readonly tidy: (tx: Transaction) => void
    /** Removes the name of a leftover file, or schedules the next try if it could not be deleted. */
    readonly swept: (tx: Transaction, name: string, isGone: boolean) => void
  }
}

/** The file that is written, and its referrer. */
export type PieceOf = Pick<NewFile, 'fileId' | 'name' | 'refId' | 'session' | 'pieces'>

/** Most documents of one read, and most files of an owner that one transaction deletes: each may have many pieces. */
const AT_ONCE = 100
const FORGOTTEN_AT_ONCE = 10

/** Milliseconds after which data that may have changed without notice is counted or checked again. */
const AGAIN_MS = 60_000
const HOUR_MS = 3_600_000

/** The transactions of files. */
export const FILE_TRANSACTIONS: FileTransactions = {
  expiring: [REFERENCES, LEFT_OVER],
  reads: {
    find(tx, refId, partKey) {
      const reference = referenceAt(tx, refId, partKey)
      const file = reference && tx.get<StoredFile>(FILES, reference.fileId)
      if (reference === undefined || !file?.value.isComplete) return undefined
      const { mimeType, filename } = reference
      const { name, digest, size, pieces } = file.value
      return { name, digest, size, pieces, mimeType, filename, owner: file.partition }
    },
    pieces(tx, name, from, count) {
      const indexes = Array.from({ length: count }, (_, index) => from + index)
      return indexes.flatMap(index => tx.get<string>(PIECES, pieceId(name, index))?.value ?? [])
    },
    made,
    due: tx =>
      tx.expired<Reference>(REFERENCES, tx.now, AT_ONCE).flatMap(({ id, value: { session } }) => {
        return session === undefined ? [] : [{ id, session, runId: runOfTurn(referrerOf(id)) }]
      }),
    leftOver: tx => tx.expired(LEFT_OVER, tx.now, AT_ONCE).map(({ id }) => id),
  },
  writes: {
    begin(tx, file) {
      const { fileId, refId, place: partKey, session, mimeType, filename, expiresAt, first, pieces } = file
      const before = usable(tx, fileId, pieces)
      const { name, isComplete } = before ?? addFile(tx, file)
      const reference: Reference = { fileId, mimeType, filename, ...(session && { session }) }
      replace(tx, idOf(refId, partKey), fileId, () => {
        const document = { id: idOf(refId, partKey), partition: fileId, at: tx.now, tags: {}, expiresAt }
        tx.put(REFERENCES, { ...document, value: reference }, { thing: thingFor(file) })
      })
      if (before?.isComplete !== true) putPieces(tx, { ...file, name }, 0, first)
      return { name, isComplete, pieces: before?.pieces ?? pieces }
    },
    add(tx, file, from, pieces) {
      if (tx.get<StoredFile>(FILES, file.fileId)?.value.name !== file.name) return false
      putPieces(tx, file, from, pieces)
      return true
    },
    complete(tx, { fileId, name, refId, session, pieces }) {
      const document = tx.get<StoredFile>(FILES, fileId)
      if (document?.value.name !== name) {
        if (pieces === 0) deleteLater(tx, name)
        return false
      }
      tx.put(
        FILES,
        { ...document, value: { ...document.value, isComplete: true } },
        { thing: thingFor({ refId, session }) },
      )
      return true
    },
    share(tx, files, owner, session) {
      for (const { refId, place: partKey } of files) {
        const value = referenceAt(tx, refId, partKey)
        if (value === undefined || tx.get(FILES, value.fileId)?.partition !== owner) continue
        const id = sharedId(idOf(refId, partKey), session.sessionId)
        const about = { id, partition: value.fileId, at: tx.now, tags: {}, expiresAt: tx.now + HOUR_MS }
        const document: Document<Reference> = { ...about, value: { ...value, session } }
        tx.put(REFERENCES, document, { thing: thingIn(document) })
      }
    },
    drop: (tx, refId, partKey) => replace(tx, idOf(refId, partKey), undefined, () => {}),
    forget(tx, refId) {
      let found: string[]
      do {
        found = tx.withPrefix<Reference>(REFERENCES, idOf(refId, ''), 10 * AT_ONCE).map(({ id }) => id)
        for (const id of found) replace(tx, id, undefined, () => {})
      } while (found.length > 0)
    },
    forgetTurns(tx, refIds, session) {
      const sessionId = sessionIdOf(session)
      for (const refId of refIds) {
        for (const { id, value } of tx.withPrefix<Reference>(REFERENCES, idOf(refId, ''), 10 * AT_ONCE)) {
          const { session: own } = value
          if (own !== undefined && sessionIdOf(own) === sessionId) replace(tx, id, undefined, () => {})
        }
      }
    },
    forgetOwner(tx, owner) {
      const files = tx.list<StoredFile>(FILES, { partition: owner, limit: FORGOTTEN_AT_ONCE })
      for (const { id } of files) {
        let references: Document[]
        do {
          references = tx.oldest(REFERENCES, AT_ONCE, id)
          for (const each of references) tx.delete(REFERENCES, each.id)
        } while (references.length > 0)
        deleteFile(tx, id)
      }
      if (files.length === 0) tx.delete(OWNERS, owner)
      return files.length
    },
    renew(tx, id, expiresAt) {
      const document = tx.get<Reference>(REFERENCES, id)
      if (document === undefined) return
      if (expiresAt === undefined) replace(tx, id, undefined, () => {})
      else tx.put(REFERENCES, { ...document, expiresAt }, { thing: thingIn(document) })
    },
    sweep(tx) {
      const expired = tx.expired<Reference>(REFERENCES, tx.now, AT_ONCE)
      for (const document of expired) {
        const { id, value } = document
        if (value.session !== undefined) continue
        const refId = referrerOf(id)
        // Clock changes, or a crashed process that is not detected yet, may have kept the run for longer.
        if (tx.get(RUNS, refId) === undefined) replace(tx, id, undefined, () => {})
        else tx.put(REFERENCES, { ...document, expiresAt: tx.now + HOUR_MS }, { thing: refId })
      }
      return expired.length === AT_ONCE
    },
    tidy(tx) {
      for (const document of tx.oldest<StoredFile>(FILES, AT_ONCE)) {
        if (document.at > tx.now - HOUR_MS) return
        const [reference] = tx.oldest<Reference>(REFERENCES, 1, document.id)
        if (reference === undefined) deleteFile(tx, document.id)
        else moveTo(tx, document, thingIn(reference))
      }
    },
    swept(tx, name, isGone) {
      if (isGone) tx.delete(LEFT_OVER, name)
      else deleteLater(tx, name, AGAIN_MS)
    },
  },
}

function idOf(refId: string, partKey: string): string {
  return `${refId}/${partKey}`
}

/** Separates the references of several sessions to one file of a turn. */
const SHARED = '~'

/** The id of the reference of another session. */
function sharedId(id: string, sessionId: string): string {
  return id + SHARED + sessionId
}

/** The reference at a position, of any session. */
function referenceAt(tx: Reader, refId: string, partKey: string): Reference | undefined {
  const id = idOf(refId, partKey)
  const shared = () => tx.withPrefix<Reference>(REFERENCES, sharedId(id, ''), 1)[0]
  return (tx.get<Reference>(REFERENCES, id) ?? shared())?.value
}

/** The thing with which a part of a file is evicted from a full store. */
function thingFor({ refId, session }: Pick<NewFile, 'refId' | 'session'>): string {
  return session === undefined ? refId : thingOf(sessionIdOf(session))
}

function thingIn({ id, value }: Document<Reference>): string {
  return thingFor({ refId: referrerOf(id), session: value.session })
}

function pieceId(name: string, index: number): string {
  return `${name}.${index}`
}

/** Changes a reference. Deletes the file of the old one if that was the last reference to it. */
function replace(tx: Transaction, id: string, fileId: string | undefined, put: () => void): void {
  const before = tx.get<Reference>(REFERENCES, id)?.value
  if (fileId === undefined) tx.delete(REFERENCES, id)
  else put()
  if (before === undefined || before.fileId === fileId) return
  if (tx.oldest(REFERENCES, 1, before.fileId).length === 0) deleteFile(tx, before.fileId)
}

/** The stored file if it can be used. An incomplete file in the wrong place, state or custom store, is stored anew. */
function usable(tx: Transaction, fileId: string, pieces: number): StoredFile | undefined {
  const file = tx.get<StoredFile>(FILES, fileId)?.value
  if (file === undefined || file.isComplete || file.pieces === pieces) return file
  deleteFile(tx, fileId)
  return undefined
}

function addFile(tx: Transaction, file: NewFile): StoredFile {
  const { fileId, owner, name, digest, size, pieces, first, maxBytes } = file
  const used = usedBy(tx, owner, maxBytes - size)
  if (used + size > maxBytes) {
    throw new ServableError(
      'state_full',
      `The files of this owner have ${used} bytes: with ${size} more they would have more than ${maxBytes}`,
    )
  }
  countFor(tx, owner, used + size)
  const isComplete = pieces > 0 && pieces === first.length
  const value: StoredFile = { name, digest, size, pieces, isComplete }
  tx.put(FILES, { id: fileId, partition: owner, at: tx.now, tags: {}, value }, { thing: thingFor(file) })
  return value
}

/** The counted bytes of an owner. A bounded store may evict files with their run without notice, so the count may be too high. */
interface Count {
  readonly bytes: number
  readonly countedAt: number
}

/** Bytes of an owner. They are counted again if there seems to be no room, but not each time. */
function usedBy(tx: Transaction, owner: string, most: number): number {
  const count = tx.get<Count>(OWNERS, owner)?.value
  if (count !== undefined && (count.bytes <= most || tx.now - count.countedAt < AGAIN_MS)) return count.bytes
  let bytes = 0
  const query = { partition: owner, limit: 10 * AT_ONCE }
  let page = tx.list<StoredFile>(FILES, query)
  while (page.length > 0) {
    for (const { value } of page) bytes += value.size
    page = tx.list<StoredFile>(FILES, { ...query, after: page.at(-1) })
  }
  countFor(tx, owner, bytes, tx.now)
  return bytes
}

function countFor(tx: Transaction, owner: string, bytes: number, countedAt?: number): void {
  const before = tx.get<Count>(OWNERS, owner)?.value
  if (bytes <= 0) return tx.delete(OWNERS, owner)
  const value: Count = { bytes, countedAt: countedAt ?? before?.countedAt ?? tx.now }
  tx.put(OWNERS, { id: owner, partition: '', at: tx.now, tags: {}, value }, { leaves: 'alone' })
}

function deleteFile(tx: Transaction, fileId: string): void {
  const document = tx.get<StoredFile>(FILES, fileId)
  if (document === undefined) return
  const { partition, value } = document
  tx.delete(FILES, fileId)
  const count = tx.get<Count>(OWNERS, partition)?.value
  if (count !== undefined) countFor(tx, partition, count.bytes - value.size)
  if (value.pieces === 0) deleteLater(tx, value.name)
  for (let index = 0; index < value.pieces; index++) tx.delete(PIECES, pieceId(value.name, index))
}

/** Binds a file to another run or session, with which it is evicted. */
function moveTo(tx: Transaction, document: Document<StoredFile>, thing: string): void {
  const { name, pieces } = document.value
  tx.put(FILES, { ...document, at: tx.now }, { thing })
  for (let index = 0; index < pieces; index++) {
    const piece = tx.get<string>(PIECES, pieceId(name, index))
    if (piece !== undefined) tx.put(PIECES, piece, { thing })
  }
}

function putPieces(
  tx: Transaction,
  { name, refId, session }: PieceOf,
  from: number,
  pieces: readonly string[],
): void {
  const thing = thingFor({ refId, session })
  for (const [index, value] of pieces.entries()) {
    const id = pieceId(name, from + index)
    tx.put(PIECES, { id, partition: name, at: tx.now, tags: {}, value }, { thing })
  }
}

/** Schedules the deletion of a file from a custom store: at once, or in so many milliseconds. */
function deleteLater(tx: Transaction, name: string, inMs = 0): void {
  const at = tx.now
  tx.put(LEFT_OVER, { id: name, partition: '', at, tags: {}, value: null, expiresAt: at + inMs })
}
