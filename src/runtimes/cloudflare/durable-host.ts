/**
 * The run host of a Worker: every stored run is in a Durable Object of its own, and this talks to them.
 *
 * @module
 */

import { isServableError } from '../../errors.ts'
import type {
  Follower,
  HostSettings,
  RunHost,
  RunPage,
  RunQuery,
  StartRequest,
  Viewer,
} from '../../runs/host.ts'
import { type FoundRun, partitionOf, RUNS, type RunRecord, type RunSummary } from '../../runs/record.ts'
import { type Bindings, type IndexStub, referredTo } from './bindings.ts'
import { Indexes, joinPages } from './indexes.ts'
import { followerOf, unwrap } from './rpc.ts'

/** Milliseconds after which a run that is listed but has no object will not begin any more. */
const STILLBORN_MS = 60_000

/** Makes the host. `indexes`: how many index objects share the runs of clients without an identity. */
export function createDurableHost(bindings: Bindings, settings: HostSettings, indexes = 1): RunHost {
  return new DurableHost(bindings, settings, new Indexes(indexes))
}

class DurableHost implements RunHost {
  readonly #bindings: Bindings
  readonly #settings: HostSettings
  readonly #indexes: Indexes

  constructor(bindings: Bindings, settings: HostSettings, indexes: Indexes) {
    this.#bindings = bindings
    this.#settings = settings
    this.#indexes = indexes
  }

  async start(request: StartRequest): Promise<RunRecord> {
    const { target, input, options, owner, isBackground, key, secrets } = request
    const { kind, name, scope } = target
    let id = options.runId ?? crypto.randomUUID()
    if (key !== undefined) {
      // The first one to reserve chooses the run; the object of that run starts it once, whoever asks.
      const { timeoutMs, retentionMs } = this.#settings
      const index = this.#bindings.index.getByName(`key:${key.id}`)
      id = await unwrap(index.reserve(key, id, Date.now() + timeoutMs + retentionMs))
    }
    const client = request.client ?? partitionOf(owner)
    const message = {
      id,
      kind,
      name,
      ...(scope && { scope }),
      input,
      options: { ...options, signal: undefined },
      owner,
      client,
      listedBy: this.#indexes.of(owner, client),
      isBackground,
      secrets,
    }
    return unwrap(this.#run(id).start(message))
  }

  get(id: string, viewer: Viewer): Promise<RunRecord> {
    return unwrap(this.#run(id).get(viewer))
  }

  async follow(id: string, viewer: Viewer, after: number): Promise<Follower> {
    return followerOf(await unwrap(this.#run(id).follow(viewer, after)))
  }

  wait(id: string, viewer: Viewer): Promise<RunRecord> {
    return unwrap(this.#run(id).wait(viewer))
  }

  cancel(id: string, viewer: Viewer): Promise<RunRecord> {
    return unwrap(this.#run(id).cancel(viewer))
  }

  async find(ref: string): Promise<readonly FoundRun[]> {
    const ids = await referredTo(this.#bindings, RUNS, ref, this.#indexes.namesOf(null))
    return (await Promise.all(ids.map(id => unwrap(this.#run(id).find(id))))).flat()
  }

  async list(owner: Viewer, query: RunQuery): Promise<RunPage> {
    const { status } = query
    // Those that ended without their index knowing are found among those that it thinks are at work.
    if (status !== undefined && status !== 'running') {
      await this.list(owner, { ...query, status: 'running', cursor: undefined, limit: 100 })
    }
    const indexes = this.#indexes.namesOf(owner).map(name => this.#bindings.index.getByName(name))
    const pages = await Promise.all(
      indexes.map(async index => [index, await unwrap(index.list(owner, query))] as const),
    )
    const page = joinPages(pages, query.limit)
    const fresh = await Promise.all(page.runs.map(([run, index]) => this.#fresh(run, owner, index)))
    const runs = fresh.flatMap(run => (run === undefined ? [] : [run]))
    return { ...page, runs: status === undefined ? runs : runs.filter(run => run.status === status) }
  }

  /** The index learns of a run's end a moment after the run's own object, so those at work are asked themselves. */
  async #fresh(run: RunSummary, owner: Viewer, index: IndexStub): Promise<RunSummary | undefined> {
    if (run.status !== 'running') return run
    try {
      const { result: _, ...summary } = await this.get(run.id, owner)
      return summary
    } catch (error) {
      if (!isServableError(error) || error.code !== 'run_not_found') return run
      if (Date.now() - Date.parse(run.createdAt) < STILLBORN_MS) return run
      // It was listed, but its object was gone before it began.
      await index.remove(run.id)
      return undefined
    }
  }

  #run(id: string) {
    return this.#bindings.runs.getByName(id)
  }
}
