/**
 * Who must agree before a run starts, such as the plugin `budgets`.
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
  /** Who asks for it: its identity, else a digest of its address. */
  readonly client: string
}

/** Throws where a run may not start. What it gives takes that back for a run that does not start. A run is admitted once. */
export type Admit = (run: StartingRun) => Promise<() => Promise<void>>

/** Starts a run that is admitted. `isStarted` says whether it began now: an older one was admitted before. */
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
