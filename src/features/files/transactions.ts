/**
 * What is written down of files: each one of an owner once, and who refers to it. It is deleted with the last reference.
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

/** Files by their ids; a partition is an owner's. */
const FILES = 'file'
/** References: of whom, and where in it. A partition is a file's. */
export const REFERENCES = 'file-reference'
/** Pieces of files in base64. */
const PIECES = 'file-piece'
/** Bytes of each owner. */
const OWNERS = 'file-owner'
/** Names that are to be deleted from a store of somebody's own. */
export const LEFT_OVER = 'file-left-over'

/** Documents that one look finds at the most. */
const AT_ONCE = 100

/** Files of an owner that one transaction deletes: each may have many pieces. */
const FORGOTTEN_AT_ONCE = 10

/** Milliseconds after which what may have changed without a word is counted again, or looked at again. */
const AGAIN_MS = 60_000
const HOUR_MS = 3_600_000

/** A file, as it is stored. */
export interface StoredFile {
  /** Its name in a store of somebody's own, and of its pieces in the state. */
  readonly name: string
  /** SHA-256, in hexadecimal digits. */
  readonly digest: string
  readonly size: number
  /** How many pieces it has in the state; 0 where it is in a store of somebody's own. */
  readonly pieces: number
  /** All of its bytes are there. */
  readonly isComplete: boolean
}

/** What a reference says of the file. */
export interface Told {
  readonly mimeType: string
  readonly filename: string
}

/** A reference to a file. */
interface Reference extends Told {
  readonly fileId: string
  /** The session, where a turn refers to it. */
  readonly session?: SessionKey | undefined
}

/** A reference of a turn that may be gone. */
export interface DueTurn {
  /** The id of the reference. */
  readonly id: string
  readonly session: SessionKey
  readonly runId: string
}

/** A file with what a reference says of it. */
export interface FoundFile extends Told, Omit<StoredFile, 'isComplete'> {
  /** Whose it is: the partition of the owner. */
  readonly owner: string
}

/** A file that is to be stored, and the reference to it. */
export interface NewFile extends Omit<StoredFile, 'isComplete'>, Told {
  readonly fileId: string
  /** Whose it is: the partition of the owner. */
  readonly owner: string
  /** Who refers to it, and where. */
  readonly refId: string
  readonly place: string
  readonly session: SessionKey | undefined
  /** When a run that refers to it is gone for certain, or a turn may be. */
  readonly expiresAt: number
  /** Its first pieces: of a small file, all. */
  readonly first: readonly string[]
  /** Most bytes of the owner. */
  readonly maxBytes: number
}

/** See {@link FILE_TRANSACTIONS}. */
export interface FileTransactions extends Transactions {
  readonly reads: {
    /** The file of a reference; undefined where there is none, or not all of it. */
    readonly find: (tx: Reader, refId: string, place: string) => FoundFile | undefined
    readonly pieces: (tx: Reader, name: string, from: number, count: number) => readonly string[]
    /** Turns whose references are to be renewed, or taken back. */
    readonly due: (tx: Reader) => readonly DueTurn[]
    readonly leftOver: (tx: Reader) => readonly string[]
  }
  readonly writes: {
    /** Writes the reference first: whatever happens to the file, it is found and deleted. Throws `state_full`. */
    readonly begin: (tx: Transaction, file: NewFile) => Pick<StoredFile, 'name' | 'isComplete' | 'pieces'>
    /** False where the file is gone. */
    readonly add: (tx: Transaction, file: PieceOf, from: number, pieces: readonly string[]) => boolean
    readonly complete: (tx: Transaction, file: PieceOf) => boolean
    /** Lets another session refer to the files of turns, where they are of that owner. */
    readonly share: (tx: Transaction, files: readonly TurnFile[], owner: string, session: SessionKey) => void
    /** Takes one reference back. */
    readonly drop: (tx: Transaction, refId: string, place: string) => void
    /** Takes all references of someone back. */
    readonly forget: (tx: Transaction, refId: string) => void
    /** Takes references of turns back that are of one session. */
    readonly forgetTurns: (tx: Transaction, refIds: readonly string[], session: SessionKey) => void
    /** Deletes some files of an owner, whoever refers to them. Gives how many. */
    readonly forgetOwner: (tx: Transaction, owner: string) => number
    /** A reference of a turn stands until then; without a time the turn is gone. */
    readonly renew: (tx: Transaction, id: string, until?: number) => void
    /** Takes references of runs back whose time has come. Gives whether there are more. */
    readonly sweep: (tx: Transaction) => boolean
    /**
     * For a store in which runs leave without a word: deletes files that nobody refers to, and lets each other one leave with a
     * run that does. Looks at the oldest ones, which are the newest then.
     */
    readonly tidy: (tx: Transaction) => void
    /** What was left over is gone, or could not be deleted now. */
    readonly swept: (tx: Transaction, name: string, isGone: boolean) => void
  }
}

