/**
 * The run host of a Worker. Every stored run is in a Durable Object of its own, and this host calls those objects.
 *
 * @module
 */

import type { Answer } from '../../agents/contract.ts'
import { isServableError, ServableError } from '../../base/errors.ts'
import type { Reach } from '../../core/hosted.ts'
import { remote, type ServiceCalls } from '../../core/object-service.ts'
import { type Calls, objectCalls } from '../../core/transaction-calls.ts'
import type { Feedback, FeedbackInput, Rating } from '../../runs/feedback.ts'
import type {
  EndedRun,
  Follower,
  HostSettings,
  ListedRun,
  ResumedRun,
  ResumeRequest,
  RunHost,
  RunPage,
  RunQuery,
  StartRequest,
  Viewer,
} from '../../runs/stored/host.ts'
import type { StoredRequest } from '../../runs/stored/journal.ts'
import type { EventQuery, LogPage } from '../../runs/stored/log-page.ts'
import { followerOf } from '../../runs/stored/log-stream.ts'
import { type FoundRun, isWholeId, MAX_FOUND, partitionOf, type RunRecord } from '../../runs/stored/record.ts'
import { keepMsOf } from '../../runs/stored/retention.ts'
import type { Asking } from '../../runs/waiting/asking.ts'
import type { AnsweredRun, Answering, WaitingRun } from '../../runs/waiting/waiting.ts'
import { Indexes, joinPages } from './indexes.ts'
import { addressOfKey, LIST_OF_ALL, RUN_INDEX, RUN_SERVICE, type RunIndex } from './run-index.ts'
import type { RunMethods } from './run-object.ts'

/** Milliseconds after which a listed run without an object counts as never started. */
const STILLBORN_MS = 60_000

const NO_LIST_OF_ALL =
  'On Workers each owner has a list of their own: name one with `owner`, or set `durableState({ listsAll: true })`'

/** Errors before a run has begun. The client may send the same request again later. */
const REFUSED: ReadonlySet<string> = new Set(['too_many_runs', 'budget_exceeded', 'agent_paused'])

/** The lists of a deployment. */
interface Lists {
  /** The number of index objects that share the runs of clients without an identity. */
  readonly indexes: number
  /** Whether one more has the runs of all owners. */
  readonly listsAll: boolean
}

/** Makes the host. */
export function createDurableHost(reach: Reach, settings: HostSettings, lists: Lists): RunHost {
  return new DurableHost(reach, settings, lists)
}

class DurableHost implements RunHost {
  readonly #reach: Reach
  readonly #settings: HostSettings
  readonly #indexes: Indexes
  readonly #index: Calls<RunIndex>

  readonly #listsAll: boolean

  constructor(reach: Reach, settings: HostSettings, { indexes, listsAll }: Lists) {
    this.#reach = reach
    this.#settings = settings
    this.#indexes = new Indexes(indexes)
    this.#listsAll = listsAll
    this.#index = objectCalls((address, service) => reach('index', address, service), RUN_SERVICE, RUN_INDEX)
  }

