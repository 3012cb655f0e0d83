/**
 * Starts a run for a client, over any transport. It is a plain run unless it must outlive its client, has a key, or the
 * disconnect policy asks for a stored one.
 *
 * @module
 */

import type { RunEvent, RunInput, RunOptions, RunResult } from '../../agents/contract.ts'
import { errorOf } from '../../agents/event.ts'
import { asTold, ServableError } from '../../base/errors.ts'
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

/** Who asks for a run. */
export interface Asker extends Caller, Who, Approver {
  readonly requestId?: string | undefined
  readonly traceparent?: string | undefined
  /** How it asks: `http` (its answer is JSON), `sse`, `socket`, or the name of a plugin. */
  readonly transport: string
  /** Requests of one deployment do not share memory. */
  readonly isIsolated: boolean
  /** Keys of model providers, beside the one that the run's body has. */
  apiKeys(apiKey: string | undefined): Record<string, string> | undefined
  /** What stands for it with an idempotency key, where nobody is identified. */
  credentials(): readonly string[]
  /** What of what it sent must stand in no log. */
  readonly secrets: () => readonly string[]
}

/** A run that is asked for. */
export interface AskedRun extends Conversation {
  readonly target: Target
  readonly input: RunInput
  readonly sessionId?: string | undefined
  /** The client's own id of its message. */
  readonly messageId?: string | undefined
  /** The client's id of an earlier message of the session: its turn and all after it are deleted when this one begins. */
  readonly replaces?: string | undefined
  /** Whose it is said to be; an identity comes before it. */
  readonly userId?: string | undefined
  /** Key of a model provider, which comes before those of headers. */
  readonly apiKey?: string | undefined
  /** Further facts of the transport. */
  readonly metadata?: Readonly<Record<string, unknown>> | undefined
  /** It outlives its client. */
  readonly isBackground?: boolean
  /** It is a stored run, and its input is kept as long as its record. */
  readonly keepsInput?: boolean
  /** Who is told of its end, beside subscribers. It is a run in the background. */
  readonly webhook?: RunWebhook | undefined
  /** An idempotency key, and the body for which it stands. */
  readonly key?: { readonly key: string; readonly body: unknown } | undefined
  /** To be called once the input is not needed any more. */
  readonly release?: (() => void) | undefined
}

/** What all runs of a handler have in common. */
export interface StartParts {
  readonly runs: HostSettings
  readonly host: RunHost
  /** Why a request cannot have a stored run, if so. */
  readonly whyUnstored: (asker: Pick<Asker, 'isIsolated'>) => string | undefined
}

/**
 * Starts a run. Throws `runs_not_stored` where it cannot be stored, `idempotency_mismatch` where its key was used for another
 * body, `too_many_runs`, and what a `Permit` throws. Whoever reads a plain run cancels it by leaving; for a stored one the disconnect policy says.
 */
export type StartRun = (asked: AskedRun, asker: Asker) => StartedRun | Promise<StartedRun>

