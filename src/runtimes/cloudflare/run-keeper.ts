/**
 * The followed run of a Durable Object: it executes in the object, and its record and log are in the object's database.
 *
 * @module
 */

import type { Kind, RunInput, RunOptions } from '../../agents/contract.ts'
import { ServableError } from '../../errors.ts'
import type { RunHost, Viewer } from '../../runs/host.ts'
import { createLocalHost, newRun } from '../../runs/local-host.ts'
import { partitionOf, RUNS, type RunRecord, type StoredRun } from '../../runs/record.ts'
import type { Service } from '../../service.ts'
import type { Document } from '../../state/store.ts'
import { findBindings, type IndexStub } from './bindings.ts'
import type { ObjectState } from './platform.ts'
import { type Answer, answer, streamOf, unwrap } from './rpc.ts'
import type { ObjectStore } from './sql.ts'
import { createTurns, RETRY_MS, resolveHere, WATCH_MS } from './upkeep.ts'

/** A run to start, as it crosses from the Worker. Its keys stay in memory on both sides. */
export interface StartMessage {
  readonly id: string
  readonly kind: Kind
  readonly name: string
  readonly input: RunInput
  readonly options: RunOptions
  readonly owner: string | null
  readonly isBackground: boolean
}

/** Keeps the run of one object. */
export class RunKeeper {
  readonly #state: ObjectState
  readonly #store: ObjectStore
  readonly #service: Service
  readonly #host: RunHost
  #isIndexed = false
  readonly #inTurn = createTurns()

  constructor(state: ObjectState, store: ObjectStore, service: Service) {
    this.#state = state
    this.#store = store
    this.#service = service
    this.#host = createLocalHost({
      store,
      settings: service.runs,
      retention: {},
      leavesExpired: true,
      onEnded: () => state.waitUntil(this.#settle()),
    })
  }

  start(message: StartMessage): Promise<Answer<RunRecord>> {
    return answer(async () => {
      const target = resolveHere(this.#service.catalog, message.kind, message.name)
      const { id, owner, input, isBackground } = message
      const options = { ...message.options, runId: id }
      await this.#expire()
      if (this.#document() === undefined) {
        const run = newRun(
          { id, at: Date.now(), instance: this.#store.instance },
          { target, options, owner, key: undefined },
        )
        await unwrap(this.#index(owner).admit(run))
      }
      const record = await this.#host.start({ target, input, options, owner, isBackground })
      await this.#state.storage.setAlarm(Date.now() + WATCH_MS)
      return record
    })
  }

  get(viewer: Viewer): Promise<Answer<RunRecord>> {
    return answer(async () => {
      const record = await this.#host.get(await this.#id(), viewer)
      // An eviction may have ended the run: its index is told before anyone is.
      if (record.status !== 'running' && !this.#isIndexed) await this.#settle()
      return record
    })
  }

  wait(viewer: Viewer): Promise<Answer<RunRecord>> {
    return answer(async () => this.#host.wait(await this.#id(), viewer, new AbortController().signal))
  }

  follow(viewer: Viewer, after: number): Promise<Answer<ReadableStream<Uint8Array>>> {
    return answer(async () => streamOf(await this.#host.follow(await this.#id(), viewer, after)))
  }

  cancel(viewer: Viewer): Promise<Answer<RunRecord>> {
    return answer(async () => {
      const record = await this.#host.cancel(await this.#id(), viewer)
      await this.#settle()
      return record
    })
  }

  /** Looks after a run: tells the index how it ended, and deletes it when its time has come. */
  async alarm(): Promise<void> {
    await this.#expire()
    const document = this.#document()
    if (document === undefined) return
    // The host ends a run that an eviction interrupted before it answers anything about it.
    await this.#host.get(document.id, document.value.owner)
    await this.#settle()
  }

  /** Tells the index how the run ended. */
  #settle(): Promise<void> {
    return this.#inTurn(() => this.#tell())
  }

  async #tell(): Promise<void> {
    const document = this.#document()
    if (document === undefined) return
    const { value: run, expiresAt = Date.now() } = document
    if (run.record.status === 'running') return this.#state.storage.setAlarm(Date.now() + WATCH_MS)
    try {
      if (!this.#isIndexed) await this.#index(run.owner).update(run, expiresAt)
      this.#isIndexed = true
      await this.#state.storage.setAlarm(expiresAt)
    } catch {
      await this.#state.storage.setAlarm(Date.now() + RETRY_MS)
    }
  }

  async #forget({ owner, record }: StoredRun): Promise<void> {
    await this.#index(owner).remove(record.id)
    await this.#store.clear()
  }

  #document(): Document<StoredRun> | undefined {
    if (this.#store.isEmpty()) return undefined
    return this.#store.transact(tx => tx.oldest<StoredRun>(RUNS, 1))[0]
  }

  /** The id of the object's run. Throws `run_not_found` where there is none, or none any more. */
  async #id(): Promise<string> {
    await this.#expire()
    const document = this.#document()
    if (document !== undefined) return document.id
    throw new ServableError('run_not_found', 'There is no such run')
  }

  /** A run whose time has come goes, also before its alarm. */
  async #expire(): Promise<void> {
    if (this.#expired() === undefined) return
    await this.#inTurn(async () => {
      const run = this.#expired()
      if (run !== undefined) await this.#forget(run)
    })
  }

  #expired(): StoredRun | undefined {
    const { value: run, expiresAt = Number.POSITIVE_INFINITY } = this.#document() ?? {}
    return expiresAt <= Date.now() ? run : undefined
  }

  #index(owner: string | null): IndexStub {
    return findBindings().index.getByName(partitionOf(owner))
  }
}
