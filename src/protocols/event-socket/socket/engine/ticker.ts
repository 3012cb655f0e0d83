import type { EngineHooks, EngineSettings } from './options.ts'
import type { Session } from './session.ts'

/** Bounds of the milliseconds between two ticks. The upper one also limits how long a poll waits during an upgrade. */
const SLOWEST = 100
const FASTEST = 5

/** Advances the time of all sessions of an engine. */
export interface Ticker {
  readonly tick: (ahead?: number) => void
  /** Starts the timer if it is not running. It stops by itself when it is not needed. */
  readonly start: () => void
  readonly stop: () => void
}

/** Makes the ticker. All sessions share one timer. */
export function createTicker(
  settings: EngineSettings,
  sessions: ReadonlyMap<string, Session>,
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
    for (const session of sessions.values()) session.tick(now, ahead)
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
