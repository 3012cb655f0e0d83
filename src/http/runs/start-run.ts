/**
 * Starts a run for a client, over any transport. It is a plain run unless it must outlive its client, has a key, or the
 * disconnect policy requires a stored one.
 *
 * @module
 */

import type { AnsweredBy, RunInput, RunOptions } from '../../agents/contract.ts'
import { ServableError } from '../../base/errors.ts'
import { admitted } from '../../runs/admit.ts'
import type { Conversation } from '../../runs/input.ts'
import { checkPermit } from '../../runs/permit.ts'
import { startRun } from '../../runs/run.ts'
import type { Caller, KeptRun, PlainOptions } from '../../runs/run-settings.ts'
import type { HostSettings, RunHost } from '../../runs/stored/host.ts'
import type { RunWebhook } from '../../runs/stored/record.ts'
import type { Target } from '../../runs/target.ts'
import type { Approver } from '../../runs/waiting/asking.ts'
import type { Continued } from '../../runs/waiting/waiting.ts'
import { createStoredClientOf, type StoredClientOf, type Who } from '../security/client-of.ts'
import { StartedRun } from './started-run.ts'

export { type RunEntry, StartedRun, type Steered } from './started-run.ts'

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
  /** The client's id of an earlier message of the session, in whose place this one comes on a branch of its own. */
  readonly replaces?: string | undefined
  /** The id of the run after whose turn this one comes. */
  readonly branchFrom?: string | undefined
  /** The id of the run whose turn must be the last one. */
  readonly ifHead?: string | undefined
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
  /** The run whose input it is, and the work of that run which it takes over. */
  readonly retryOf?: string | undefined
  readonly continues?: Continued | undefined
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

/** Who starts a stored run, and where. */
interface StartedBy {
  readonly client: string
  readonly asker: Asker
  readonly parts: StartParts
}

/** How stored runs start. */
export interface StoredStarts {
  /** Whether the message of a request may reach a run at work. */
  maySteer(asked: AskedRun, options: RunOptions, settings: Pick<HostSettings, 'memory'>): boolean
  /**
   * Sends the message of a request to the run at work of its session. The message is a stored run that waits for the session: the run at
   * work takes it from there, or it is the next run. Undefined if no run is at work. Throws `session_busy` if too much waits.
   */
  steer(asked: AskedRun, options: RunOptions, by: StartedBy): Promise<StartedRun | undefined>
  start(asked: AskedRun, options: RunOptions, by: StartedBy): Promise<StartedRun>
}

/** What all runs of a handler share. */
export interface StartParts {
  readonly runs: HostSettings
  readonly host: RunHost
  /** Returns why a request cannot have a stored run; undefined if it can. */
  readonly whyUnstored: (asker: Pick<Asker, 'isIsolated'>) => string | undefined
  /** Starts stored runs; undefined without a state. */
  readonly stored: StoredStarts | undefined
}

/**
 * Starts a run. Throws `runs_not_stored` if it cannot be stored, `idempotency_mismatch` if its key was used for another body,
 * `too_many_runs`, and the errors of `Permit`. A reader that leaves cancels a plain run; for a stored run the disconnect policy
 * decides.
 */
export type StartRun = (asked: AskedRun, asker: Asker) => StartedRun | Promise<StartedRun>

/** Makes a {@link StartRun}. */
export function createStartRun(parts: StartParts): StartRun {
  const { runs, whyUnstored, stored } = parts
  const { permit, inputFilter } = runs
  const storedClientOf = createStoredClientOf()
  const start: StartRun = (asked, asker) => {
    const options = runOptionsOf({ ...asked, ...historyOf(asked, runs) }, asker)
    if (!stored?.maySteer(asked, options, runs) || whyUnstored(asker) !== undefined)
      return begin(asked, asker, options)
    return storedClientOf(asker)
      .then(client => stored.steer(asked, options, { client, asker, parts }))
      .then(started => started ?? begin(asked, asker, options))
  }
  const begin = (asked: AskedRun, asker: Asker, options: PlainOptions) => {
    const { target, input, isBackground = false, keepsInput, leavesNothing, key, release } = asked
    const mustStore =
      isBackground ||
      keepsInput ||
      key !== undefined ||
      asked.webhook ||
      asked.continues ||
      runs.disconnect !== 'cancel'
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
    if (stored === undefined || why !== undefined) throw new ServableError('runs_not_stored', why ?? '')
    return storedClientOf(asker).then(client => stored.start(asked, options, { client, asker, parts }))
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
    branchFrom,
    ifHead,
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
    branchFrom,
    ifHead,
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
  { sessionId, replaces, branchFrom, ifHead, history, memory }: AskedRun,
  { clientSystem }: Pick<HostSettings, 'clientSystem'>,
): Pick<AskedRun, 'history'> {
  const isOurs = memory === undefined
  for (const [field, value] of Object.entries({ replaces, branchFrom, ifHead })) {
    if (value && (!sessionId || history || !isOurs))
      throw new ServableError('invalid_body', `Give \`sessionId\` with \`${field}\`, and no \`memory\``)
  }
  if (replaces && branchFrom)
    throw new ServableError('invalid_body', 'Give `replaces` or `branchFrom`, and not both')
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
