/**
 * The stored run of a Durable Object: it executes in the object, and its record and log are in the object's database.
 *
 * @module
 */

import type { Kind, RunInput, RunOptions } from '../../agents/contract.ts'
import { ServableError } from '../../errors.ts'
import type { RunHost, Viewer } from '../../runs/host.ts'
import { createLocalHost, newRun } from '../../runs/local-host.ts'
import { type FoundRun, partitionOf, RUNS, type RunRecord, type StoredRun } from '../../runs/record.ts'
import type { Target } from '../../runs/target.ts'
import type { Service } from '../../service.ts'
import { Alarm } from './alarm.ts'
import { findBindings, type IndexStub } from './bindings.ts'
import type { ListedBy } from './indexes.ts'
import { Kept } from './kept.ts'
import type { ObjectState } from './platform.ts'
import { type Answer, type Answerer, answering, streamOf, unwrap } from './rpc.ts'
import type { ObjectStore } from './sql.ts'
import { RETRY_MS, resolveHere, settingsHere, WATCH_MS } from './upkeep.ts'

/** A run to start, as it crosses from the Worker. Its keys stay in memory on both sides. */
export interface StartMessage {
  readonly id: string
  readonly kind: Kind
  readonly name: string
  readonly scope?: Target['scope']
  readonly input: RunInput
  readonly options: RunOptions
  readonly owner: string | null
  /** Whose place it takes. */
  readonly client: string
  /** The index object that is to list it; absent where a Worker of an earlier version asks. */
  readonly listedBy?: ListedBy
  readonly isBackground: boolean
  readonly secrets?: readonly string[] | undefined
}

/** The collection of the index object's name, where it is not the owner's. */
const LISTED_BY = 'listed-by'

/** Keeps the run of one object. */
export class RunKeeper {
  readonly #alarm: Alarm
  readonly #store: ObjectStore
  readonly #service: Service
  readonly #host: RunHost
  readonly #kept: Kept<StoredRun>
  readonly #answer: Answerer
  #isIndexed = false

  constructor(state: ObjectState, store: ObjectStore, service: Service) {
    this.#alarm = new Alarm(state.storage)
    this.#store = store
    this.#service = service
    this.#answer = answering(() => service.settings.log)
    this.#kept = new Kept(store, {
      collection: RUNS,
      missing: () => new ServableError('run_not_found', 'There is no such run'),
      unlist: document => this.#indexOf(document.value).remove(document.id),
    })
    this.#host = createLocalHost({
      store,
      settings: settingsHere(service.runs, service.settings),
      retention: {},
      leavesExpired: true,
      onEnded: () => state.waitUntil(this.#settle()),
    })
  }

  start(message: StartMessage): Promise<Answer<RunRecord>> {
    return this.#answer(async () => {
      const { catalog, gatewayCatalog } = this.#service
      const names = message.scope === 'gateway' ? gatewayCatalog : catalog
      const target = resolveHere(names, message.kind, message.name)
      const { id, owner, client, listedBy, input, isBackground, secrets } = message
      const options = { ...message.options, runId: id }
      await this.#kept.expire()
      if (this.#kept.document() === undefined) {
        const run = newRun(
          { id, at: Date.now(), instance: this.#store.instance },
          { target, options, owner, key: undefined },
        )
        const { name, shares } = listedBy ?? { name: partitionOf(owner), shares: 1 }
        await unwrap(findBindings().index.getByName(name).admit(run, client, shares))
        if (name !== partitionOf(owner)) this.#keepName(id, name)
      }
      const record = await this.#host.start({ target, input, options, owner, client, isBackground, secrets })
      if (record.status === 'running') await this.#alarm.setBy(Date.now() + WATCH_MS)
      return record
    })
  }

  get(viewer: Viewer): Promise<Answer<RunRecord>> {
    return this.#answer(async () => {
      const record = await this.#host.get(await this.#kept.id(), viewer)
      // An eviction may have ended the run: its index is told before anyone is.
      if (record.status !== 'running' && !this.#isIndexed) await this.#settle()
      return record
    })
  }

  wait(viewer: Viewer): Promise<Answer<RunRecord>> {
    return this.#answer(async () =>
      this.#host.wait(await this.#kept.id(), viewer, new AbortController().signal),
    )
  }

  follow(viewer: Viewer, after: number): Promise<Answer<ReadableStream<Uint8Array>>> {
    return this.#answer(async () => streamOf(await this.#host.follow(await this.#kept.id(), viewer, after)))
  }

  find(id: string): Promise<Answer<readonly FoundRun[]>> {
    return this.#answer(async () => {
      await this.#kept.expire()
      return this.#kept.document() === undefined ? [] : this.#host.find(id)
    })
  }

  cancel(viewer: Viewer): Promise<Answer<RunRecord>> {
    return this.#answer(async () => {
      const record = await this.#host.cancel(await this.#kept.id(), viewer)
      await this.#settle()
      return record
    })
  }

  /** Looks after a run: tells the index how it ended, and deletes it when its time has come. */
  async alarm(): Promise<void> {
    await this.#kept.expire()
    const document = this.#kept.document()
    if (document === undefined) return
    // The host ends a run that an eviction interrupted before it answers anything about it.
    await this.#host.get(document.id, document.value.owner)
    await this.#settle()
  }

  /** The index object that lists the run. Which it is stays the same when there are more of them. */
  #indexOf({ record, owner }: StoredRun): IndexStub {
    const kept = this.#store.transact(tx => tx.get<string>(LISTED_BY, record.id))
    return findBindings().index.getByName(kept?.value ?? partitionOf(owner))
  }

  #keepName(id: string, name: string): void {
    const document = { id, partition: '', at: 0, tags: {}, value: name }
    this.#store.transact(tx => tx.put(LISTED_BY, document))
  }

  /** Tells the index how the run ended. */
  #settle(): Promise<void> {
    return this.#kept.inTurn(() => this.#tell())
  }

  async #tell(): Promise<void> {
    const document = this.#kept.document()
    if (document === undefined) return
    const { value: run, expiresAt = Date.now() } = document
    if (run.record.status === 'running') return this.#alarm.setBy(Date.now() + WATCH_MS)
    try {
      if (!this.#isIndexed) await this.#indexOf(run).update(run, expiresAt)
      this.#isIndexed = true
      await this.#alarm.setTo(expiresAt)
    } catch {
      await this.#alarm.setTo(Date.now() + RETRY_MS)
    }
  }
}
