/**
 * The followed run of a Durable Object: it executes in the object, and its record and log are in the object's database.
 *
 * @module
 */

import type { Kind, RunInput, RunOptions } from '../../agents/contract.ts'
import { ServableError } from '../../errors.ts'
import type { RunHost, Viewer } from '../../runs/host.ts'
import { createLocalHost, newRun } from '../../runs/local-host.ts'
import { type FoundRun, RUNS, type RunRecord, type StoredRun } from '../../runs/record.ts'
import type { Target } from '../../runs/run.ts'
import type { Service } from '../../service.ts'
import { Alarm } from './alarm.ts'
import { indexOf, Kept } from './kept.ts'
import type { ObjectState } from './platform.ts'
import { type Answer, type Answerer, answering, streamOf, unwrap } from './rpc.ts'
import type { ObjectStore } from './sql.ts'
import { RETRY_MS, resolveHere, WATCH_MS } from './upkeep.ts'

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
  readonly isBackground: boolean
  readonly secrets?: readonly string[] | undefined
}

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
      unlist: (index, id) => index.remove(id),
    })
    this.#host = createLocalHost({
      store,
      settings: service.runs,
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
      const { id, owner, client, input, isBackground, secrets } = message
      const options = { ...message.options, runId: id }
      await this.#kept.expire()
      if (this.#kept.document() === undefined) {
        const run = newRun(
          { id, at: Date.now(), instance: this.#store.instance },
          { target, options, owner, key: undefined },
        )
        await unwrap(indexOf(owner).admit(run, client))
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
      if (!this.#isIndexed) await indexOf(run.owner).update(run, expiresAt)
      this.#isIndexed = true
      await this.#alarm.setTo(expiresAt)
    } catch {
      await this.#alarm.setTo(Date.now() + RETRY_MS)
    }
  }
}
