/**
 * Stores the files of a handler, and finds them again.
 *
 * @module
 */

import type { RunInput } from '../../agents/contract.ts'
import type { SessionKey, SessionStorage } from '../../agents/memory.ts'
import { ServableError } from '../../base/errors.ts'
import { unrefed } from '../../base/wake.ts'
import type { ObjectAddress } from '../../core/object-address.ts'
import type { CoreSettings } from '../../core/options.ts'
import { type Calls, type CallTransactions, localCalls } from '../../core/transaction-calls.ts'
import { logThrown } from '../../http/failure-log.ts'
import type { FileOwner, FileStorage, InputOwner, RunFiles } from '../../runs/files.ts'
import { partitionOf } from '../../runs/stored/record.ts'
import type { Store, Transaction } from '../../stores/store.ts'
import { addressesOf, turnFilesIn, turnRefOf } from './address.ts'
import { AT_ONCE, bytesOfPieces, digestOf, pieceCount, piecesOf } from './bytes.ts'
import { withAddresses, withData } from './inputs.ts'
import { RunFilesWriter } from './run-files.ts'
import type { FileBytes } from './store.ts'
import type { FileSettings, Standing, Storing } from './storing.ts'
import {
  FILE_TRANSACTIONS,
  type FileTransactions,
  type FoundFile,
  type NewFile,
  type PieceOf,
  type Told,
} from './transactions.ts'
import { outside, patiently } from './waits.ts'

/** The plugin's name, and that of its keeper in objects. */
export const FILES_KEEPER = 'files'

/** Milliseconds after which what is left over is deleted. */
const LEFT_OVER_MS = 1000

/** Milliseconds between two sweeps at the least; one happens when a run begins, never by a timer. */
const SWEEP_EVERY_MS = 60_000

/** Runs after which a sweep does not wait for that. */
const SWEEP_EVERY_RUNS = 100

/** Turns whose files one transaction deletes. */
const TURNS_AT_ONCE = 100

/** Milliseconds after which a turn is looked for again: what is pushed out of a session leaves without a word. */
const TURN_MS = 86_400_000

/** Looks of one sweep, of 100 turns each. */
const ROUNDS = 10

/** Files that turns share with a copy of them: in one transaction, and in all. */
const SHARED_AT_ONCE = 100
const MAX_SHARED = 10_000

/** Milliseconds after which a turn is looked for again where nobody could say. */
const AGAIN_MS = 60_000

/** Milliseconds for which a run may be at work longer than it may until somebody notices. */
const LATE_MS = 3_600_000

/** A file that is to be read. */
export interface OpenFile extends FoundFile {
  /** Undefined where it is gone. */
  read(): Promise<FileBytes | undefined>
}

/** See the module's head. */
export class FileService implements FileStorage, Storing {
  readonly settings: FileSettings
  readonly addressOf: Storing['addressOf']
  readonly maxLength: number
  readonly #core: CoreSettings
  readonly #calls: Calls<FileTransactions>
  readonly #isLocal: boolean
  readonly #isVolatile: boolean
  #timer: ReturnType<typeof setTimeout> | undefined
  #sweptAt = 0
  /** Runs since then. */
  #begun = 0
  /** Knows which turns are kept. */
  sessions: Pick<SessionStorage, 'turnUntil'> | undefined

  constructor(core: CoreSettings, keep: CallTransactions, settings: FileSettings) {
    this.#core = core
    this.#calls = keep(FILES_KEEPER, FILE_TRANSACTIONS)
    this.#isLocal = core.state.kind === 'local'
    this.#isVolatile = core.state.kind === 'local' && core.state.isVolatile
    this.settings = settings
    this.maxLength = core.runs.maxLength
    this.addressOf = addressesOf(core.publicUrl, core.prefix)
  }

  of(run: FileOwner): RunFiles {
    this.#sweepNow(run.owner)
    return new RunFilesWriter(this, run)
  }

  async input(
    { runId, owner, isStored }: InputOwner,
    input: RunInput,
    session: SessionKey,
  ): Promise<RunInput> {
    if (!isStored) this.#sweepNow(owner)
    const turn = { refId: turnRefOf(runId), session }
    return withAddresses(this, { runId, owner }, input, isStored ? [turn, { refId: runId }] : [turn])
  }