/** Makes a {@link StartRun}. */
export function createStartRun(parts: StartParts): StartRun {
  const { runs, whyUnstored } = parts
  const { permit, inputFilter } = runs
  const storedClientOf = createStoredClientOf()
  const start: StartRun = (asked, asker) => {
    const { target, input, isBackground = false, keepsInput, key, release } = asked
    const options = runOptionsOf({ ...asked, ...toldOf(asked, runs) }, asker)
    const mustStore =
      isBackground || keepsInput || key !== undefined || asked.webhook || runs.disconnect !== 'cancel'
    const why = whyUnstored(asker)
    if (!mustStore && (runs.store !== 'all' || why !== undefined)) {
      const begin = (runId?: string) => {
        const caller = new PlainCaller(asker, parts, storedClientOf)
        const run = startRun(target, input, runId ? { ...options, runId } : options, runs, caller)
        run.onEnd = release
        return new StartedRun(run, undefined, parts.host, asker.owner)
      }
      if (runs.admit === undefined) return begin()
      const id = crypto.randomUUID()
      return storedClientOf(asker).then(client =>
        admitted(runs.admit, { id, target, input, options, client }, () => begin(id)),
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
    const said = await inputFilter({ input, history }, by)
    return start({ ...asked, input: said.input ?? input, history: said.history }, asker)
  }
}

/** Who asks for a plain run. One that waits for someone is stored from then on. */
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

/** What a run knows of who asks for it. */
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
 * What a run is told of earlier turns by its client. A run that has a history has no other memory. Throws
 * `conflicting_memory` where both would be meant, and `invalid_body` for a message to replace where no session has it.
 */
function toldOf(
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

/** How a run is asked for, if its record is to say so. */
export function transportOf(
  { transport }: Asker,
  { runs: { measure } }: Pick<StartParts, 'runs'>,
): string | undefined {
  return measure ? transport : undefined
}

async function startStored(
  { target, input, isBackground = false, keepsInput, key, webhook }: AskedRun,
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
    transport: transportOf(asker, parts),
    key: key && (await digestKey(key.key, { owner, credentials: credentials(), target }, key.body)),
    secrets: asker.secrets(),
  })
  return new StartedRun(undefined, record, parts.host, owner, record.id === runId)
}

/** Throws `unsupported_operation` where nobody is told of runs, and as `RunNotices.admit` does. */
async function admitWebhook(
  webhook: Parameters<RunNotices['admit']>[0],
  { notices }: HostSettings,
): Promise<void> {
  if (notices !== undefined) return notices.admit(webhook)
  throw new ServableError('unsupported_operation', '`webhook`: nobody is told of runs here')
}

/** A run that has been started, or found by its key. */
export class StartedRun {
  readonly id: string
  /** The run, where it is a plain one. */
  readonly run: Run | undefined
  /** Its record, where it is a stored one. */
  readonly record: RunRecord | undefined
  /** Whether it was started now; false where its key, or the same answers, had started it before. */
  readonly isNew: boolean
  readonly #host: RunHost
  readonly #owner: string | null

  constructor(
    run: Run | undefined,
    record: RunRecord | undefined,
    host: RunHost,
    owner: string | null,
    isNew = true,
  ) {
    this.run = run
    this.record = record
    this.id = run?.id ?? record?.id ?? ''
    this.isNew = isNew
    this.#host = host
    this.#owner = owner
  }

  /** Its events, from the first to the one that ends it. For one reader; leaving it early is leaving the run. */
  events(): AsyncIterableIterator<RunEvent> {
    return this.run ?? new StoredEvents(this.#host.follow(this.id, this.#owner, 0))
  }

  /** Waits for its end and folds its events. `signal` says that the one who waits has left. Rejects with what made it fail. */
  async result(signal: AbortSignal = new AbortController().signal): Promise<RunResult> {
    if (this.run !== undefined) return this.run.result()
    return resultOf(await this.#host.wait(this.id, this.#owner, signal))
  }
}

/** The events of a stored run. Whoever leaves is gone at once, also while it waits for the next one. */
class StoredEvents implements AsyncIterableIterator<RunEvent> {
  readonly #follower: Promise<Follower>
  #batch: RunEvent[] = []
  #isOver = false

  constructor(follower: Promise<Follower>) {
    this.#follower = follower
    // Whoever reads is told.
    follower.catch(() => {})
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  async next(): Promise<IteratorResult<RunEvent, undefined>> {
    if (this.#batch.length === 0 && !this.#isOver) await this.#readOn()
    const value = this.#isOver ? undefined : this.#batch.shift()
    return value === undefined ? { done: true, value } : { done: false, value }
  }

  async return(): Promise<IteratorResult<RunEvent, undefined>> {
    this.#isOver = true
    const follower = await this.#follower.catch(() => undefined)
    follower?.leave()
    return { done: true, value: undefined }
  }

  async #readOn(): Promise<void> {
    try {
      const follower = await this.#follower
      const batch = await follower.next()
      // The log holds what the run host wrote into it.
      if (batch !== undefined) this.#batch = batch.map(({ data }) => JSON.parse(data) as RunEvent)
      else this.#isOver = true
    } catch (error) {
      await this.return()
      throw error
    }
  }
}

/** The result of an ended run; what made it fail is thrown again. */
function resultOf({ result, error, status }: RunRecord): RunResult {
  if (result !== undefined) return result
  const { code, message } = error ?? { code: 'agent_failed', message: `The run is ${status}` }
  throw asTold(errorOf({ type: 'error', code, error: message }))
}
