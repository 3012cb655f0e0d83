import type { Turn } from '../../agents/turn.ts'
import type { FileStorage } from '../files.ts'
import type { SessionConcurrency, SessionSettings } from './session-record.ts'
import type { SettingsFor } from './session-retention.ts'

/** How the turns of sessions are kept, and what a run does whose session another run has. */
export interface SessionsOptions {
  /**
   * What a run does while another run of its session is at work. `queue` lets it wait, with at most 7 others. `reject` fails it with
   * `session_busy`. `interrupt` cancels the other ones. Default: `queue`.
   */
  readonly concurrency?: SessionConcurrency
  /**
   * Sums up turns that a model is told no more, oldest first. Its text is kept with the session and told in their place. It is called
   * once for each turn, before the run that no longer fits them. If it throws, the log is told, and the turns are left out.
   * Default: such turns are not told.
   */
  readonly compact?: (turns: readonly Turn[], context: CompactContext) => string | Promise<string>
  /** Most turns of a session. Past it the oldest are deleted. Default: 1,000. */
  readonly maxTurns?: number
  /** Most characters of the turns of a session, as JSON. Past it the oldest are deleted. Default: 1,048,576. */
  readonly maxLength?: number
}

/** What `compact` gets beside the turns. */
export interface CompactContext {
  /** What it returned before: sum that up as well. */
  readonly summary?: string | undefined
  readonly sessionId: string
  /** The identity in its escaped form; with a slash before it a claimed `userId`; null without either. */
  readonly owner: string | null
  /** Fires when the run that waits for it ends. */
  readonly signal: AbortSignal
}

/** What keeping sessions needs beside the state. */
export interface SessionParts {
  readonly settings: SessionSettings
  readonly settingsFor: SettingsFor
  readonly compact: SessionsOptions['compact']
  /** Keeps the isolate alive. */
  readonly hold: ((work: Promise<unknown>) => void) | undefined
  readonly onError: (thrown: unknown) => void
  /** Stores the files of inputs apart; undefined where turns name them. */
  readonly files?: FileStorage | undefined
}
