/**
 * Asks plugins, such as `budgets`, before a run starts.
 *
 * @module
 */

import type { RunInput } from '../agents/contract.ts'
import type { Soon } from '../stores/store.ts'
import type { PlainOptions } from './run-settings.ts'
import type { Target } from './target.ts'

/** A run that is about to start. */
export interface StartingRun {
  readonly id: string
  readonly target: Target
  readonly input: RunInput
  readonly options: Pick<PlainOptions, 'identity'>
  /** The client: its identity, else a digest of its address. */
  readonly client: string
  /** Whether it continues a run that has waited or was interrupted. */
  readonly continues?: boolean | undefined
}

/**
 * Throws if a run may not start. The returned function reverts the admission of a run that does not start. Called once per run.
 */
export type Admit = (run: StartingRun) => Promise<() => Promise<void>>

/** Starts a run after its admission. `isStarted` returns whether it began now: an older run was admitted before. */
export async function admitted<T>(
  admit: Admit | undefined,
  run: StartingRun,
  start: () => Soon<T>,
  isStarted: (begun: T) => boolean = () => true,
): Promise<T> {
  const takeBack = await admit?.(run)
  let hasStarted = false
  try {
    const begun = await start()
    hasStarted = isStarted(begun)
    return begun
  } finally {
    if (!hasStarted) await takeBack?.()
  }
}