/** Which file is written, for whom. */
export type PieceOf = Pick<NewFile, 'fileId' | 'name' | 'refId' | 'session' | 'pieces'>

/** The transactions of files. */
export const FILE_TRANSACTIONS: FileTransactions = {
  expiring: [REFERENCES, LEFT_OVER],
  reads: {
    find(tx, refId, place) {
      const reference = referenceAt(tx, refId, place)
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
    due: tx =>
      tx.expired<Reference>(REFERENCES, tx.now, AT_ONCE).flatMap(({ id, value: { session } }) => {
        return session === undefined ? [] : [{ id, session, runId: runOfTurn(referrerOf(id)) }]
      }),
    leftOver: tx => tx.expired(LEFT_OVER, tx.now, AT_ONCE).map(({ id }) => id),
  },
  writes: {
    begin(tx, file) {
      const { fileId, refId, place, session, mimeType, filename, expiresAt, first, pieces } = file
      const before = usable(tx, fileId, pieces)
      const { name, isComplete } = before ?? addFile(tx, file)
      const reference: Reference = { fileId, mimeType, filename, ...(session && { session }) }
      replace(tx, idOf(refId, place), fileId, () => {
        const document = { id: idOf(refId, place), partition: fileId, at: tx.now, tags: {}, expiresAt }
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
        if (pieces === 0) leave(tx, name)
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
      for (const { refId, place } of files) {
        const value = referenceAt(tx, refId, place)
        if (value === undefined || tx.get(FILES, value.fileId)?.partition !== owner) continue
        const id = sharedId(idOf(refId, place), session.sessionId)
        const about = { id, partition: value.fileId, at: tx.now, tags: {}, expiresAt: tx.now + HOUR_MS }
        const document: Document<Reference> = { ...about, value: { ...value, session } }
        tx.put(REFERENCES, document, { thing: thingIn(document) })
      }
    },
    drop: (tx, refId, place) => replace(tx, idOf(refId, place), undefined, () => {}),
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
        // The clock, or a process that nobody has missed yet, may have kept the run for longer.
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
      else leave(tx, name, AGAIN_MS)
    },
  },
}

function idOf(refId: string, place: string): string {
  return `${refId}/${place}`
}

/** Keeps the sessions apart that refer to one file of a turn. */
const SHARED = '~'

/** The id of the reference of another session. */
function sharedId(id: string, sessionId: string): string {
  return id + SHARED + sessionId
}

/** The reference that stands there, of whichever session. */
function referenceAt(tx: Reader, refId: string, place: string): Reference | undefined {
  const id = idOf(refId, place)
  const shared = () => tx.withPrefix<Reference>(REFERENCES, sharedId(id, ''), 1)[0]
  return (tx.get<Reference>(REFERENCES, id) ?? shared())?.value
}

function referrerOf(id: string): string {
  return id.slice(0, id.lastIndexOf('/'))
}

/** What a part of a file leaves with in a full store. */
function thingFor({ refId, session }: Pick<NewFile, 'refId' | 'session'>): string {
  return session === undefined ? refId : thingOf(sessionIdOf(session))
}

function thingIn({ id, value }: Document<Reference>): string {
  return thingFor({ refId: referrerOf(id), session: value.session })
}

function pieceId(name: string, index: number): string {
  return `${name}.${index}`
}

/** Changes a reference. The file that it was to goes, where that was the last one. */
function replace(tx: Transaction, id: string, fileId: string | undefined, put: () => void): void {
  const before = tx.get<Reference>(REFERENCES, id)?.value
  if (fileId === undefined) tx.delete(REFERENCES, id)
  else put()
  if (before === undefined || before.fileId === fileId) return
  if (tx.oldest(REFERENCES, 1, before.fileId).length === 0) deleteFile(tx, before.fileId)
}

/** The file as it is; it is begun anew where it is half there, and elsewhere than it would be now. */
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

/** In a bounded store a file leaves with the run that stored it, without a word: it was counted, so it counts as no less. */
interface Count {
  readonly bytes: number
  readonly countedAt: number
}

/** Bytes of an owner: counted again where there would be no room, but not each time. */
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
  if (value.pieces === 0) leave(tx, value.name)
  for (let index = 0; index < value.pieces; index++) tx.delete(PIECES, pieceId(value.name, index))
}

/** From now on a file leaves with that run, or that session. */
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

/** A file in a store of somebody's own is to be deleted: at once, or in so many milliseconds. */
function leave(tx: Transaction, name: string, inMs = 0): void {
  const at = tx.now
  tx.put(LEFT_OVER, { id: name, partition: '', at, tags: {}, value: null, expiresAt: at + inMs })
}
