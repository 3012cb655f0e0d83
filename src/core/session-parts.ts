/**
 * The parts of a handler that its sessions need. A state brings this, as the rest of what is done with stored runs.
 *
 * @module
 */

import { logThrown } from '../http/failure-log.ts'
import type { Log } from '../http/log.ts'
import {
  type SessionParts,
  type SessionsOptions,
  type SettingsFor,
  settingsBy,
} from '../runs/sessions/session-options.ts'
import type { SessionSettings } from '../runs/sessions/session-record.ts'
import type { ResolvedRunsOptions } from './run-options.ts'

/** The options of a handler about its sessions. */
export interface SessionLimits {
  readonly runs: ResolvedRunsOptions
  readonly sessions: ResolvedSessionsOptions
}

/** With their defaults. */
export type ResolvedSessionsOptions = Required<Omit<SessionsOptions, 'compact'>> &
  Pick<SessionsOptions, 'compact'>

/** The parts, without what keeps an isolate alive. */
export function sessionPartsOf(
  settings: SessionLimits & { readonly log: Log },
): Omit<SessionParts, 'files' | 'hold'> {
  const { sessions, log } = settings
  return {
    settings: sessionSettingsOf(settings),
    settingsFor: sessionSettingsFor(settings),
    compact: sessions.compact,
    onError: thrown => logThrown(log, { event: 'session.failed' }, thrown),
  }
}

/** The limits of one session. */
export function sessionSettingsFor(settings: SessionLimits): SettingsFor {
  return settingsBy(sessionSettingsOf(settings), settings.runs.sessionRetentionOf)
}

/** The limits of sessions. The other options stay in this process, since not all of them can be cloned. */
function sessionSettingsOf({ runs, sessions }: SessionLimits): SessionSettings {
  const { maxSessions, maxSessionMessages, maxSessionLength, sessionRetentionMs } = runs
  const { compact, ...bounds } = sessions
  return {
    ...{ maxSessions, maxSessionMessages, maxSessionLength, sessionRetentionMs },
    ...bounds,
    compacts: compact !== undefined,
  }
}
