/**
 * The duration, usage and other numbers of a run. They are in its record if the service measures runs.
 *
 * @module
 */

import type { Servable, Usage } from '../agents/contract.ts'
import type { Fold } from '../agents/fold.ts'
import { nameOf, partsOf } from '../agents/usage.ts'

/** The numbers of an ended run. Unknown numbers are absent. */
export interface RunNumbers {
  /** Milliseconds from the start of the run to its end. */
  readonly durationMs?: number | undefined
  /** Milliseconds from the start of the run to its first text, as a whole number. */
  readonly firstTextMs?: number | undefined
  /** Tokens, from the last event. */
  readonly usage?: Usage | undefined
  /** USD, as in the metrics. */
  readonly cost?: number | undefined
  /** The number of tool calls. */
  readonly toolCalls?: number | undefined
  /** `provider/id`: the model of the servable, or else of its first model call. */
  readonly model?: string | undefined
}

/** Returns the cost of a usage in USD; undefined if it is unknown. `model` is the servable's. */
export type CostOf = (usage: Usage, model: Servable['model']) => number | undefined

/** Returns the numbers of a run from its folded events. */
export function numbersOf(
  { usage, firstTextMs, calls, firstModel }: Fold,
  durationMs: number,
  own: Servable['model'],
  costOf: CostOf = ({ cost }) => cost,
): RunNumbers {
  const cost = usage && costOf(usage, own)
  const model = nameOf(own) ?? firstModel ?? (usage && partsOf(usage)[0]?.model)
  return {
    durationMs,
    ...(firstTextMs !== undefined && { firstTextMs }),
    ...(usage && { usage }),
    ...(cost !== undefined && { cost }),
    toolCalls: calls,
    ...(model !== undefined && { model }),
  }
}
