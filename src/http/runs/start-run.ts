/**
 * Starts a run for a client, over any transport. It is a plain run unless it must outlive its client, has a key, or the
 * disconnect policy requires a stored one.
 *
 * @module
 */

import type { AnsweredBy, RunEvent, RunInput, RunOptions, RunResult } from '../../agents/contract.ts'
import { errorOf } from '../../agents/event.ts'
import { asLogged, ServableError } from '../../base/errors.ts'
import { admitted } from '../../runs/admit.ts'
import type { Conversation } from '../../runs/input.ts'
import type { RunNotices } from '../../runs/notices.ts'
import { checkPermit } from '../../runs/permit.ts'
import { type Run, startRun } from '../../runs/run.ts'
import type { Caller, KeptRun, PlainOptions } from '../../runs/run-settings.ts'
import type { Follower, HostSettings, RunHost } from '../../runs/stored/host.ts'
import type { RunRecord, RunWebhook } from '../../runs/stored/record.ts'
import type { Target } from '../../runs/target.ts'
import type { Approver } from '../../runs/waiting/asking.ts'
import { createStoredClientOf, type StoredClientOf, type Who } from '../security/client-of.ts'
import { digestKey } from './idempotency.ts'
import { maySteer, type Steered, steer } from './steer.ts'

/** The caller that starts a run. */
export interface Asker extends Caller, Who, Approver {
  readonly requestId?: string | undefined
  readonly traceparent?: string | undefined
  /** The form of its request: `http` (the answer is JSON), `sse`, `socket`, or the name of a plugin. */
  readonly transport: string
  /** Whether requests of one deployment share no memory. */
  readonly isIsolated: boolean
  /** Returns the keys of model providers, including the one in the run's body. */
  apiKeys(apiKey: string | undefined): Record<string, string> | undefined
  /** Returns what identifies the client of an idempotency key, if nobody is identified. */
  credentials(): readonly string[]
  /** Returns the secrets of the request that must not be logged. */
  readonly secrets: () => readonly string[]
}

/** A run to start. */
export interface AskedRun extends Conversation {
  readonly target: Target
  readonly input: RunInput
  readonly sessionId?: string | undefined
  /** The client's own id of its message. */
  readonly messageId?: string | undefined
  /** The client's id of an earlier message of the session. Its turn and all later ones are deleted when this one begins. */
  readonly replaces?: string | undefined
  /** The claimed user. An identity overrides it. */
  readonly userId?: string | undefined
  /** The key of a model provider, from the body. Keys in headers override it. */
  readonly apiKey?: string | undefined
  /** Further facts of the transport. */
  readonly metadata?: Readonly<Record<string, unknown>> | undefined
  /** Whether it outlives its client. */
  readonly isBackground?: boolean
  /** Whether it is a stored run whose input is stored as long as its record. */
  readonly keepsInput?: boolean
  /** Whether its client wants nothing of it to be kept. It is then a plain run, unless something else needs a stored one. */
  readonly leavesNothing?: boolean
  /** The webhook that gets its end, beside subscribers. It makes the run a background run. */
  readonly webhook?: RunWebhook | undefined
  /** The run whose input it is. */
  readonly retryOf?: string | undefined
  /** An idempotency key, and the body that it belongs to. */
  readonly key?: { readonly key: string; readonly body: unknown } | undefined
  /**
   * What happens to its message while a run of its session is at work: it waits, or it reaches that run if that takes it. Default: as
   * `sessions.concurrency` says if `readsSteered`; else it waits.
   */
  readonly concurrency?: 'queue' | 'steer' | undefined
  /** Whether its transport can answer with `steered` of the started run. */
  readonly readsSteered?: boolean
  /** Called once the input is no longer needed. */
  readonly release?: (() => void) | undefined
}

/** What all runs of a handler share. */
export interface StartParts {
  readonly runs: HostSettings
  readonly host: RunHost
  /** Returns why a request cannot have a stored run; undefined if it can. */
  readonly whyUnstored: (asker: Pick<Asker, 'isIsolated'>) => string | undefined
}

