/** Who measures runs: told of each run that begins, wherever it came from. */

import type { ErrorEvent, FinishEvent, RunEvent } from '../agents/contract.ts'
import type { Target } from './target.ts'

/** Told of every run. None of its methods may throw. */
export interface Meter {
  start(target: Target, runId: string): RunMeter
}

/** Told of one run. */
export interface RunMeter {
  /** Each event but the last. */
  event(event: RunEvent): void
  /** The last one, once. */
  end(event: FinishEvent | ErrorEvent, durationMs: number): void
}
