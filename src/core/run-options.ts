/**
 * How runs are limited and stored: the member `runs` of the options.
 *
 * @module
 */

import * as v from 'valibot'
import { withDefaults } from '../base/defaults.ts'
import { ServableError } from '../base/errors.ts'
import { count, duration, flag, func } from '../base/schemas.ts'
import { logThrown } from '../http/failure-log.ts'
import type { Log } from '../http/log.ts'
import type { DisconnectPolicy, KeptInputs } from '../runs/stored/host.ts'
import { type RetentionMs, type RetentionOf, retentionBy } from '../runs/stored/retention-of.ts'

/** How runs are limited and stored. */
export interface RunsOptions {
  /** Milliseconds that a run may take. After that it fails with `run_timeout`. Default: 600,000. */
  readonly timeoutMs?: number
  /** Most events of one run. A run with more fails with `run_too_large`. Default: 1,000,000. */
  readonly maxEvents?: number
  /**
   * Most characters of text, tool calls and artifacts in a JSON answer. A run with more fails with `run_too_large`. Default:
   * 33,554,432.
   */
  readonly maxLength?: number
  /**
   * What happens to a stored run when its last client disconnects. `cancel` cancels it. `continue` lets it run. `{ graceMs }`
   * cancels it unless a client reconnects within so many milliseconds. With anything but `cancel` every run is a stored run. A
   * background run always continues. Default: `cancel`.
   */
  readonly disconnect?: DisconnectPolicy
  /**
   * What happens to system messages in the `history` of a client. `ignore` drops them, so that no client instructs your agents.
   * `append` passes them on. Default: `ignore`.
   */
  readonly clientSystem?: 'ignore' | 'append'
  /**
   * Which runs are stored. `all`: every run of HTTP, sockets and plugins that can be, so that each can be attached, listed and
   * looked up; lists also have each turn of an A2A task, once the turn has ended. `asked`: a run whose client asks for that.
   * `none`: no run, so that none leaves data behind. Default: `all` with a `state` that is not on Workers; else `asked`.
   */
  readonly store?: StoredRuns
  /** Whether everyone may list the runs without an owner at `GET /runs`. If false, a list needs an identity. Default: false. */
  readonly listAnonymous?: boolean
  /**
   * Stores the input of every stored run with its record, so that `POST /runs/:id/retry` runs it again and `GET
   * /runs/:id?include=input` shows it. It is what guards have left of the input. Default: where `store` is `all` by default, the
   * inputs of runs with an identity; else none.
   */
  readonly keepInput?: boolean
  /**
   * Adds measurements to the record of every stored run: how it was requested and, at its end, its duration, its first text, its
   * tokens, their cost, its tool calls and its model. Default: true where `store` is `all` by default; else false.
   */
  readonly measure?: boolean
  /**
   * Milliseconds for which an ended run and its idempotency key are kept, or a function of its kind, name and owner. The function
   * is called when the run ends. If it throws, or returns no number of 0 or more, an error is logged and the default applies.
   * Default: 86,400,000, a day.
   */
  readonly retentionMs?: RetentionMs
  /**
   * Milliseconds after the end of a run at which its pieces are joined, so that its text is stored once. The numbers of its events stay.
   * Workers do not join them: there it costs more than it saves. Default: 600,000, ten minutes.
   */
  readonly piecesMs?: number
  /**
   * Keeps the journal of a run, which has each answer of its model and each result of its tools, as long as its record. If false, it is
   * deleted when the run ends. Default: false.
   */
  readonly keepJournal?: boolean
  /**
   * Stores what each model was sent and what it replied with the `model_call` events of stored runs: `prompt` and `reply`, at most 65,536
   * characters of JSON each. For development: in production it is `invalid_options`. Default: false.
   */
  readonly keepModelCalls?: boolean
  /**
   * Milliseconds for which a run that waits for answers is kept, if that is longer than `retentionMs`. Default: 604,800,000, a
   * week.
   */
  readonly waitingMs?: number
  /**
   * Most sessions of one owner. Above it the least recently used session is deleted. An owner is an identity, a claimed `userId`,
   * or all clients with neither. On Workers sessions are not counted, since each is in an object of its own. Default: 1,000.
   */
  readonly maxSessions?: number
  /** Most messages of a session that a model gets. Above it the oldest turns are left out. Default: 200. */
  readonly maxSessionMessages?: number
  /** Most characters of a session that a model gets, as JSON. Above it the oldest turns are left out. Default: 65,536. */
  readonly maxSessionLength?: number
  /**
   * Milliseconds for which a session is kept after its last run, or a function as for `retentionMs`. The function is called each
   * time the session is written. Default: 604,800,000, a week.
   */
  readonly sessionRetentionMs?: RetentionMs
  /** Most bytes of a stored run's events. A run with more fails with `run_too_large`. Default: 16,777,216. */
  readonly maxBytes?: number
  /** Most clients that follow one run at a time. One more is answered 429. Default: 100. */
  readonly maxFollowers?: number
  /** Most stored runs that run at a time. One more is answered 429. Default: 1,000. */
  readonly maxRunning?: number
  /**
   * Most stored runs of one client that run at a time. A client is an identity, else an address (for IPv6 its network of 64
   * bits), else all clients with neither. Default: 100.
   */
  readonly maxRunningPerOwner?: number
  /** Most plain runs of one client that wait for answers. One more fails with `too_many_runs`. Default: 100. */
  readonly maxWaitingPerOwner?: number
}