/**
 * Starts a run. Throws `runs_not_stored` if it cannot be stored, `idempotency_mismatch` if its key was used for another body,
 * `too_many_runs`, and the errors of `Permit`. A reader that leaves cancels a plain run; for a stored run the disconnect policy
 * decides.
 */
export type StartRun = (asked: AskedRun, asker: Asker) => StartedRun | Promise<StartedRun>

/** Makes a {@link StartRun}. */
export function createStartRun(parts: StartParts): StartRun {
  const { runs, whyUnstored } = parts
  const { permit, inputFilter } = runs
  const storedClientOf = createStoredClientOf()
  const start: StartRun = (asked, asker) => {
    const options = runOptionsOf({ ...asked, ...historyOf(asked, runs) }, asker)
    if (!maySteer(asked, options, parts, asker)) return begin(asked, asker, options)
    const asBackground = async (own: RunOptions) =>
      startStored({ ...asked, isBackground: true }, own, {
        client: await storedClientOf(asker),
        asker,
        parts,
      })
    return steer(asked, options, parts, asker, asBackground).then(
      started => started ?? begin(asked, asker, options),
    )
  }
  const begin = (asked: AskedRun, asker: Asker, options: PlainOptions) => {
    const { target, input, isBackground = false, keepsInput, leavesNothing, key, release } = asked
    const mustStore =
      isBackground || keepsInput || key !== undefined || asked.webhook || runs.disconnect !== 'cancel'
    const why = whyUnstored(asker)
    if (!mustStore && (leavesNothing || runs.store !== 'all' || why !== undefined)) {
      const beginPlain = (runId?: string) => {
        const caller = new PlainCaller(asker, parts, storedClientOf)
        const run = startRun(target, input, runId ? { ...options, runId } : options, runs, caller)
        run.onEnd = release
        return new StartedRun(run, undefined, parts.host, asker.owner)
      }
      if (runs.admit === undefined) return beginPlain()
      const id = crypto.randomUUID()
      return storedClientOf(asker).then(client =>
        admitted(runs.admit, { id, target, input, options, client }, () => beginPlain(id)),
      )
    }
    if (why !== undefined) throw new ServableError('runs_not_stored', why)
    return storedClientOf(asker).then(client =>
      startStored({ ...asked, isBackground }, options, { client, asker, parts }),
    )
  }
  if (inputFilter === undefined && permit === undefined) return start
  return async (asked, asker) => {
    const { target, sessionId, input, history } = asked
    if (permit !== undefined) checkPermit(await permit(asker), target)
    if (inputFilter === undefined) return start(asked, asker)
    const by = { target, sessionId, identity: asker.owner ?? undefined, signal: asker.signal }
    const filtered = await inputFilter({ input, history }, by)
    return start({ ...asked, input: filtered.input ?? input, history: filtered.history }, asker)
  }
}

/** The caller of a plain run. A run that waits for someone is stored from then on. */
class PlainCaller implements Caller {
  readonly secrets: Caller['secrets']
  readonly transport: string
  readonly whyUnkept: string | undefined
  readonly #asker: Asker
  readonly #host: RunHost
  readonly #storedClientOf: StoredClientOf

  constructor(asker: Asker, { host, whyUnstored }: StartParts, storedClientOf: StoredClientOf) {
    this.#asker = asker
    this.#host = host
    this.#storedClientOf = storedClientOf
    this.secrets = asker.secrets
    this.transport = asker.transport
    this.whyUnkept = whyUnstored(asker)
  }

  get signal(): AbortSignal | undefined {
    return this.#asker.signal
  }

  readonly keep = async (run: KeptRun): Promise<void> => {
    const client = await this.#storedClientOf(this.#asker)
    await this.#host.keep({ ...run, owner: this.#asker.owner, client })
  }
}

