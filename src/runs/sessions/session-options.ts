import type { SessionKey } from '../../agents/memory.ts'
import type { Kind } from '../../agents/run-types.ts'
import type { Turn } from '../../agents/turn.ts'
import type { FileStorage } from '../files.ts'
import type { RetentionOf } from '../stored/retention-of.ts'
import type { SessionConcurrency, SessionSettings } from './session-record.ts'

/** How the turns of sessions are stored, and what a run does while another run has its session. */
export interface SessionsOptions {
  /**
   * What a run does while another run of its session is at work. With `queue` it waits, with at most 7 others. With `reject` it
   * fails with `session_busy`. With `interrupt` it cancels the others. With `steer` its message reaches the run at work after the calls of tools
   * at work and before the next call of the model, if the servable has `steering`; else it waits. Between `queue` and `steer` a request
   * may choose with `concurrency`. Default: `queue`.
   */
  readonly concurrency?: SessionConcurrency
  /**
   * Sums up turns that the model no longer gets, oldest first. Its text is stored with the session and sent in their place. It is
   * called once for each turn, before the run that no longer fits them. If it throws, the error is logged, and the turns are left
   * out. Default: such turns are left out.
   */
  readonly compact?: (turns: readonly Turn[], context: CompactContext) => string | Promise<string>
  /** The most turns of a session. Past it the oldest are deleted. Default: 1,000. */
  readonly maxTurns?: number
  /** The most characters of the turns of a session, as JSON. Past it the oldest are deleted. Default: 1,048,576. */
  readonly maxLength?: number
}

/** What `compact` gets beside the turns. */
export interface CompactContext {
  /** The text that it returned before, to be summed up as well. */
  readonly summary?: string | undefined
  readonly sessionId: string
  /** The identity in its escaped form; with a slash before it a claimed `userId`; null without either. */
  readonly owner: string | null
  /** Fires when the run that waits for it ends. */
  readonly signal: AbortSignal
}

/** The options of session storage beside the state. */
export interface SessionParts {
  readonly settings: SessionSettings
  readonly settingsFor: SettingsFor
  readonly compact: SessionsOptions['compact']
  /** Keeps the isolate alive until the work has ended. */
  readonly hold: ((work: Promise<unknown>) => void) | undefined
  readonly onError: (thrown: unknown) => void
  /** Stores the files of inputs apart; undefined if turns only name them. */
  readonly files?: FileStorage | undefined
}

/** Returns the settings of a session. */
export type SettingsFor = (key: SessionKey) => SessionSettings

/** The settings, with the deployment's retention of the session. */
export function settingsBy(settings: SessionSettings, retentionOf: RetentionOf | undefined): SettingsFor {
  if (retentionOf === undefined) return () => settings
  return ({ owner, place }) => {
    const [kind = '', ...name] = place.at(-1)?.split(':') ?? []
    // A claimed user is not an identity.
    const identity = owner === null || owner.startsWith('/') ? null : decodeURIComponent(owner)
    const what = { kind: kind as Kind, name: name.join(':'), owner: identity }
    return { ...settings, sessionRetentionMs: retentionOf(what) }
  }
}