/** Which runs are stored. */
export type StoredRuns = 'all' | 'asked' | 'none'

type Numbers = 'retentionMs' | 'sessionRetentionMs'

/** How runs are limited and stored. The numbers are the defaults for functions such as `retentionMs`. */
export interface ResolvedRunsOptions
  extends Required<Omit<RunsOptions, 'keepInput' | Numbers>>,
    Readonly<Record<Numbers, number>> {
  readonly keepInput: KeptInputs
  readonly retentionOf?: RetentionOf
  readonly sessionRetentionOf?: RetentionOf
}

const retention = v.union([count, func], 'must be a number of milliseconds or a function')

/** The members of {@link RunsOptions}. */
export const RunsSchema: v.GenericSchema = v.strictObject({
  timeoutMs: v.optional(duration),
  maxEvents: v.optional(count),
  maxLength: v.optional(count),
  disconnect: v.optional(
    v.union(
      [v.picklist(['cancel', 'continue']), v.strictObject({ graceMs: duration })],
      "must be 'cancel', 'continue' or { graceMs }",
    ),
  ),
  clientSystem: v.optional(v.picklist(['ignore', 'append'], "must be 'ignore' or 'append'")),
  store: v.optional(v.picklist(['all', 'asked', 'none'], "must be 'all', 'asked' or 'none'")),
  listAnonymous: v.optional(flag),
  keepInput: v.optional(flag),
  measure: v.optional(flag),
  retentionMs: v.optional(retention),
  piecesMs: v.optional(count),
  keepJournal: v.optional(flag),
  keepModelCalls: v.optional(flag),
  waitingMs: v.optional(count),
  maxSessions: v.optional(count),
  maxSessionMessages: v.optional(count),
  maxSessionLength: v.optional(count),
  sessionRetentionMs: v.optional(retention),
  maxBytes: v.optional(count),
  maxFollowers: v.optional(count),
  maxRunning: v.optional(count),
  maxRunningPerOwner: v.optional(count),
  maxWaitingPerOwner: v.optional(count),
})

const RUN_DEFAULTS: ResolvedRunsOptions = {
  store: 'asked',
  timeoutMs: 600_000,
  maxEvents: 1_000_000,
  maxLength: 32 * 1024 * 1024,
  disconnect: 'cancel',
  clientSystem: 'ignore',
  listAnonymous: false,
  keepInput: false,
  measure: false,
  retentionMs: 24 * 60 * 60 * 1000,
  piecesMs: 10 * 60 * 1000,
  keepJournal: false,
  keepModelCalls: false,
  waitingMs: 7 * 24 * 60 * 60 * 1000,
  maxSessions: 1000,
  maxSessionMessages: 200,
  maxSessionLength: 65_536,
  sessionRetentionMs: 7 * 24 * 60 * 60 * 1000,
  maxBytes: 16 * 1024 * 1024,
  maxFollowers: 100,
  maxRunning: 1000,
  maxRunningPerOwner: 100,
  maxWaitingPerOwner: 100,
}

/** What else is the default for a state that keeps every run. */
const DURABLE: Pick<ResolvedRunsOptions, 'store' | 'measure' | 'keepInput'> = {
  store: 'all',
  measure: true,
  keepInput: 'identified',
}

/**
 * Fills in the defaults. With `isDurable`, every run is stored unless the options say otherwise. Errors that a function of `runs`
 * throws go to `log`.
 */
export function runSettingsOf(
  { retentionMs, sessionRetentionMs, ...rest }: RunsOptions = {},
  log: Log,
  isDurable: boolean,
): ResolvedRunsOptions {
  const by = (name: Numbers, given: RetentionOf) =>
    retentionBy(given, RUN_DEFAULTS[name], error =>
      logThrown(log, { event: 'retention.failed', option: `runs.${name}` }, error),
    )
  return {
    ...withDefaults<ResolvedRunsOptions>(
      isDurable && rest.store === undefined ? { ...RUN_DEFAULTS, ...DURABLE } : RUN_DEFAULTS,
      rest,
    ),
    ...(typeof retentionMs === 'number' && { retentionMs }),
    ...(typeof retentionMs === 'function' && { retentionOf: by('retentionMs', retentionMs) }),
    ...(typeof sessionRetentionMs === 'number' && { sessionRetentionMs }),
    ...(typeof sessionRetentionMs === 'function' && {
      sessionRetentionOf: by('sessionRetentionMs', sessionRetentionMs),
    }),
  }
}

/** Throws `invalid_options` for an option of development in production. */
export function checkProduction({ keepModelCalls }: RunsOptions = {}, production: boolean): void {
  if (!production || keepModelCalls !== true) return
  throw new ServableError(
    'invalid_options',
    '`runs.keepModelCalls` is for development: it stores whole prompts, with what users have said and what tools have told. Leave it out ' +
      'in production, or set `production: false` (`NODE_ENV=development`) on your own machine',
  )
}

/** Throws `invalid_options` for members that contradict each other. */
export function checkRuns({ store, disconnect = 'cancel' }: RunsOptions = {}): void {
  if (store !== 'none' || disconnect === 'cancel') return
  throw new ServableError(
    'invalid_options',
    "`runs.disconnect` must be 'cancel' where `runs.store` is 'none'",
  )
}