/** The options that a run gets from its caller. */
export function runOptionsOf(
  {
    sessionId,
    messageId,
    replaces,
    userId,
    apiKey,
    history,
    clientTools,
    metadata,
  }: Omit<AskedRun, 'target' | 'input'>,
  asker: Asker,
): PlainOptions {
  const { owner, traceparent, requestId } = asker
  return {
    sessionId,
    messageId,
    replaces,
    userId: owner ?? userId,
    identity: owner ?? undefined,
    apiKeys: asker.apiKeys(apiKey),
    traceparent,
    requestId,
    history,
    clientTools,
    metadata,
  }
}

/**
 * The history that a run gets from its client. A run with a history has no other memory. Throws `conflicting_memory` if both
 * would be used, and `invalid_body` for a message to replace if no session has it.
 */
function historyOf(
  { sessionId, replaces, history, memory }: AskedRun,
  { clientSystem }: Pick<HostSettings, 'clientSystem'>,
): Pick<AskedRun, 'history'> {
  const isOurs = memory === undefined
  if (replaces && (!sessionId || history || !isOurs))
    throw new ServableError('invalid_body', 'Give `sessionId` with `replaces`, and no `memory`')
  if (history !== undefined && sessionId !== undefined && isOurs)
    throw new ServableError(
      'conflicting_memory',
      "Give `sessionId` or `history`, or say `memory: 'client'` with both",
    )
  if (history === undefined) return isOurs ? {} : { history: [] }
  return { history: clientSystem === 'append' ? history : history.filter(({ role }) => role !== 'system') }
}

/** The transport for the run's record, if runs are measured. */
export function transportOf(
  { transport }: Asker,
  { runs: { measure } }: Pick<StartParts, 'runs'>,
): string | undefined {
  return measure ? transport : undefined
}

/** Who answers requests of a run. */
export function answererOf({ identity, transport }: Asker): AnsweredBy {
  return { ...(identity && { id: identity.id }), at: new Date().toISOString(), over: transport }
}

async function startStored(
  { target, input, isBackground = false, keepsInput, key, webhook, retryOf }: AskedRun,
  options: RunOptions,
  { client, asker, parts }: { readonly client: string; readonly asker: Asker; readonly parts: StartParts },
): Promise<StartedRun> {
  const { owner } = asker
  const credentials = () => [...asker.credentials(), ...Object.entries(options.apiKeys ?? {}).flat()]
  const runId = crypto.randomUUID()
  if (webhook) await admitWebhook({ ...webhook, isBackground }, parts.runs)
  const record = await parts.host.start({
    target,
    input,
    options: { ...options, runId },
    owner,
    client,
    isBackground,
    keepsInput,
    webhook,
    retryOf,
    transport: transportOf(asker, parts),
    key: key && (await digestKey(key.key, { owner, credentials: credentials(), target }, key.body)),
    secrets: asker.secrets(),
  })
  return new StartedRun(undefined, record, parts.host, owner, record.id === runId)
}

/** Throws `unsupported_operation` without the plugin `webhooks`, and as `RunNotices.admit` does. */
async function admitWebhook(
  webhook: Parameters<RunNotices['admit']>[0],
  { notices }: HostSettings,
): Promise<void> {
  if (notices !== undefined) return notices.admit(webhook)
  throw new ServableError('unsupported_operation', '`webhook`: nobody is told of runs here')
}

/** An event of a run, and its position. */
export interface RunEntry {
  readonly id: number
  readonly event: RunEvent
}

/** A run that has been started, or found by its key. */
export class StartedRun {
  readonly id: string
  /** The run, if it is a plain one. */
  readonly run: Run | undefined
  /** Its record, if it is a stored one. */
  readonly record: RunRecord | undefined
  /** Whether it was started now; false if its key, or the same answers, had started it before. */
  readonly isNew: boolean
  /** Set if its message reaches a run at work, which this is if that is a stored run. */
  readonly steered: Steered | undefined
  readonly #host: RunHost
  readonly #owner: string | null

  constructor(
    run: Run | undefined,
    record: RunRecord | undefined,
    host: RunHost,
    owner: string | null,
    isNew = true,
    steered?: Steered,
  ) {
    this.steered = steered
    this.run = run
    this.record = record
    this.id = run?.id ?? record?.id ?? ''
    this.isNew = isNew
    this.#host = host
    this.#owner = owner
  }

