import type { EngineHooks, EngineSettings } from './options.ts'
import type { EngineSession } from './session.ts'

/** Most milliseconds between two ticks. They also limit how long a poll waits during an upgrade. */
const SLOWEST = 100
/** Least milliseconds between two ticks. */
const FASTEST = 5

/** Advances the time of all sessions of an engine. */
export interface EngineTicker {
  readonly tick: (ahead?: number) => void
  /** Starts the timer if it is not running. It stops by itself when it is not needed. */
  readonly start: () => void
  readonly stop: () => void
}

/** Makes the ticker. All sessions share one timer. */
export function createTicker(
  settings: EngineSettings,
  sessions: ReadonlyMap<string, EngineSession>,
  hooks: EngineHooks,
): EngineTicker {
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
