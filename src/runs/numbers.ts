/**
 * The numbers of a run: what it took and what it used. They stand in its record if the service measures runs.
 *
 * @module
 */

import type { Servable, Usage } from '../agents/contract.ts'
import type { Fold } from '../agents/fold.ts'
import { nameOf, partsOf } from '../agents/usage.ts'

/** The numbers of a run that has ended. A number that nobody knows is absent. */
export interface RunNumbers {
  /** Milliseconds from the start of the run to its end. */
  readonly durationMs?: number | undefined
  /** Milliseconds from the start of the run to its first text, as a whole number. */
  readonly firstTextMs?: number | undefined
  /** Tokens, as the last event told them. */
  readonly usage?: Usage | undefined
  /** USD, as metrics count it. */
  readonly cost?: number | undefined
  /** The number of tool calls. */
  readonly toolCalls?: number | undefined
  /** `provider/id`: the model of what was called, or else of its first model call. */
  readonly model?: string | undefined
}

/** The cost of a usage in USD; undefined if nobody knows it. `model` is the model of what was called. */
export type CostOf = (usage: Usage, model: Servable['model']) => number | undefined

/** Returns the numbers of a run from all that it has told. */
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