  async start(request: StartRequest): Promise<RunRecord> {
    const { target, ...rest } = request
    const { options, owner, key } = rest
    const { kind, name, scope } = target
    const own = options.runId ?? crypto.randomUUID()
    let id = own
    if (key !== undefined) {
      // The first request to reserve the key chooses the run's id. The run's object starts the run only once.
      const { timeoutMs } = this.#settings
      const keepMs = keepMsOf({ kind, name, owner }, this.#settings, {})
      id = await this.#index.reserve(addressOfKey(key.id), key, own, Date.now() + timeoutMs + keepMs)
    }
    const client = request.client ?? partitionOf(owner)
    const message = {
      ...rest,
      id,
      kind,
      name,
      ...(scope && { scope }),
      options: { ...options, signal: undefined, work: undefined },
      owner,
      client,
      listedBy: this.#indexes.of(owner, client),
    }
    try {
      return await this.#run(id).start(message)
    } catch (error) {
      // No data is left. A queued run has its key in the queue.
      const isRefused = isServableError(error) && REFUSED.has(error.code)
      if (key !== undefined && id === own && isRefused)
        await this.#index.free(addressOfKey(key.id), key.id, id)
      throw error
    }
  }

  keep(run: WaitingRun): Promise<void> {
    const { id, owner, client = partitionOf(owner) } = run
    return this.#run(id).keep({ ...run, listedBy: this.#indexes.of(owner, client) })
  }

  record(run: EndedRun): Promise<void> {
    const { id, owner, client = partitionOf(owner) } = run
    return this.#run(id).record({ ...run, listedBy: this.#indexes.of(owner, client) })
  }

  asking(id: string): Promise<Asking | undefined> {
    return this.#run(id).asking(id)
  }

  answer(
    id: string,
    viewer: Viewer,
    answers: readonly Answer[],
    next: string,
    by?: Answering,
  ): Promise<AnsweredRun> {
    return this.#run(id).answer(viewer, answers, next, by)
  }

  resume(id: string, viewer: Viewer, request: ResumeRequest): Promise<ResumedRun> {
    return this.#run(id).resume(viewer, request)
  }

  asked(id: string, viewer: Viewer, from?: string): Promise<StoredRequest> {
    return this.#run(id).asked(viewer, from)
  }

  get(id: string, viewer: Viewer): Promise<RunRecord> {
    return this.#run(id).get(viewer)
  }

  async follow(id: string, viewer: Viewer, after: number): Promise<Follower> {
    return followerOf(await this.#run(id).follow(viewer, after))
  }

  events(id: string, viewer: Viewer, query: EventQuery): Promise<LogPage> {
    return this.#run(id).events(viewer, query)
  }

  wait(id: string, viewer: Viewer): Promise<RunRecord> {
    return this.#run(id).wait(viewer)
  }

  cancel(id: string, viewer: Viewer): Promise<RunRecord> {
    return this.#run(id).cancel(viewer)
  }

  async delete(id: string, viewer: Viewer): Promise<void> {
    try {
      await this.#run(id).delete(viewer)
    } catch (error) {
      // Removes a deleted run from the lists.
      if (isServableError(error) && error.code === 'run_not_found') {
        const names = [...this.#indexes.namesOf(viewer), ...(this.#listsAll ? [LIST_OF_ALL] : [])]
        await Promise.all(names.map(name => this.#index.remove(name, id)))
      }
      throw error
    }
  }

  feedback(id: string, viewer: Viewer, given?: FeedbackInput): Promise<Feedback | undefined> {
    return this.#run(id).feedback(viewer, given)
  }

  rate(id: string, viewer: Viewer, rating: Rating): Promise<void> {
    return this.#run(id).rate(viewer, rating)
  }

  async find(ref: string): Promise<readonly FoundRun[]> {
    const ids = isWholeId(ref) ? [ref] : await this.#referredTo(ref)
    return (await Promise.all(ids.map(id => this.#run(id).find(id)))).flat()
  }

  async list(owner: Viewer, query: RunQuery): Promise<RunPage> {
    if (query.everyone && !this.#listsAll) throw new ServableError('unsupported_operation', NO_LIST_OF_ALL)
    const { status } = query
    // Some runs have ended but their index does not know. They are among those that the index lists as running.
    if (status !== undefined && status !== 'running') {
      const running = { status: 'running', cursor: undefined, count: undefined, limit: 100 } as const
      await this.list(owner, { ...query, ...running })
    }
    const names = query.everyone ? [LIST_OF_ALL] : this.#indexes.namesOf(owner)
    const pages = await Promise.all(
      names.map(async name => [name, await this.#index.list(name, owner, query)] as const),
    )
    const page = joinPages(pages, query.limit)
    const fresh = await Promise.all(page.runs.map(([run, index]) => this.#fresh(run, owner, index)))
    const runs = fresh.flatMap(run => (run === undefined ? [] : [run]))
    return { ...page, runs: status === undefined ? runs : runs.filter(run => run.status === status) }
  }

  /** Reads running runs from their own objects, since the index learns of a run's end a moment later. */
  async #fresh(run: ListedRun, owner: Viewer, index: string): Promise<ListedRun | undefined> {
    if (run.status !== 'running') return run
    const { owner: own } = run
    try {
      const { result: _, requests: __, ...summary } = await this.get(run.id, own === undefined ? owner : own)
      return own === undefined ? summary : { ...summary, owner: own }
    } catch (error) {
      if (!isServableError(error) || error.code !== 'run_not_found') return run
      if (Date.now() - Date.parse(run.createdAt) < STILLBORN_MS) return run
      // The run was listed, but its object was gone before the run began.
      await this.#index.remove(index, run.id)
      return undefined
    }
  }

  /** Ids of runs without an owner that begin with `ref`. */
  async #referredTo(ref: string): Promise<readonly string[]> {
    const found = await Promise.all(this.#indexes.namesOf(null).map(name => this.#index.idsOf(name, ref)))
    return found.flat().slice(0, MAX_FOUND)
  }

  #run(id: string): ServiceCalls<RunMethods> {
    return remote(this.#reach('run', id, RUN_SERVICE))
  }
}
