/**
 * The stored run of a Durable Object. The run executes in the object, and the object's database has its record and log.
 *
 * @module
 */

import type { Kind, RunInput, RunOptions } from '../../agents/contract.ts'
import type { Core } from '../../core/built-in.ts'
import type { Keeper, Seat } from '../../core/hosted.ts'
import { resolveInObject, runsInObject } from '../../core/in-object.ts'
import { callIn } from '../../core/keeper.ts'
import { callsAt } from '../../core/kept.ts'
import { KeptInObject, WATCH_MS } from '../../core/kept-in-object.ts'
import { ServableError } from '../../errors.ts'
import type { RunHost, Viewer } from '../../runs/host.ts'
import { createLocalHost, newRun } from '../../runs/local-host.ts'
import { streamOf } from '../../runs/log-stream.ts'
import {
  type FoundRun,
  partitionOf,
  RESULTS,
  RUNNING,
  RUNS,
  type RunRecord,
  type StoredRun,
} from '../../runs/record.ts'
import { forgetRun } from '../../runs/retention.ts'
import type { Target } from '../../runs/target.ts'
import type { ListedBy } from './indexes.ts'
import { RUN_INDEX, RUN_KEEPER } from './run-index.ts'

/** A request to start a run, from the Worker to the object. Keys stay in memory on both sides. */
export interface StartMessage {
  readonly id: string
  readonly kind: Kind
  readonly name: string
  readonly scope?: Target['scope']
  readonly input: RunInput
  readonly options: RunOptions
  readonly owner: string | null
  /** The client whose place the run takes. */
  readonly client: string
  /** The index object that lists the run. */
  readonly listedBy: ListedBy
  readonly isBackground: boolean
  readonly secrets?: readonly string[] | undefined
}

/** The methods of a run's object. */
export interface RunMethods {
  start(message: StartMessage): Promise<RunRecord>
  get(viewer: Viewer): Promise<RunRecord>
  wait(viewer: Viewer): Promise<RunRecord>
  cancel(viewer: Viewer): Promise<RunRecord>
  /** Finds the object's own run, for any owner. Gives an empty list if there is none. */
  find(id: string): Promise<readonly FoundRun[]>
  follow(viewer: Viewer, after: number): Promise<ReadableStream<Uint8Array>>
}

/** The collection with the index object's name, for runs that their owner's index does not list. */
const LISTED_BY = 'listed-by'

/** Makes the keeper of one object's run. */
export function createRunKeeper(seat: Seat, core: Core): Keeper {
  const { store, reach } = seat
  const settings = runsInObject(core)
  const index = callsAt((place, keeper) => reach('index', place, keeper), RUN_KEEPER, RUN_INDEX)

  /** The index object that lists the run. It stays the same even if a deployment gets more index objects. */
  const indexOf = ({ record, owner }: StoredRun): string =>
    store.read(tx => tx.get<string>(LISTED_BY, record.id))?.value ?? partitionOf(owner)

  const kept: KeptInObject<StoredRun> = new KeptInObject(seat, {
    collection: RUNS,
    missing: () => new ServableError('run_not_found', 'There is no such run'),
    // A running run has been listed since it was admitted.
    storyOf: ({ record: { status } }) => (status === 'running' ? undefined : status),
    isAtWork: ({ record }) => record.status === 'running',
    tell: ({ value, expiresAt }) => index.update(indexOf(value), value, expiresAt),
    unlist: ({ id, value }) => index.remove(indexOf(value), id),
    // The host first ends a run that an eviction interrupted.
    look: async ({ id, value }) => void (await host.get(id, value.owner)),
    forget(tx, run) {
      forgetRun(tx, run)
      tx.delete(LISTED_BY, run.record.id)
    },
  })
  const host: RunHost = createLocalHost({
    store,
    settings,
    retention: {},
    leavesExpired: true,
    onEnded: () => seat.waitUntil(kept.settle()),
  })

  async function admit(
    { id, owner, client, listedBy, options }: StartMessage,
    target: Target,
  ): Promise<void> {
    const { name, shares } = listedBy
    const { maxRunning, maxRunningPerOwner, timeoutMs } = settings
    const run = newRun(
      { id, at: Date.now(), instance: store.instance },
      { target, options, owner, key: undefined },
    )
    await index.admit(name, run, client, {
      maxRunning: Math.max(1, Math.floor(maxRunning / shares)),
      maxRunningPerOwner,
      timeoutMs,
    })
    if (name === partitionOf(owner)) return
    store.write(tx => tx.put(LISTED_BY, { id, partition: '', at: 0, tags: {}, value: name }))
  }

  const methods: RunMethods = {
    async start(message) {
      const { id, kind, name, scope, input, owner, client, isBackground, secrets } = message
      const target = resolveInObject(core.catalogOf(scope), kind, name)
      await kept.expire()
      if (kept.document() === undefined) await admit(message, target)
      const options = { ...message.options, runId: id }
      const record = await host.start({ target, input, options, owner, client, isBackground, secrets })
      if (record.status === 'running') await seat.wakeBy(Date.now() + WATCH_MS)
      return record
    },
    async get(viewer) {
      const record = await host.get(await kept.id(), viewer)
      // An eviction may have ended the run. The index learns of it before the caller does.
      if (kept.isUntold()) await kept.settle()
      return record
    },
    wait: async viewer => host.wait(await kept.id(), viewer, new AbortController().signal),
    follow: async (viewer, after) => streamOf(await host.follow(await kept.id(), viewer, after)),
    async find(id) {
      await kept.expire()
      return kept.document() === undefined ? [] : host.find(id)
    },
    async cancel(viewer) {
      const record = await host.cancel(await kept.id(), viewer)
      await kept.settle()
      return record
    },
  }
  return {
    collections: [RUNS, RESULTS, LISTED_BY],
    // The work of this object ends with its memory. The record shows that to the next request.
    passing: [RUNNING],
    ask: (method, args) => callIn(methods, method, args),
    alarm: () => kept.alarm(),
  }
}