  async share(turns: string, owner: string | null, session: SessionKey): Promise<void> {
    const found = turnFilesIn(turns).slice(0, MAX_SHARED)
    for (let from = 0; from < found.length; from += SHARED_AT_ONCE) {
      const files = found.slice(from, from + SHARED_AT_ONCE)
      await this.#calls.share(placeFor(owner), files, partitionOf(owner), session)
    }
  }

  restore(run: FileOwner, input: RunInput): Promise<RunInput> {
    const find = async (place: string) =>
      (await this.findOfTurn(run.runId, place, run.owner)) ??
      (await this.find({ refId: run.runId, place }, run.owner))
    return withData(this, run, input, async place => (await find(place))?.read())
  }

  /** The file of a turn that stands there, whether or not its run is stored. */
  findOfTurn(runId: string, place: string, viewer: string | null): Promise<OpenFile | undefined> {
    return this.find({ refId: turnRefOf(runId), place }, viewer)
  }

  forgetIn(tx: Transaction, runId: string): void {
    if (!this.#isLocal) return
    FILE_TRANSACTIONS.writes.forget(tx, runId)
    this.#deleteSoon()
  }

  async forget({ runId, owner }: FileOwner): Promise<void> {
    if (!this.#isLocal) await this.#calls.forget(placeFor(owner), runId)
  }

  async forgetTurns(runIds: readonly string[], owner: string | null, session: SessionKey): Promise<void> {
    for (let from = 0; from < runIds.length; from += TURNS_AT_ONCE) {
      const refIds = runIds.slice(from, from + TURNS_AT_ONCE).map(turnRefOf)
      await this.#calls.forgetTurns(placeFor(owner), refIds, session)
    }
    this.#deleteSoon()
  }

  /** Deletes all files of an owner. Gives whether there were any. */
  async forgetOwner(owner: string | null): Promise<boolean> {
    const at = placeFor(owner)
    let hasFound = false
    while ((await this.#calls.forgetOwner(at, partitionOf(owner))) > 0) hasFound = true
    this.#deleteSoon()
    return hasFound
  }

  async store(standing: Standing, bytes: Uint8Array<ArrayBuffer>, told: Told): Promise<void> {
    const { refId, place, owner, session } = standing
    this.check(bytes.length)
    const at = placeFor(owner)
    const file = await this.#newFile(standing, bytes, told)
    try {
      const { isComplete, ...begun } = await patiently(() => this.#calls.begin(at, file))
      await this.#write(at, { fileId: file.fileId, refId, session, ...begun }, isComplete, bytes, told)
    } catch (error) {
      await this.#calls.drop(at, refId, place).catch(() => {})
      throw error
    } finally {
      this.#deleteSoon()
    }
    this.#sweepNow(owner)
  }

  check(size: number): void {
    const { maxFileBytes } = this.settings
    if (size <= maxFileBytes) return
    throw new ServableError('run_too_large', `A file of the run is larger than ${maxFileBytes} bytes`)
  }

  /** The file that stands there. It is the viewer's, or nobody's. */
  async find(
    { refId, place }: Pick<Standing, 'refId' | 'place'>,
    viewer: string | null,
  ): Promise<OpenFile | undefined> {
    const owners = this.#isLocal || viewer === null ? [null] : [viewer, null]
    for (const owner of owners) {
      const at = placeFor(owner)
      const found = await this.#calls.find(at, refId, place)
      // A turn has no record that says whose it is.
      if (found !== undefined && [viewer, null].map(partitionOf).includes(found.owner))
        return { ...found, read: () => this.#read(at, found) }
    }
    return undefined
  }

  /** Looks after references of turns that are due: as this state says, or an object. Never rejects. */
  async renew(near?: Store): Promise<void> {
    const calls = near === undefined ? this.#calls : localCalls(near, FILE_TRANSACTIONS)
    const at = placeFor(null)
    await this.#tell(async () => {
      // An object may ask a few others only, and has its alarm again.
      for (let rounds = near === undefined ? ROUNDS : 1; rounds > 0; rounds--) {
        const due = await calls.due(at)
        for (const { id, session, runId } of due) {
          let until: number | undefined = Date.now() + AGAIN_MS
          await this.#tell(async () => (until = await this.sessions?.turnUntil(session, runId)))
          await calls.renew(at, id, until && Math.min(until, Date.now() + TURN_MS))
        }
        if (due.length === 0) break
      }
    })
  }

  /** Deletes what is left over in a store of somebody's own: as this state says, or an object. Never rejects. */
  async deleteLeftOver(near?: Store): Promise<void> {
    const { store } = this.settings
    const calls = near === undefined ? this.#calls : localCalls(near, FILE_TRANSACTIONS)
    const at = placeFor(null)
    await this.#tell(async () => {
      for (const name of await calls.leftOver(at)) {
        const isGone = await this.#tell(async () => store && outside(() => store.delete(name)))
        await calls.swept(at, name, isGone)
      }
    })
  }

  async #newFile(standing: Standing, bytes: Uint8Array<ArrayBuffer>, told: Told): Promise<NewFile> {
    const { refId, place, owner, session } = standing
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
      place,
      session,
      ...told,
      // A run is in its session before it has taken too long, or never.
      expiresAt: Date.now() + (session === undefined ? timeoutMs + retentionMs + LATE_MS : 2 * timeoutMs),
      maxBytes,
    }
  }

