/**
 * Stores the files of a handler, and reads them.
 *
 * @module
 */

import type { RunInput } from '../../agents/contract.ts'
import type { SessionKey, SessionStorage } from '../../agents/memory.ts'
import { ServableError } from '../../base/errors.ts'
import { unrefed } from '../../base/wake.ts'
import type { ObjectAddress } from '../../core/hosted.ts'
import type { CoreSettings } from '../../core/options.ts'
import { type Calls, type CallTransactions, localCalls } from '../../core/transaction-calls.ts'
import { logThrown } from '../../http/failure-log.ts'
import type { FileOwner, FileStorage, InputOwner, MadeFile, OpenedFile, RunFiles } from '../../runs/files.ts'
import { partitionOf } from '../../runs/stored/record.ts'
import type { Position, Store, Transaction } from '../../stores/store.ts'
import { addressesOf, madeAt, partKeyIn, turnFilesIn, turnRefOf } from './address.ts'
import { AT_ONCE, bytesOfPieces, digestOf, pieceCount, piecesOf, streamOf } from './bytes.ts'
import type { FileMetadata } from './documents.ts'
import { withAddresses, withData } from './inputs.ts'
import { RunFilesWriter } from './run-files.ts'
import type { FileBytes, FilePosition, FileSettings, Storing } from './store.ts'
import {
  FILE_TRANSACTIONS,
  type FileTransactions,
  type FoundFile,
  type NewFile,
  type PieceOf,
} from './transactions.ts'
import { withRetries, withTimeout } from './waits.ts'

/** The name of the plugin and of its object service. */
export const FILES_SERVICE = 'files'

/** Milliseconds after which leftover files are deleted. */
const LEFT_OVER_MS = 1000

/** Least milliseconds between two times that a store which evicts runs is tidied, where a run begins. */
const TIDY_EVERY_MS = 60_000

/** After this many runs it happens earlier. */
const TIDY_EVERY_RUNS = 100

/** Turns whose files one transaction deletes. */
const TURNS_AT_ONCE = 100

/** Milliseconds between two checks of a turn, since a session drops old turns without notice. */
const TURN_MS = 86_400_000

/** Most rounds of one look, of 100 turns each. */
const ROUNDS = 10

/** Most files that turns share with their copy: in one transaction, and in all. */
const SHARED_AT_ONCE = 100
const MAX_SHARED = 10_000

/** Most pages of files that one list looks at, of 100 each: they may be files of inputs. */
const MAX_PAGES = 20

/** Milliseconds until the next check of a turn if the last one failed. */
const AGAIN_MS = 60_000

/** Milliseconds for which a run may exceed its time limit until that is noticed. */
const LATE_MS = 3_600_000

/** A file that can be read. */
export interface OpenFile extends FoundFile {
  /** Undefined if it is deleted. */
  read(): Promise<FileBytes | undefined>
}

/** Stores, finds and deletes files. */
export class FileService implements FileStorage, Storing {
  readonly settings: FileSettings
  readonly addressOf: Storing['addressOf']
  readonly maxLength: number
  readonly #core: CoreSettings
  readonly #calls: Calls<FileTransactions>
  readonly #isLocal: boolean
  readonly #isVolatile: boolean
  #timer: ReturnType<typeof setTimeout> | undefined
  #tidiedAt = 0
  /** Runs since then. */
  #begun = 0
  /** Knows which turns still exist. */
  sessions: Pick<SessionStorage, 'turnUntil'> | undefined

  constructor(core: CoreSettings, callTransactions: CallTransactions, settings: FileSettings) {
    this.#core = core
    this.#calls = callTransactions(FILES_SERVICE, FILE_TRANSACTIONS, { look: () => this.#lookAfter() })
    this.#isLocal = core.state.kind === 'local'
    this.#isVolatile = core.state.kind === 'local' && core.state.isVolatile
    this.settings = settings
    this.maxLength = core.runs.maxLength
    this.addressOf = addressesOf(core.publicUrl, core.prefix)
  }

  of(run: FileOwner): RunFiles {
    this.#tidyNow()
    return new RunFilesWriter(this, run)
  }

  async input(
    { runId, owner, isStored }: InputOwner,
    input: RunInput,
    session: SessionKey,
  ): Promise<RunInput> {
    if (!isStored) this.#tidyNow()
    const turn = { refId: turnRefOf(runId), session }
    return withAddresses(this, { runId, owner }, input, isStored ? [turn, { refId: runId }] : [turn])
  }

  async share(turns: string, owner: string | null, session: SessionKey): Promise<void> {
    const found = turnFilesIn(turns).slice(0, MAX_SHARED)
    for (let from = 0; from < found.length; from += SHARED_AT_ONCE) {
      const files = found.slice(from, from + SHARED_AT_ONCE)
      await this.#calls.share(addressFor(owner), files, partitionOf(owner), session)
    }
  }

  restore(run: FileOwner, input: RunInput): Promise<RunInput> {
    const find = async (partKey: string) =>
      (await this.findOfTurn(run.runId, partKey, run.owner)) ??
      (await this.find({ refId: run.runId, place: partKey }, run.owner))
    return withData(this, run, input, async partKey => (await find(partKey))?.read())
  }

