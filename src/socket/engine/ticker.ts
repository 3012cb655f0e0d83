import type { EngineHooks, EngineSettings } from './options.ts'
import type { Session } from './session.ts'

/** Milliseconds between two ticks at the most: a poll in the middle of an upgrade waits no longer. */
const SLOWEST = 100
const FASTEST = 5

/** Makes time pass for all sessions of an engine. */
export interface Ticker {
  readonly tick: (ahead?: number) => void
  /** Starts the timer if it does not run; it stops by itself when nobody needs it. */
  readonly start: () => void
  readonly stop: () => void
}

/** One timer for all sessions, never one for each. */
export function createTicker(
  settings: EngineSettings,
  sessions: Map<string, Session>,
  hooks: EngineHooks,
): Ticker {
  const { pingInterval, pingTimeout, now: clock, ticks } = settings
  const period = Math.min(SLOWEST, Math.max(FASTEST, Math.min(pingInterval, pingTimeout) / 50))
  let timer: ReturnType<typeof setInterval> | undefined

  const stop = () => {
    if (timer !== undefined) clearInterval(timer)
    timer = undefined
  }
  const tick = (ahead?: number) => {
    const now = clock()
    for (const session of sessions.values()) {
      session.tick(now, ahead)
      // A session that waited for its last poll in vain.
      if (session.isClosed) sessions.delete(session.id)
    }
    const neededUntil = hooks.tick?.(now) ?? 0
    if (sessions.size === 0 && neededUntil <= now) stop()
  }
  return {
    tick,
    stop,
    start() {
      if (ticks === 'timer') timer ??= setInterval(() => tick(), period)
    },
  }
}