  /** The run at work that got its message; itself if that one is not stored. */
  into(other: RunRecord | undefined, steered: Steered): StartedRun {
    return new StartedRun(undefined, other ?? this.record, this.#host, this.#owner, false, steered)
  }

  /** Its events, from the first to the last. For one reader. Leaving early counts as leaving the run. */
  events(): AsyncIterableIterator<RunEvent> {
    return this.run ?? eventsOf(this.entries())
  }

  /**
   * Its events with their positions, after one of them. Positions rise from 1, and may leave numbers out once a run has ended. A run that
   * is not stored begins at its first event. For one reader, as `events`.
   */
  entries(after = 0): AsyncIterableIterator<RunEntry, undefined> {
    return this.run === undefined
      ? new StoredEntries(this.#host.follow(this.id, this.#owner, after))
      : numbered(this.run)
  }

  /** Waits for its end and folds its events. `signal` fires when the caller has left. Rejects with the error of a failed run. */
  async result(signal: AbortSignal = new AbortController().signal): Promise<RunResult> {
    if (this.run !== undefined) return this.run.result()
    return resultOf(await this.#host.wait(this.id, this.#owner, signal))
  }
}

/** The events alone. */
function eventsOf(
  entries: AsyncIterableIterator<RunEntry, undefined>,
): AsyncIterableIterator<RunEvent, undefined> {
  return mapped(entries, ({ event }) => event)
}

/** The events of a run that is not stored, with numbers. */
function numbered(
  run: AsyncIterableIterator<RunEvent, undefined>,
): AsyncIterableIterator<RunEntry, undefined> {
  let last = 0
  return mapped(run, event => ({ id: ++last, event }))
}

/** The values of an iterator, changed. Leaving it leaves that one at once. */
function mapped<T, U>(
  source: AsyncIterableIterator<T, undefined>,
  change: (value: T) => U,
): AsyncIterableIterator<U, undefined> {
  const changed = ({ done, value }: IteratorResult<T, undefined>): IteratorResult<U, undefined> =>
    done ? { done: true, value: undefined } : { done: false, value: change(value as T) }
  return {
    [Symbol.asyncIterator]() {
      return this
    },
    next: async () => changed(await source.next()),
    async return() {
      await source.return?.()
      return { done: true, value: undefined }
    },
  }
}

/** The events of a stored run. Leaving takes effect at once, even while it waits for the next event. */
class StoredEntries implements AsyncIterableIterator<RunEntry, undefined> {
  readonly #follower: Promise<Follower>
  #batch: RunEntry[] = []
  #isOver = false

  constructor(follower: Promise<Follower>) {
    this.#follower = follower
    // The reader gets the error.
    follower.catch(() => {})
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  async next(): Promise<IteratorResult<RunEntry, undefined>> {
    if (this.#batch.length === 0 && !this.#isOver) await this.#readOn()
    const value = this.#isOver ? undefined : this.#batch.shift()
    return value === undefined ? { done: true, value } : { done: false, value }
  }

  async return(): Promise<IteratorResult<RunEntry, undefined>> {
    this.#isOver = true
    const follower = await this.#follower.catch(() => undefined)
    follower?.leave()
    return { done: true, value: undefined }
  }

  async #readOn(): Promise<void> {
    try {
      const follower = await this.#follower
      const batch = await follower.next()
      // The log holds only events that the run host wrote.
      if (batch !== undefined)
        this.#batch = batch.map(({ seq, data }) => ({ id: seq, event: JSON.parse(data) }))
      else this.#isOver = true
    } catch (error) {
      await this.return()
      throw error
    }
  }
}

/** The result of an ended run. Throws the error of a failed one. */
function resultOf({ result, error, status }: RunRecord): RunResult {
  if (result !== undefined) return result
  const { message, ...facts } = error ?? { code: 'agent_failed', message: `The run is ${status}` }
  throw asLogged(errorOf({ type: 'error', error: message, ...facts }))
}