  async made(owner: string, limit: number): Promise<readonly MadeFile[]> {
    const found: MadeFile[] = []
    let after: Position | undefined
    for (let pages = 0; pages === 0 || (after && found.length < limit && pages < MAX_PAGES); pages++) {
      const page = await this.#calls.made(addressFor(owner), partitionOf(owner), after)
      found.push(...page.files)
      after = page.next
    }
    return found.slice(0, limit)
  }

  async open({ runId, owner }: FileOwner, place: string): Promise<OpenedFile | undefined> {
    const at = madeAt(place)
    const found = at && (await this.find({ refId: runId, place }, owner))
    return found && { ...found, runId, place, address: this.addressOf(runId, at.spot, at.part) }
  }

  async placeOf(address: string): Promise<Pick<MadeFile, 'runId' | 'place'> | undefined> {
    const runId = /\/runs\/([\da-f-]{36})\//.exec(address)?.[1] ?? ''
    const base = this.addressOf(runId, { key: '', path: '' }, 0)
    const place = address.startsWith(base) ? await partKeyIn(address.slice(base.length)) : undefined
    return place === undefined ? undefined : { runId, place }
  }

  /** The file at this position of a turn, whether or not its run is stored. */
  findOfTurn(runId: string, partKey: string, viewer: string | null): Promise<OpenFile | undefined> {
    return this.find({ refId: turnRefOf(runId), place: partKey }, viewer)
  }