  async #write(
    at: ObjectAddress,
    file: PieceOf,
    isComplete: boolean,
    bytes: Uint8Array<ArrayBuffer>,
    { mimeType }: Told,
  ): Promise<void> {
    const { store } = this.settings
    const isOutside = store !== undefined && file.pieces === 0
    if (isComplete && !(isOutside && !(await outside(() => store.has(file.name))))) return
    if (isOutside) await outside(() => store.put(file.name, bytes, { mimeType }))
    for (let from = AT_ONCE; from < file.pieces; from += AT_ONCE) {
      const pieces = piecesOf(bytes, from)
      if (!(await patiently(() => this.#calls.add(at, file, from, pieces)))) throw gone()
    }
    if (!(await patiently(() => this.#calls.complete(at, file)))) throw gone()
  }

  async #read(at: ObjectAddress, { name, size, pieces }: FoundFile): Promise<FileBytes | undefined> {
    const { store } = this.settings
    if (pieces === 0) return store && ((await outside(() => store.get(name))) ?? undefined)
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

  /** Where no alarm does. */
  #deleteSoon(): void {
    if (this.settings.store === undefined || !this.#isLocal || this.#timer !== undefined) return
    this.#timer = unrefed(
      setTimeout(() => {
        this.#timer = undefined
        void this.deleteLeftOver()
      }, LEFT_OVER_MS),
    )
  }

  #sweepNow(owner: string | null): void {
    const now = Date.now()
    // The clock may have been set back since.
    const isEarly = Math.abs(now - this.#sweptAt) < SWEEP_EVERY_MS && ++this.#begun < SWEEP_EVERY_RUNS
    if (!this.#isLocal || isEarly) return
    const at = placeFor(owner)
    this.#sweptAt = now
    this.#begun = 0
    void this.#tell(async () => {
      await this.renew()
      await this.#calls.sweep(at)
      if (this.#isVolatile) await this.#calls.tidy(at)
      await this.deleteLeftOver()
    })
  }

  /** Whether it could be done. Why not is told to the log. */
  async #tell(work: () => Promise<unknown>): Promise<boolean> {
    try {
      await work()
      return true
    } catch (error) {
      logThrown(this.#core.log, { event: 'files.failed' }, error)
      return false
    }
  }
}

/** With Durable Objects the files of an owner are in one. */
function placeFor(owner: string | null): ObjectAddress {
  return { name: FILES_KEEPER, key: partitionOf(owner) }
}

/** Gives no more than is read. */
function streamOf(
  first: Uint8Array,
  more: () => Promise<Uint8Array>,
  isOver: () => boolean,
): ReadableStream<Uint8Array> {
  let ready: Uint8Array | undefined = first
  const pull = async (controller: ReadableStreamDefaultController<Uint8Array>) => {
    controller.enqueue(ready ?? (await more()))
    ready = undefined
    if (isOver()) controller.close()
  }
  return new ReadableStream({ pull }, { highWaterMark: 0 })
}

function gone(): ServableError {
  return new ServableError('run_ended', 'The run was deleted while a file of it was written')
}