  forgetIn(tx: Transaction, runId: string): void {
    if (!this.#isLocal) return
    FILE_TRANSACTIONS.writes.forget(tx, runId)
    this.#deleteSoon()
  }

  async forget({ runId, owner }: FileOwner): Promise<void> {
    if (!this.#isLocal) await this.#calls.forget(addressFor(owner), runId)
  }

  async forgetTurns(runIds: readonly string[], owner: string | null, session: SessionKey): Promise<void> {
    for (let from = 0; from < runIds.length; from += TURNS_AT_ONCE) {
      const refIds = runIds.slice(from, from + TURNS_AT_ONCE).map(turnRefOf)
      await this.#calls.forgetTurns(addressFor(owner), refIds, session)
    }
    this.#deleteSoon()
  }

  /** Deletes all files of an owner. Returns whether there were any. */
  async forgetOwner(owner: string | null): Promise<boolean> {
    const at = addressFor(owner)
    let hasFound = false
    while ((await this.#calls.forgetOwner(at, partitionOf(owner))) > 0) hasFound = true
    this.#deleteSoon()
    return hasFound
  }

  async store(position: FilePosition, bytes: Uint8Array<ArrayBuffer>, metadata: FileMetadata): Promise<void> {
    const { refId, place: partKey, owner, session } = position
    this.check(bytes.length)
    const at = addressFor(owner)
    const file = await this.#newFile(position, bytes, metadata)
    try {
      const { isComplete, ...begun } = await withRetries(() => this.#calls.begin(at, file))
      await this.#write(at, { fileId: file.fileId, refId, session, ...begun }, isComplete, bytes, metadata)
    } catch (error) {
      await this.#calls.drop(at, refId, partKey).catch(() => {})
      throw error
    } finally {
      this.#deleteSoon()
    }
    this.#tidyNow()
  }

  check(size: number): void {
    const { maxFileBytes } = this.settings
    if (size <= maxFileBytes) return
    throw new ServableError('run_too_large', `A file of the run is larger than ${maxFileBytes} bytes`)
  }

  /** The file at a position. Its owner is the viewer or nobody. */
  async find(
    { refId, place: partKey }: Pick<FilePosition, 'refId' | 'place'>,
    viewer: string | null,
  ): Promise<OpenFile | undefined> {
    const owners = this.#isLocal || viewer === null ? [null] : [viewer, null]
    for (const owner of owners) {
      const at = addressFor(owner)
      const found = await this.#calls.find(at, refId, partKey)
      // A turn has no record with its owner.
      if (found !== undefined && [viewer, null].map(partitionOf).includes(found.owner))
        return { ...found, read: () => this.#read(at, found) }
    }
    return undefined
  }

  /** Renews or drops the due references of turns, in this state or in an object's store. Never rejects. */
  async renew(near?: Store): Promise<void> {
    const calls = near === undefined ? this.#calls : localCalls(near, FILE_TRANSACTIONS)
    const at = addressFor(null)
    await this.#attempt(async () => {
      // An object may call only a few other objects per alarm, and sets its alarm again.
      for (let rounds = near === undefined ? ROUNDS : 1; rounds > 0; rounds--) {
        const due = await calls.due(at)
        for (const { id, session, runId } of due) {
          let until: number | undefined = Date.now() + AGAIN_MS
          await this.#attempt(async () => (until = await this.sessions?.turnUntil(session, runId)))
          await calls.renew(at, id, until && Math.min(until, Date.now() + TURN_MS))
        }
        if (due.length === 0) break
      }
    })
  }

  /** Deletes leftover files from a custom store, by this state or an object's store. Never rejects. */
  async deleteLeftOver(near?: Store): Promise<void> {
    const { store } = this.settings
    const calls = near === undefined ? this.#calls : localCalls(near, FILE_TRANSACTIONS)
    const at = addressFor(null)
    await this.#attempt(async () => {
      for (const name of await calls.leftOver(at)) {
        const isGone = await this.#attempt(async () => store && withTimeout(() => store.delete(name)))
        await calls.swept(at, name, isGone)
      }
    })
  }

  async #newFile(
    position: FilePosition,
    bytes: Uint8Array<ArrayBuffer>,
    metadata: FileMetadata,
  ): Promise<NewFile> {
    const { refId, place: partKey, owner, session } = position
    const { store, maxBytesPerOwner: maxBytes } = this.settings
    const { timeoutMs, retentionMs } = this.#core.runs
    const partition = partitionOf(owner)
    const digest = await digestOf(bytes)
    return {
      fileId: await digestOf(new TextEncoder().encode(`${digest} ${partition}`)),
      owner: partition,
      name: `${digest}-${crypto.randomUUID().slice(0, 8)}`,
      digest,
      size: bytes.length,
      pieces: store === undefined ? pieceCount(bytes.length) : 0,
      first: store === undefined ? piecesOf(bytes, 0) : [],
      refId,
      place: partKey,
      session,
      ...metadata,
      // A run is in its session within twice its time limit, or never.
      expiresAt: Date.now() + (session === undefined ? timeoutMs + retentionMs + LATE_MS : 2 * timeoutMs),
      maxBytes,
    }
  }

  async #write(
    at: ObjectAddress,
    file: PieceOf,
    isComplete: boolean,
    bytes: Uint8Array<ArrayBuffer>,
    { mimeType }: FileMetadata,
  ): Promise<void> {
    const { store } = this.settings
    const isOutside = store !== undefined && file.pieces === 0
    if (isComplete && !(isOutside && !(await withTimeout(() => store.has(file.name))))) return
    if (isOutside) await withTimeout(() => store.put(file.name, bytes, { mimeType }))
    for (let from = AT_ONCE; from < file.pieces; from += AT_ONCE) {
      const pieces = piecesOf(bytes, from)
      if (!(await withRetries(() => this.#calls.add(at, file, from, pieces)))) throw gone()
    }
    if (!(await withRetries(() => this.#calls.complete(at, file)))) throw gone()
  }

  async #read(at: ObjectAddress, { name, size, pieces }: FoundFile): Promise<FileBytes | undefined> {
    const { store } = this.settings
    if (pieces === 0) return store && ((await withTimeout(() => store.get(name))) ?? undefined)
    let next = 0
    const more = async (): Promise<Uint8Array<ArrayBuffer>> => {
      const count = Math.min(AT_ONCE, pieces - next)
      const found = await this.#calls.pieces(at, name, next, count)
      if (found.length < count) throw new ServableError('file_not_found', 'The file is gone')
      next += count
      return bytesOfPieces(found)
    }
    const first = await more()
    return first.length === size ? first : streamOf(first, more, () => next === pieces)
  }

  /** Deletes leftover files soon, where no alarm does. */
  #deleteSoon(): void {
    if (this.settings.store === undefined || !this.#isLocal || this.#timer !== undefined) return
    this.#timer = unrefed(
      setTimeout(() => {
        this.#timer = undefined
        void this.deleteLeftOver()
      }, LEFT_OVER_MS),
    )
  }

  /** Drops expired references in a local state. Returns whether there are more. Never rejects. */
  async #lookAfter(): Promise<boolean> {
    let hasMore = false
    await this.renew()
    await this.#attempt(async () => (hasMore = await this.#calls.sweep(addressFor(null))))
    await this.deleteLeftOver()
    return hasMore
  }

  /** Deletes the files of runs that a store of limited size has evicted. After many runs, room is made before the alarm makes it. */
  #tidyNow(): void {
    const now = Date.now()
    const isMany = ++this.#begun >= TIDY_EVERY_RUNS
    // The clock may have been set back since.
    const isEarly = Math.abs(now - this.#tidiedAt) < TIDY_EVERY_MS
    if (!this.#isLocal || (isEarly && !isMany)) return
    this.#tidiedAt = now
    this.#begun = 0
    void this.#attempt(async () => {
      if (isMany) await this.#lookAfter()
      if (this.#isVolatile) await this.#calls.tidy(addressFor(null))
    })
  }

  /** Returns whether the work succeeded. Errors are logged. */
  async #attempt(work: () => Promise<unknown>): Promise<boolean> {
    try {
      await work()
      return true
    } catch (error) {
      logThrown(this.#core.log, { event: 'files.failed' }, error)
      return false
    }
  }
}

/** The address of an owner's files. With Durable Objects one object has them all. */
function addressFor(owner: string | null): ObjectAddress {
  return { name: FILES_SERVICE, key: partitionOf(owner) }
}

function gone(): ServableError {
  return new ServableError('run_ended', 'The run was deleted while a file of it was written')
}
